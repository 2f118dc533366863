#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// While the GPU was idle: the CPU waited in a synchronizing call, or the profiler itself worked.
struct IdleCauses {
  Ns idle = 0, waiting = 0, profiler = 0;
};

SpanSet spans_of(const Facts& facts, const std::vector<SliceId>& slices) {
  std::vector<Span> spans;
  for (const SliceId s : slices) spans.push_back(facts.trace.span_of(s));
  return span_set(std::move(spans));
}

IdleCauses causes_of(const Facts& facts, const SpanSet& idle) {
  IdleCauses out;
  out.idle = length(idle);
  const SpanSet profiler = intersect(idle, spans_of(facts, facts.overheads));
  out.profiler = length(profiler);
  out.waiting = length(subtract(intersect(idle, spans_of(facts, facts.slices_with(kIsSync))), profiler));
  return out;
}

std::vector<Finding> check_low_gpu_utilization(const Facts& facts) {
  if (!is_idle_mostly(facts)) return {};
  const SpanSet idle = subtract(SpanSet{facts.window}, facts.busy);
  const IdleCauses causes = causes_of(facts, idle);
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = causes.idle;
  finding.summary = busy_sentence(facts);
  if (const AccountTimes* times = account_times(facts); times != nullptr && times->idle_total() > 0) {
    const IdleCause lead = largest_of(times->idle);
    const ProgramKind program = program_kind(facts.trace);
    const DeviceAccount& device = *facts.session.account().busiest();
    finding.advice = plain_advice(fmt::format("Start with the largest of these parts ({}).", idle_cause_title(lead, program))) +
                     idle_advice(advice_on(facts), device, device.window, lead);
    finding.summary +=
        fmt::format(" The idle time{} by cause: {}.", busiest_words(facts, "").empty() ? "" : " of " + busiest_words(facts, ""),
                    cause_words(times->idle, program, false));
  }
  if (facts.linked == 0) {
    finding.meaning =
        "For more than half of the recorded time the GPU is idle. Why is unknown: no launch of its work is in the file.";
    finding.advice =
        plain_advice("Record the calls that launch the work, too, or look at what the program does during the marked gaps.");
  }
  finding.evidence = Evidence({{"gpu_util", *facts.gpu_util},
                               {"gpu_busy_us", as_us(facts.busy_in_window)},
                               {"window_us", as_us(facts.window_length)},
                               {"cpu_active_us", as_us(facts.cpu_active)},
                               {"sync_us", as_us(facts.sync_time)},
                               {"idle_us", as_us(causes.idle)},
                               {"idle_in_waits_us", as_us(causes.waiting)},
                               {"idle_in_profiler_us", as_us(causes.profiler)}});
  if (facts.cpu_to_gpu) finding.evidence.add("ratio", *facts.cpu_to_gpu);
  std::vector<FindingSpan> gaps;
  for (const Span& gap : idle) gaps.push_back({LaneId{}, gap, SliceId{}});
  mark_gaps(finding, std::move(gaps));
  return {std::move(finding)};
}

}  // namespace

extern const Rule low_gpu_utilization = {
    .id = "low_gpu_utilization",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork,
    .title = "The GPU is idle most of the time",
    .meaning =
        "For more than half of the recorded time the GPU is idle. The summary has the causes that the file shows, the longest "
        "first. `gapscope why` shows the cause of every gap.",
    .remedy = "Start with the largest of these parts. Look at the marked gaps.",
    .check = check_low_gpu_utilization,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kKnownCauses, .inside = false, .turn = 190},
    .wants_warm_up = true,
    .evidence_names = {{{"ratio", kHostAgainstGpu}}},
};

}  // namespace gapscope
