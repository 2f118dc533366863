#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Gradients of several backward passes are added before the optimizer takes a step, while the GPU mostly waits.
constexpr double kMostBusyWithMicroBatches = 0.5;  // of the window

// When the backward passes of a thread begin: the first node behind launches of the thread that runs the forward pass.
std::vector<Ns> backward_passes(const Facts& facts, LaneId forward) {
  std::vector<Ns> launches;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && facts.trace.lane_id(op.launch) == forward) launches.push_back(op.launch_span.begin);
  std::sort(launches.begin(), launches.end());
  std::vector<SliceId> nodes;
  for (const SliceId s : cpu_slices_called(facts, "autograd::engine::evaluate_function", kIsOp))
    if (facts.trace.lane_id(s) != forward && (facts.above(s) & kIsOp) == 0) nodes.push_back(s);
  std::sort(nodes.begin(), nodes.end(), [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); });
  std::vector<Ns> out;
  Ns before = facts.window.begin;
  for (const SliceId node : nodes) {
    const auto launch = std::lower_bound(launches.begin(), launches.end(), before);
    if (launch != launches.end() && *launch < facts.trace.begin(node)) out.push_back(facts.trace.begin(node));
    before = facts.trace.end(node);
  }
  return out;
}

std::vector<Finding> check_small_micro_batches(const Facts& facts) {
  const std::vector<SliceId> updates = cpu_slices_called(facts, "Optimizer.step#", kIsAnnotation);
  if (updates.size() < 2 || !facts.gpu_util || *facts.gpu_util > kMostBusyWithMicroBatches) return {};
  const LaneId forward = facts.trace.lane_id(updates.front());
  const std::vector<Ns> passes = backward_passes(facts, forward);
  std::vector<FindingSpan> places;
  std::vector<Span> spared;
  std::size_t most = 0;
  Ns time = 0;
  for (std::size_t u = 1; u < updates.size(); ++u) {
    const Span between{facts.trace.end(updates[u - 1]), facts.trace.begin(updates[u])};
    const auto first = std::lower_bound(passes.begin(), passes.end(), between.begin);
    const auto end = std::lower_bound(first, passes.end(), between.end);
    const auto count = static_cast<std::size_t>(end - first);
    if (count < 2) continue;
    most = std::max(most, count);
    places.push_back({forward, between, SliceId{}});
    add_saturating(time, between.length());
    // One pass over all of it takes the host as long as one of them.
    spared.push_back({between.begin + between.length() / static_cast<Ns>(count), between.end});
  }
  if (places.empty() || 2 * places.size() < updates.size() - 1) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary =
      fmt::format("{} backward passes come before each optimizer step, and the GPU is busy only {} of the window.", most,
                  format_share(*facts.gpu_util));
  finding.evidence = Evidence({{"n", most}, {"steps", places.size()}, {"gpu_util", *facts.gpu_util}});
  mark_gaps(finding, std::move(places));
  finding.spared = span_set(std::move(spared));
  return {std::move(finding)};
}

}  // namespace

extern const Rule small_micro_batches = {
    .id = "small_micro_batches",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Micro-batches are too small for the GPU",
    .meaning =
        "Gradients are accumulated over several small batches. Each one launches all kernels of the model. The GPU finishes "
        "them before the host launches the next.",
    .remedy =
        "Make micro-batches larger and accumulate fewer of them, as far as memory allows. The same samples then need fewer "
        "launches.",
    .check = check_small_micro_batches,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses | cause_set({IdleCause::starting}), .turn = 72},
    .code = "batch_size, accumulation_steps = batch_size * accumulation_steps, 1",
    .gives = {Cure::host},
};

}  // namespace gapscope
