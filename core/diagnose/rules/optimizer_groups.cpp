#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/fused_optimizer.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastGroups = 8;  // one for each type and device is usual
constexpr double kLeastOfGroups = 0.05;  // of the window, or of the GPU time

// The operators over lists in each step of an optimizer, by name and in time order.
using Lists = std::map<StringId, std::vector<SliceId>>;

std::vector<Finding> check_optimizer_groups(const Facts& facts) {
  std::vector<SliceId> lists = cpu_slices_called(facts, "aten::_foreach_", kIsOp);
  for (const SliceId s : cpu_slices_called(facts, "aten::_fused_", kIsOp)) lists.push_back(s);
  std::sort(lists.begin(), lists.end(), [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); });
  std::vector<FindingSpan> places;
  std::size_t groups = 0, steps = 0;
  for (const SliceId step : cpu_slices_called(facts, kOptimizerStep, kIsAnnotation)) {
    const Span span = facts.trace.span_of(step);
    Lists by_name;
    for (auto at = std::lower_bound(lists.begin(), lists.end(), span.begin,
                                    [&](SliceId s, Ns t) { return facts.trace.begin(s) < t; });
         at != lists.end() && facts.trace.begin(*at) < span.end; ++at)
      if (facts.trace.lane_id(*at) == facts.trace.lane_id(step)) by_name[facts.trace.name_id(*at)].push_back(*at);
    if (by_name.empty()) continue;
    // Each group calls each of its operators once at least.
    const auto fewest = std::min_element(by_name.begin(), by_name.end(),
                                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (fewest->second.size() < kLeastGroups) continue;
    groups = std::max(groups, fewest->second.size());
    ++steps;
    places.push_back({facts.trace.lane_id(step), {facts.trace.begin(fewest->second[1]), span.end}, SliceId{}});
  }
  if (places.empty()) return {};
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastOfGroups) return {};
  finding.cost = time.host;
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "The optimizer updates the parameters in {} groups, one after another, in {}. After the first group this takes {} on "
      "the host.",
      groups, counted(steps, "step"), format_duration(time.host));
  finding.evidence = Evidence({{"n", groups}, {"steps", steps}, {"total_us", as_us(time.host)}, {"share", time.share}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule optimizer_groups = {
    .id = "optimizer_groups",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "The optimizer has many parameter groups",
    .meaning =
        "torch.optim updates all parameters of one group in a few launches. With a group for each parameter it launches as "
        "often as there are parameters.",
    .remedy =
        "Put parameters with the same learning rate and the same weight decay into one group of the optimizer. Two groups are "
        "enough where only weight decay differs.",
    .check = check_optimizer_groups,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 29, .explains = {"overhead_bound", "many_small_kernels", "host_gaps"}},
    .evidence_names = {{{"n", "groups"}}},
    .code = "groups = [dict(params=decay, weight_decay=0.01), dict(params=no_decay, weight_decay=0.0)]",
    .gives = {Cure::host},
};

}  // namespace gapscope
