#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/rules/conditions.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {
namespace {

std::vector<Finding> check(const Facts& facts) {
  if (!is_overhead_bound(facts)) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = facts.window.length() - facts.busy_in_window;
  finding.summary = fmt::format("The CPU side worked {} for {} of GPU work, {} times as long; the GPU was busy {} of the time.",
                                format_duration(facts.cpu_active), format_duration(facts.gpu_sum), format_significant(*facts.cpu_to_gpu),
                                format_percent(*facts.gpu_util));
  finding.evidence = Evidence({{"gpu_util", *facts.gpu_util},
                               {"gpu_busy_us", as_us(facts.busy_in_window)},
                               {"window_us", as_us(facts.window.length())},
                               {"cpu_active_us", as_us(facts.cpu_active)},
                               {"sync_us", as_us(facts.sync_time)},
                               {"ratio", *facts.cpu_to_gpu}});
  finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

const Rule overhead_bound = {
    "overhead_bound", RuleClass::problem, Severity::costly, kNeedsLaunches,
    "The host cannot feed the GPU",
    "Launching costs more than computing: the CPU side needs several times the GPU time, so most of the time the GPU waits for the "
    "next launch.",
    "Give each launch more work (bigger batches or matrices), fuse calls, or take launches out of the way with CUDA graphs "
    "(mode=\"reduce-overhead\"). First make sure that the recording is not just start-up.",
    check};

}  // namespace gapscope
