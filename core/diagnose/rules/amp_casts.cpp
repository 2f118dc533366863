#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/autocast.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time.
constexpr double kLeastCastShare = 0.05;

std::vector<Finding> check_amp_casts(const Facts& facts) {
  std::vector<GpuOp> casts;
  std::size_t joined = 0, by_autocast = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::compute) continue;
    const WorkOrigin origin = origin_of(facts, op);
    if (!is_cast_between_widths(facts, op, origin)) continue;
    casts.push_back(op);
    by_autocast += product_cast_for(facts, origin.by.op) ? 1 : 0;
    joined += origin.by.joined;
  }
  const Ns time = total_time(casts);
  const double share = share_of(time, facts.gpu_sum);
  if (casts.empty() || share < kLeastCastShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format("{} between 32 and 16 bits {} {} of the GPU time ({}).", counted(casts.size(), "cast"),
                                casts.size() == 1 ? "takes" : "take", format_share(share), format_duration(time));
  finding.evidence = Evidence({{"n", casts.size()}, {"share", share}, {"total_us", as_us(time)}});
  if (by_autocast == 0 && joined == 0) {
    finding.meaning =
        "The program itself casts tensors between 32 and 16 bits (.to(), .float(), .bfloat16()): no product casts its inputs "
        "as under autocast. Each cast is a kernel bound by memory.";
    finding.advice = advice_of(
        "Cast less: {|one type from one product to the next}, {compile|torch.compile, which fuses casts with adjacent "
        "kernels}, {compile_rest}.");
  }
  mark_joined(finding, joined, casts.size());
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
        "With mixed precision, each weight and activation is cast where an operator needs the other type. Each cast is a "
        "kernel bound by memory.",
    .remedy =
        "Cast less: {|16-bit weights (FSDP's MixedPrecision, or the whole model in 16 bits)}, {compile|torch.compile, which "
        "fuses casts with adjacent kernels}, {compile_rest}.",
    .check = check_amp_casts,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 285},
    .code = kCompileModel,
    .gives = {Cure::work, true},
};

}  // namespace gapscope
