#include <fmt/format.h>

#include <algorithm>

#include "core/base/span_sums.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A wait on an idle GPU takes 6 to 50 us; both must be reached.
constexpr Ns kLeastWait = 100 * kNsPerUs;
constexpr double kLeastStepShare = 0.02;

// The device sync that closes a recording: the last one, when nothing is launched after it.
SliceId closing_sync(const Facts& facts, const std::vector<SliceId>& syncs) {
  SliceId last;
  for (const SliceId s : syncs)
    if ((facts.own(s) & kIsDeviceSync) && (!last || facts.trace.begin(s) > facts.trace.begin(last))) last = s;
  if (!last) return last;
  const bool goes_on = std::any_of(facts.ops.begin(), facts.ops.end(), [&](const GpuOp& op) {
    return op.linked() && op.launch_span.begin > facts.trace.begin(last);
  });
  return goes_on ? SliceId{} : last;
}

// The step around it; in a recording without steps, the window.
Ns step_length_around(const Facts& facts, SliceId sync) {
  if (facts.steps.empty()) return facts.window.contains(facts.trace.begin(sync)) ? facts.window_length : 0;
  const auto step = facts.step_at(facts.trace.begin(sync));
  return step ? facts.trace.duration(facts.steps[*step]) : 0;
}

struct Waits {
  std::vector<SliceId> slices;
  SliceId longest;
  double longest_share = 0;  // of its step
  Ns time = 0, gpu_busy = 0;
};

Waits long_waits(const Facts& facts) {
  const std::vector<SliceId> syncs = facts.slices_with(kIsSync);
  const SliceId closing = closing_sync(facts, syncs);
  const SpanSums busy(facts.busy);
  Waits out;
  for (const SliceId s : syncs) {
    const Ns wait = facts.trace.duration(s);
    if (wait < kLeastWait || s == closing || (facts.above(s) & kIsCompileFrame)) continue;
    const double share = share_of(wait, step_length_around(facts, s));
    if (share < kLeastStepShare) continue;
    if (!out.longest || wait > facts.trace.duration(out.longest)) out.longest = s, out.longest_share = share;
    out.slices.push_back(s);
    out.time += wait;
    out.gpu_busy += busy.within(facts.trace.span_of(s));
  }
  return out;
}

// "The host waited 3 times, 4.92 ms in all; the longest wait, 2.83 ms in cudaEventSynchronize, is 29 % of its step."
std::string wait_words(const Facts& facts, const Waits& waits, SliceId longest) {
  const std::string name = shown_name(facts.trace.name(longest)), share = format_share(waits.longest_share),
                    whole = facts.steps.empty() ? "the window" : "its step";
  if (waits.slices.size() == 1)
    return fmt::format("The host waited for {} in {}, {} of {}.", format_duration(waits.time), name, share, whole);
  return fmt::format("The host waited {}, {} in total. The longest wait, {} in {}, is {} of {}.", often(waits.slices.size()),
                     format_duration(waits.time), format_duration(facts.trace.duration(waits.longest)), name, share, whole);
}

std::string busy_words(const Waits& waits) {
  if (waits.gpu_busy == waits.time) return " The GPU was busy all that time.";
  if (waits.gpu_busy == 0) return " The GPU was idle meanwhile.";
  return fmt::format(" The GPU was busy for {} of that.", format_duration(waits.gpu_busy));
}

std::vector<Finding> check_long_sync_wait(const Facts& facts) {
  Waits waits = long_waits(facts);
  if (waits.slices.empty()) return {};
  const auto count = static_cast<std::int64_t>(waits.slices.size());
  const SliceId op = facts.ancestor(waits.longest, kIsOp);
  const bool implicit = op && (facts.own(op) & kIsAten) != 0;
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = waits.time;
  finding.summary = wait_words(facts, waits, op ? op : waits.longest) + busy_words(waits);
  finding.evidence = Evidence({{"n", count},
                               {"total_us", as_us(waits.time)},
                               {"longest_us", as_us(facts.trace.duration(waits.longest))},
                               {"share_of_step", waits.longest_share},
                               {"gpu_busy_us", as_us(waits.gpu_busy)},
                               {"call", facts.trace.name(waits.longest)},
                               {"kind", implicit ? "implicit" : "explicit"}});
  if (op) finding.evidence.add("op", facts.trace.name(op));
  mark_slices(finding, facts.trace, waits.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule long_sync_wait = {
    .id = "long_sync_wait",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "Long synchronization inside a step",
    .meaning =
        "The CPU was blocked until the GPU had finished. The marked call only waited: the time belongs to the GPU work queued "
        "before it.",
    .remedy =
        "Remove or defer the call that needs the result (.item(), .cpu(), torch.cuda.synchronize()), then look at the kernels "
        "it waited for.",
    .check = check_long_sync_wait,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = cause_set({IdleCause::synchronizing}),
                   .turn = 60,
                   .explains = {"low_gpu_utilization"}},
    .other_remedy =
        "Remove or defer the call that waits (cudaDeviceSynchronize, cudaStreamSynchronize, a blocking copy), then look at the "
        "kernels it waited for.",
    .gives = {Cure::waits, true},
};

}  // namespace gapscope
