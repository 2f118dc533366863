#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/host_wait.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_overhead_bound(const Facts& facts) {
  if (!is_overhead_bound(facts)) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = facts.window_length - facts.busy_in_window;
  finding.summary = busy_sentence(facts);
  if (const AccountTimes* times = account_times(facts); times != nullptr && times->host() > 0) {
    finding.summary += host_wait_sentence(facts, *times);
    finding.advice = host_wait_remedy(facts, *times);
  }
  finding.evidence = Evidence({{"gpu_util", *facts.gpu_util},
                               {"gpu_busy_us", as_us(facts.busy_in_window)},
                               {"window_us", as_us(facts.window_length)},
                               {"cpu_active_us", as_us(facts.cpu_active)},
                               {"sync_us", as_us(facts.sync_time)},
                               {"ratio", *facts.cpu_to_gpu}});
  finding.spans.push_back({LaneId{}, facts.window, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule overhead_bound = {
    .id = "overhead_bound",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "The host cannot feed the GPU",
    .meaning =
        "The host takes longer to prepare work than the GPU takes to do it, so the GPU waits for the next launch. The host's "
        "time is in the framework, in Python and in CUDA calls. The summary shows which is largest.",
    .remedy =
        "Give each launch more work, or make fewer of them: {larger_batch}, {compile}, {compile_rest}, {cuda_graph}, "
        "{larger_graphs}.",
    .check = check_overhead_bound,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses, .turn = 160},
    .wants_warm_up = true,
    .other_meaning =
        "The host takes longer to prepare work than the GPU takes to do it, so the GPU waits for the next launch. The host's "
        "time is in the program itself and in CUDA calls. The summary shows which is larger.",
    .other_remedy =
        "Give each launch more work (larger batches or matrices), fuse kernels, or replace launches with CUDA "
        "graphs{cuda_graph!}.",
    .evidence_names = {{{"ratio", kHostAgainstGpu}}},
    .code = kCompileModel,
    .gives = {Cure::graph},
};

}  // namespace gapscope
