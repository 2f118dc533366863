#include <algorithm>

#include <fmt/format.h>

#include "core/base/span_sums.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// The TensorBoard plugin's own limit for its advice.
constexpr double kLeastLoaderShare = 0.05;

// Inside the steps; without steps, inside the window.
SpanSet time_of_steps(const Facts& facts) {
  if (facts.steps.empty()) return facts.window.empty() ? SpanSet{} : SpanSet{facts.window};
  std::vector<Span> spans;
  for (const SliceId s : facts.steps) spans.push_back(facts.trace.span_of(s));
  return span_set(std::move(spans));
}

// A loader that wraps another counts once.
std::vector<SliceId> loads_of(const Facts& facts) {
  std::vector<SliceId> loads = cpu_slices_called(facts, "enumerate(Data", kIsDataLoader);
  std::erase_if(loads, [&](SliceId s) { return (facts.above(s) & kIsDataLoader) != 0; });
  return loads;
}

std::vector<Finding> check_dataloader_wait(const Facts& facts) {
  std::vector<SliceId> loads = loads_of(facts);
  if (loads.empty()) return {};
  const SpanSet steps = time_of_steps(facts);
  const SpanSums in_steps(steps);
  Ns total = 0, longest = 0;
  for (const SliceId s : loads) {
    total += in_steps.within(facts.trace.span_of(s));
    longest = std::max(longest, facts.trace.duration(s));
  }
  const double share = share_of(total, length(steps));
  if (share < kLeastLoaderShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = total;
  finding.summary = fmt::format("Fetching the next batch took {} in {}, {} of the {}. The longest took {}.",
                                format_duration(total), counted(loads.size(), "call"), format_share(share),
                                facts.steps.empty() ? "recorded window" : "steps' time", format_duration(longest));
  finding.evidence = Evidence({{"n", loads.size()}, {"total_us", as_us(total)}, {"share", share}});
  if (std::all_of(loads.begin(), loads.end(), [&](SliceId s) { return is_fetch_without_workers(facts.trace.name(s)); })) {
    finding.meaning =
        "The DataLoader has no workers (num_workers=0). The program loads each batch itself and launches nothing meanwhile. "
        "The cost is the GPU's idle time meanwhile.";
    finding.advice = advice_of(kUseWorkers);
  }
  finding.where = place_inside(facts, kIsDataLoader, total);
  mark_slices(finding, facts.trace, loads);
  return {std::move(finding)};
}

}  // namespace

extern const Rule dataloader_wait = {
    .id = "dataloader_wait",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsNothing,
    .title = "The program waits for data",
    .meaning =
        "Fetching the next batch takes a large part of the steps. The cost is the GPU's idle time meanwhile. The trace does "
        "not show what the workers did.",
    .remedy =
        "Prepare the next batch ahead: {workers}, {more_workers}, {|a larger prefetch_factor}, "
        "{pinned_memory|pin_memory=True}.",
    .check = check_dataloader_wait,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = cause_set({IdleCause::data_loading}),
                   .inside = false,
                   .turn = 30,
                   .explains = {"low_gpu_utilization"}},
    .code = "{workers!}DataLoader(dataset, num_workers=8, pin_memory=True, persistent_workers=True)",
    .gives = {Cure::host, true},
};

}  // namespace gapscope
