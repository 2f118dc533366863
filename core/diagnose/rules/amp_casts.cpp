#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time.
constexpr double kLeastCastShare = 0.05;

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// "["c10::BFloat16","float",""]" of aten::copy_(to, from): one in 32 bits and one in 16.
bool are_cast_types(std::string_view types) {
  const bool half = holds(types, "BFloat16") || holds(types, "Half");
  return half && holds(types, "\"float\"");
}

// A copy that changes the type: as its operator's inputs tell, else its kernel's name.
bool is_cast(const Facts& facts, std::size_t i) {
  const GpuOp& op = facts.ops[i];
  const SliceId owner = facts.gpu[i].owner;
  if (!op.linked() || op.gpu_class != GpuClass::compute || !owner || facts.trace.name(owner) != "aten::copy_") return false;
  const SliceId outer = facts.ancestor(owner, kIsAten);
  if (!outer || facts.trace.name(outer) != "aten::_to_copy") return false;
  if (const OpRow* args = facts.trace.op_row(owner); args != nullptr && args->input_types.valid())
    return are_cast_types(facts.trace.strings[args->input_types]);
  return holds(facts.name(op), "float16_copy_kernel");
}

std::vector<Finding> check_amp_casts(const Facts& facts) {
  std::vector<GpuOp> casts;
  for (std::size_t i = 0; i < facts.ops.size(); ++i)
    if (is_cast(facts, i)) casts.push_back(facts.ops[i]);
  const Ns time = total_time(casts);
  const double share = share_of(time, facts.gpu_sum);
  if (casts.empty() || share < kLeastCastShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format("{} between 32 and 16 bits {} {} of the GPU time ({}).", counted(casts.size(), "cast"),
                                casts.size() == 1 ? "takes" : "take", format_share(share), format_duration(time));
  finding.evidence = Evidence({{"n", casts.size()}, {"share", share}, {"total_us", as_us(time)}});
  mark_slices(finding, facts.trace, slices_of(casts));
  return {std::move(finding)};
}

}  // namespace

extern const Rule amp_casts = {
    .id = "amp_casts",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "Casts between 32 and 16 bits take GPU time",
    .meaning =
        "Under mixed precision each weight and activation is cast where an operator wants the other type: a kernel each, bound "
        "by memory.",
    .remedy =
        "Cast less: {weights in 16 bits (model.bfloat16(), FSDP's MixedPrecision)}, {torch.compile, which fuses casts into "
        "their neighbours}, {compile the rest of the step}, {one autocast region around the whole forward pass, which casts "
        "each weight once}.",
    .check = check_amp_casts,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 285},
    .gives = {Cure::work, true},
};

}  // namespace gapscope
