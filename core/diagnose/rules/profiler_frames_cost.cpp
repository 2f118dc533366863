#include <algorithm>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the window.
constexpr double kLeastFramesShare = 0.05;
// The shortest frames do next to nothing by themselves: how long they last is what recording a frame costs. The first tenth
// leaves out clock noise.
constexpr std::size_t kShortest = 10;

std::vector<Finding> check_profiler_frames_cost(const Facts& facts) {
  std::vector<Ns> leaves;
  std::size_t frames = 0;
  for (const SliceId s : facts.slices_with(kIsPython)) {
    ++frames;
    if (facts.below(s) == kIsPython && facts.trace.name(s).starts_with("<built-in")) leaves.push_back(facts.trace.duration(s));
  }
  if (leaves.size() < 10 * kShortest || facts.window.empty()) return {};
  const auto at = leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / kShortest);
  std::nth_element(leaves.begin(), at, leaves.end());
  const Ns each = *at, all = each * static_cast<Ns>(frames);
  const double share = share_of(all, facts.window_length);
  if (share < kLeastFramesShare) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format(
      "{} are recorded. The shortest calls of built-in functions last {}, so recording the frames took about {}, {} of the "
      "window.",
      counted(frames, "Python frame"), format_duration(each), format_duration(all), format_share(share));
  finding.evidence = Evidence({{"n", frames}, {"each_us", as_us(each)}, {"total_us", as_us(all)}, {"share", share}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule profiler_frames_cost = {
    .id = "profiler_frames_cost",
    .rule_class = RuleClass::profiler_artefact,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "Recording Python frames slowed the host",
    .meaning =
        "With with_stack=True the profiler runs at the start and the end of every Python function. The host's times, and the "
        "GPU's gaps that they cause, are longer than without it.",
    .remedy = "Use a recording without with_stack for times, and this one to find the code.",
    .check = check_profiler_frames_cost,
    .evidence_names = {{{"each_us", "a frame"}}},
};

}  // namespace gapscope
