#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// So few that fusing them saves next to nothing; above that many_small_kernels and overhead_bound report it.
constexpr double kMostOpsEachStep = 20;

std::vector<Finding> check_dispatch_heavy_few_kernels(const Facts& facts) {
  if (!is_overhead_bound(facts) || has_compiled_code(facts)) return {};
  const WorkPerStep work = work_per_step(facts);
  if (work.ops_each > kMostOpsEachStep) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = facts.window_length - facts.busy_in_window;
  finding.summary = fmt::format("{} starts only {}, but all threads together are busy {}x as long as the GPU.",
                                facts.steps.empty() ? "The recording" : "A step",
                                work.ops_each == 1 ? "1 GPU operation" : format_average(work.ops_each) + " GPU operations",
                                format_times(*facts.cpu_to_gpu));
  finding.evidence =
      Evidence({{"gpu_ops_per_step", work.ops_each}, {"ratio", *facts.cpu_to_gpu}, {"gpu_util", *facts.gpu_util}});
  finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule dispatch_heavy_few_kernels = {
    .id = "dispatch_heavy_few_kernels",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "High host cost for a handful of kernels",
    .meaning =
        "Python, operators and calls take the time, not the number of launches: each step starts only a few GPU operations.",
    .remedy =
        "Give each launch more work, or make fewer of them: {larger_batch}, {cuda_graph|torch.cuda.make_graphed_callables or "
        "mode=\"reduce-overhead\"}. For one to five kernels, torch.compile in its default mode often makes the host slower: "
        "guards and wrappers cost more than fused launches save{compile!}.",
    .check = check_dispatch_heavy_few_kernels,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses, .inside = false, .turn = 180},
    .other_meaning =
        "The program's own code, operators and calls take the time, not the number of launches: each step starts only a few "
        "GPU operations.",
    .other_remedy = "Give each step more work or replay it as a CUDA graph{cuda_graph!}.",
    .evidence_names = {{{"ratio", kHostAgainstGpu}}},
    .gives = {Cure::graph},
};

}  // namespace gapscope
