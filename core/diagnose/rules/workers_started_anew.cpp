#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Between the fetch that ends an epoch and the first of the next: less is Python's own.
constexpr Ns kLeastRestart = 5 * kNsPerMs;
constexpr std::size_t kLittleOfUsual = 10;  // a tenth of the launches of a round of the loop
constexpr std::string_view kFetchOfWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// The launches, and the ends of all calls, of the thread of a lane, each in order.
struct Calls {
  std::vector<Ns> launches, ends;
  Calls(const Facts& facts, LaneId lane) {
    for (const GpuOp& op : facts.ops)
      if (op.linked() && facts.trace.lane_id(op.launch) == lane) launches.push_back(op.launch_span.begin);
    for (const Call& call : facts.trace.calls)
      if (facts.trace.lane_id(call.slice) == lane) ends.push_back(facts.trace.end(call.slice));
    std::sort(launches.begin(), launches.end());
    std::sort(ends.begin(), ends.end());
  }
  std::size_t launched_in(Span span) const {
    const auto from = std::lower_bound(launches.begin(), launches.end(), span.begin);
    return static_cast<std::size_t>(std::lower_bound(from, launches.end(), span.end) - from);
  }
  // The last end in it; its begin where there is none.
  Ns last_end_in(Span span) const {
    const auto after = std::upper_bound(ends.begin(), ends.end(), span.end);
    return after == ends.begin() ? span.begin : std::max(span.begin, *std::prev(after));
  }
};

// A fetch that ends an epoch finds nothing. Up to the next epoch's first, the program sums up, which launches little, and then
// starts workers, which calls nothing of CUDA.
std::vector<Finding> check_workers_started_anew(const Facts& facts) {
  const std::vector<SliceId> fetches = cpu_slices_called(facts, kFetchOfWorkers, kIsDataLoader);
  if (fetches.size() < 2) return {};
  const LaneId lane = facts.trace.lane_id(fetches.front());
  const Calls calls(facts, lane);
  std::vector<std::size_t> counts;  // of launches between two fetches
  for (std::size_t i = 1; i < fetches.size(); ++i)
    counts.push_back(calls.launched_in({facts.trace.end(fetches[i - 1]), facts.trace.begin(fetches[i])}));
  std::vector<std::size_t> ordered = counts;
  std::nth_element(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 2), ordered.end());
  const std::size_t usual = ordered[ordered.size() / 2];
  std::vector<FindingSpan> places;
  Ns time = 0, longest = 0;
  for (std::size_t i = 1; i < fetches.size(); ++i) {
    const Span last = facts.trace.span_of(fetches[i - 1]), first = facts.trace.span_of(fetches[i]);
    if (facts.trace.lane_id(fetches[i]) != lane || kLittleOfUsual * counts[i - 1] > usual) continue;
    const Span restart{calls.last_end_in({last.end, first.begin}), first.end};
    if (first.begin - restart.begin < kLeastRestart) continue;
    for (const Span span : {last, restart}) places.push_back({lane, span, SliceId{}});
    add_saturating(time, last.length() + restart.length());
    longest = std::max(longest, last.length() + restart.length());
  }
  const double share = share_of(time, facts.window_length);
  constexpr double kLeastRestartShare = 0.02;
  if (places.empty() || share < kLeastRestartShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "{} an epoch of the DataLoader ended and its workers were restarted: {} in total, {} of the window, the longest {}.",
      sentence_start(often(places.size() / 2)), format_duration(time), format_share(share), format_duration(longest));
  finding.evidence =
      Evidence({{"n", places.size() / 2}, {"total_us", as_us(time)}, {"share", share}, {"longest_us", as_us(longest)}});
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
    .remedy = "Create the DataLoader once, before the epochs, with persistent_workers=True: its workers then stay.",
    .check = check_workers_started_anew,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::data_loading}),
                   .turn = 42,
                   .explains = {"host_pause", "dataloader_wait"}},
    .code = "loader = DataLoader(dataset, num_workers=8, persistent_workers=True)  # once, before the epochs",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
