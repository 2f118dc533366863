#include <algorithm>

#include <fmt/format.h>

#include "core/base/span_sums.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Shorter ones happen in any run and cost little.
constexpr Ns kLeastWait = 200 * kNsPerUs;
// The GPU was idle for nine tenths of the wait: it was not what the host waited for.
constexpr double kMostBusy = 0.10;

struct Wait {
  SliceId sync;
  Ns took = 0, busy = 0;
  Ns idle() const { return took - busy; }
};

std::vector<Wait> empty_waits(const Facts& facts) {
  const SpanSums busy(facts.busy);
  std::vector<Wait> out;
  for (const StringId name :
       facts.names_matching([](std::string_view n) { return n == "cudaDeviceSynchronize" || n == "hipDeviceSynchronize"; }))
    for (const SliceId s : facts.names.slices_named(name)) {
      const Wait wait = {s, facts.trace.duration(s), busy.within(facts.trace.span_of(s))};
      if ((facts.own(s) & kIsDeviceSync) == 0 || wait.took < kLeastWait) continue;
      if (static_cast<double>(wait.busy) < kMostBusy * static_cast<double>(wait.took)) out.push_back(wait);
    }
  return out;
}

EvidenceList overheads_in(const Facts& facts, Span span) {
  EvidenceList names;
  for (const SliceId s : facts.overheads)
    if (facts.trace.span_of(s).overlaps(span)) names.emplace_back(facts.trace.name(s));
  return names;
}

std::vector<Finding> check_sync_covers_little_gpu_work(const Facts& facts) {
  const std::vector<Wait> waits = empty_waits(facts);
  if (waits.empty()) return {};
  const Wait& longest =
      *std::max_element(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.idle() < b.idle(); });
  Finding finding;
  finding.severity = Severity::notable;
  std::vector<SliceId> slices;
  for (const Wait& wait : waits) finding.cost += wait.idle(), slices.push_back(wait.sync);
  finding.summary = fmt::format(
      "{} took {}, and the GPU {}.", shown_name(facts.trace.name(longest.sync)), format_duration(longest.took),
      longest.busy == 0 ? "was idle meanwhile" : fmt::format("was busy for only {} of it", format_duration(longest.busy)));
  if (waits.size() > 1)
    finding.summary +=
        fmt::format(" There are {} such waits. In this one the GPU was idle the longest.", shown_count(waits.size()));
  finding.evidence = Evidence({{"n", waits.size()},
                               {"dur_us", as_us(longest.took)},
                               {"gpu_busy_inside_us", as_us(longest.busy)},
                               {"gpu_busy_share", static_cast<double>(longest.busy) / static_cast<double>(longest.took)}});
  if (EvidenceList overheads = overheads_in(facts, facts.trace.span_of(longest.sync)); !overheads.empty())
    finding.evidence.add("overhead_inside", std::move(overheads));
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule sync_covers_little_gpu_work = {
    .id = "sync_covers_little_gpu_work",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork,
    .title = "A long synchronization with little GPU work",
    .meaning =
        "The host waited for the GPU, but little GPU work of this file ran meanwhile. It may have waited for the driver or the "
        "profiler, as at the start, or for work from before the recording.",
    .remedy =
        "Do not count it as GPU time. Record again after a warm-up and a torch.cuda.synchronize() before the recorded steps.",
    .check = check_sync_covers_little_gpu_work,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::synchronizing}), .turn = 70},
    .other_remedy =
        "Do not count it as GPU time. Record again after a warm-up and a cudaDeviceSynchronize() before the recorded steps.",
    .gives = {Cure::waits, true},
};

}  // namespace gapscope
