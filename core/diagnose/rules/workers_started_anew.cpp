#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Between the fetch that ends an epoch and the first of the next: less is Python's own.
constexpr Ns kLeastRestart = 5 * kNsPerMs;
constexpr std::string_view kFetchOfWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// When the thread of a lane launched, in order.
std::vector<Ns> launches_on(const Facts& facts, LaneId lane) {
  std::vector<Ns> out;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && facts.trace.lane_id(op.launch) == lane) out.push_back(op.launch_span.begin);
  std::sort(out.begin(), out.end());
  return out;
}

// A fetch that ends an epoch finds nothing, and the next epoch's first comes with no launch between.
std::vector<Finding> check_workers_started_anew(const Facts& facts) {
  const std::vector<SliceId> fetches = cpu_slices_called(facts, kFetchOfWorkers, kIsDataLoader);
  if (fetches.size() < 2) return {};
  const LaneId lane = facts.trace.lane_id(fetches.front());
  const std::vector<Ns> launches = launches_on(facts, lane);
  std::vector<FindingSpan> places;
  Ns time = 0, longest = 0;
  for (std::size_t i = 1; i < fetches.size(); ++i) {
    const Span last = facts.trace.span_of(fetches[i - 1]), first = facts.trace.span_of(fetches[i]);
    const Span between{last.end, first.begin};
    if (facts.trace.lane_id(fetches[i]) != lane || between.length() < kLeastRestart) continue;
    const auto next = std::lower_bound(launches.begin(), launches.end(), between.begin);
    if (next != launches.end() && *next < between.end) continue;
    const Span restart{last.begin, first.end};
    places.push_back({lane, restart, SliceId{}});
    add_saturating(time, restart.length());
    longest = std::max(longest, restart.length());
  }
  const double share = share_of(time, facts.window.length());
  constexpr double kLeastRestartShare = 0.02;
  if (places.empty() || share < kLeastRestartShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "{} an epoch of the DataLoader ended and its workers were restarted: {} in total, {} of the window, the longest {}.",
      sentence_start(often(places.size())), format_duration(time), format_share(share), format_duration(longest));
  finding.evidence =
      Evidence({{"n", places.size()}, {"total_us", as_us(time)}, {"share", share}, {"longest_us", as_us(longest)}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule workers_started_anew = {
    .id = "workers_started_anew",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "DataLoader workers restart in each epoch",
    .meaning =
        "The DataLoader stops its worker processes at the end of an epoch and starts new ones for the next. These import "
        "modules, open the data and load the first batch again.",
    .remedy = "Reuse the workers: DataLoader(..., persistent_workers=True). Create the loader once, before the epochs.",
    .check = check_workers_started_anew,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::data_loading}),
                   .turn = 42,
                   .explains = {"host_pause", "dataloader_wait"}},
    .code = "DataLoader(dataset, num_workers=8, persistent_workers=True)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
