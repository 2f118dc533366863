#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/doubts.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A few at the end of a recording are cut off in passing; one in twenty is a loss.
constexpr double kLeastMissingShare = 0.05;

std::vector<Finding> check_launches_without_gpu_op(const Facts& facts) {
  if (!facts.has_launches) return {};
  const LostLaunches launches = lost_launches(facts.trace, facts.ops);
  const std::vector<SliceId>& missing = launches.lost;
  const std::size_t all = launches.launches;
  if (missing.empty() || static_cast<double>(missing.size()) < kLeastMissingShare * static_cast<double>(all)) return {};
  const auto earlier = [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); };
  const auto [first, last] = std::minmax_element(missing.begin(), missing.end(), earlier);
  const double share = static_cast<double>(missing.size()) / static_cast<double>(all);
  const Ns from = facts.trace.begin(*first) - facts.window.begin, until = facts.trace.begin(*last) - facts.window.begin;
  Finding finding;
  finding.severity = Severity::notable;
  finding.summary = fmt::format("{} of {}, {}, started no GPU work in this file.", shown_count(missing.size()),
                                counted(all, "launching call"), format_share(share));
  finding.evidence = Evidence(
      {{"n", missing.size()}, {"of", all}, {"share", share}, {"first_at_us", as_us(from)}, {"last_at_us", as_us(until)}});
  if (launches.only_at_end) {
    finding.meaning =
        "The file ends before the work of its last launches ends. It was cropped, or the profiler stopped early. The last "
        "step's GPU time is too small.";
    finding.advice = advice_of("Use the steps before it, or record until the GPU is done.");
  }
  mark_slices(finding, facts.trace, missing);
  return {std::move(finding)};
}

}  // namespace

extern const Rule launches_without_gpu_op = {
    .id = "launches_without_gpu_op",
    .rule_class = RuleClass::data_health,
    .severity = Severity::notable,
    .needs = kNeedsNothing,
    .title = "Launches whose kernels are missing",
    .meaning = "Records of kernels were lost or never collected. GPU times may be too small and gaps too long.",
    .remedy = "Warm up longer before recording, record fewer steps, and check that no other profiler uses the GPU.",
    .check = check_launches_without_gpu_op,
};

}  // namespace gapscope
