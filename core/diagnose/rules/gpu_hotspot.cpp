#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// More than a third: whatever is done elsewhere changes little.
constexpr double kLeastHotspotShare = 0.35;
// Clearly ahead of the next one; two equal rows are no hotspot.
constexpr double kLeastLead = 1.25;
// Below this the GPU is hardly used and its largest row does not matter.
constexpr double kLeastGpuUse = 0.10;

// The operator that launched, or captured, most of the work of one name; none when the file does not show it.
LaunchingOp main_operator(const Facts& facts, StringId name) {
  for (const KernelRow& row : facts.session.kernels().rows)
    if (row.name == name)
      for (const LaunchingOp& op : row.operators)
        if (!op.name.empty()) return op;
  return {};
}

std::vector<Finding> check_gpu_hotspot(const Facts& facts) {
  // Communication waits for other GPUs: its time is no work to make faster.
  std::vector<NameTotal> names;
  std::copy_if(facts.by_name.begin(), facts.by_name.end(), std::back_inserter(names),
               [&](const NameTotal& n) { return facts.decoded(n.name).kind != KernelKind::collective; });
  if (facts.compiling() || names.size() < 2 || facts.gpu_sum == 0 || facts.gpu_util.value_or(0) < kLeastGpuUse) return {};
  const NameTotal& first = names[0];
  const double share = share_of(first.total, facts.gpu_sum);
  const double second = share_of(names[1].total, facts.gpu_sum);
  // Times, not shares: the product of two rounded fractions may come out above what it equals.
  const bool leads = static_cast<double>(first.total) >= kLeastLead * static_cast<double>(names[1].total);
  if (share < kLeastHotspotShare || !leads) return {};

  const std::string_view name = facts.trace.strings[first.name];
  std::vector<SliceId> slices;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && facts.trace.name_id(op.slice) == first.name) slices.push_back(op.slice);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = first.total;
  finding.summary =
      fmt::format("{} took {} of the GPU time: {} in {}, the longest {}.", shown_kernel(name), format_share(share),
                  format_duration(first.total), counted(first.count, "call"), format_duration(first.longest));
  const LaunchingOp op = main_operator(facts, first.name);
  if (!op.name.empty())
    finding.summary +=
        fmt::format(" It was {} by {}.", op.joined ? "replayed by a graph and captured" : "launched", shown_name(op.name));
  finding.evidence = Evidence({{"second_share", second},
                               {"kernel", name},
                               {"share", share},
                               {"total_us", as_us(first.total)},
                               {"calls", first.count},
                               {"distinct", names.size()}});
  if (op.joined) finding.evidence.add("captured_by", op.name);
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gpu_hotspot = {
    .id = "gpu_hotspot",
    .rule_class = RuleClass::problem_locator,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "One kernel or copy takes the most GPU time",
    .meaning = "No other kernel or copy takes as much GPU time. If the GPU limits the speed, look at it first.",
    .remedy = "Check which operator launches it, and with which shapes, data type and algorithm.",
    .check = check_gpu_hotspot,
    .claim = Claim{.time = ClaimedTime::work, .turn = 370},
    .other_remedy = "Check where it is launched, and with which sizes, data type and algorithm.",
    .gives = {Cure::roofline},
};

}  // namespace gapscope
