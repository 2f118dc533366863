#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/code_place.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Below this the backward pass of indexing and powers shows such copies in any training run.
constexpr double kLeastHiddenCopyShare = 0.015;

// The innermost aten operator around the launch that is no copy itself, or none.
SliceId hiding_operator(const Facts& facts, SliceId launch) {
  for (SliceId op = facts.ancestor(launch, kIsAten); op; op = facts.ancestor(op, kIsAten))
    if ((facts.own(op) & kIsCopyOp) == 0) return op;
  return {};
}

struct Copies {
  std::size_t all = 0, on_device = 0;
  std::vector<SliceId> hidden;
  std::map<StringId, std::size_t> operators;
  Ns total = 0;
  std::uint64_t bytes = 0;
};

Copies hidden_copies(const Facts& facts) {
  Copies out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::copy) continue;
    ++out.all;
    if (!is_copy_on_device(facts.name(op))) continue;
    ++out.on_device;
    const SliceId by = hiding_operator(facts, op.launch);
    if (!by) continue;
    out.hidden.push_back(op.slice);
    ++out.operators[facts.trace.name_id(by)];
    add_saturating(out.total, op.span.length());
    out.bytes += facts.row(op).bytes;
  }
  return out;
}

bool is_backward_of_parts(std::string_view op) { return op == "aten::select_backward" || op == "aten::slice_backward"; }

// Whether all parts that a frame takes are taken by PyTorch's own modules, as attention does with its projections: there is
// nothing to change in the program. False without frames.
bool are_torch_parts(const Facts& facts) {
  std::size_t with_frame = 0;
  for (const std::string_view name : {std::string_view("aten::select"), std::string_view("aten::slice")})
    for (const SliceId s : cpu_slices_called(facts, name, kIsOp)) {
      const SliceId frame = facts.ancestor(s, kIsPython);
      if (!frame) continue;
      ++with_frame;
      if (is_own_frame(facts.trace.name(frame))) return false;
    }
  return with_frame > 0;
}

std::vector<Finding> check_hidden_memcpy(const Facts& facts) {
  Copies copies = hidden_copies(facts);
  if (copies.hidden.empty() || facts.gpu_sum == 0) return {};
  const double share = static_cast<double>(copies.total) / static_cast<double>(facts.gpu_sum);
  if (share < kLeastHiddenCopyShare) return {};
  EvidenceMap operators;
  for (const auto& [name, count] : copies.operators) operators.emplace_back(std::string(facts.trace.strings[name]), count);
  const auto most = std::max_element(copies.operators.begin(), copies.operators.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = copies.total;
  finding.summary = fmt::format("{} on the device {} issued inside {}{}: {}{}, {} of the GPU time.",
                                counted(copies.hidden.size(), "copy"), copies.hidden.size() == 1 ? "was" : "were",
                                shown_name(facts.trace.strings[most->first]), copies.operators.size() > 1 ? " and others" : "",
                                copies.bytes == 0 ? "" : format_bytes(copies.bytes) + " in ", format_duration(copies.total),
                                format_share(share));
  if (is_backward_of_parts(facts.trace.strings[most->first]) && !are_torch_parts(facts))
    finding.advice = advice_of(
        "Take the parts of a tensor with unbind(), chunk() or split(), whose backward pass writes all parts at once. The "
        "backward pass of an index makes a tensor of zeros for each part, copies into it, and adds these up.");
  finding.evidence = Evidence({{"share", share},
                               {"n", copies.hidden.size()},
                               {"dtod", copies.on_device},
                               {"ops", std::move(operators)},
                               {"total_us", as_us(copies.total)},
                               {"bytes", copies.bytes},
                               {"memcpys", copies.all}});
  mark_slices(finding, facts.trace, copies.hidden);
  return {std::move(finding)};
}

}  // namespace

extern const Rule hidden_memcpy = {
    .id = "hidden_memcpy",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Implicit copy",
    .meaning =
        "An operator other than a copy copies on the device: to start a result from a bias, to change a layout, to sort, or in "
        "the backward pass of an index.",
    .remedy =
        "Find the operator and avoid the copy: use a one-dimensional bias, contiguous inputs, another layout or an in-place "
        "variant.",
    .check = check_hidden_memcpy,
    .claim = Claim{.time = ClaimedTime::copies, .turn = 220},
    .gives = {Cure::work, true},
};

}  // namespace gapscope
