#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the window, and shorter ones are usual starts.
constexpr double kLeastCutShare = 0.05;
constexpr Ns kLeastCutWait = kNsPerMs;

bool is_wait_for_event(std::string_view call) { return call.ends_with("StreamWaitEvent"); }

// The last call before a launch, on its thread, that makes a stream wait for an event.
SliceId wait_before(const Facts& facts, SliceId launch) {
  SliceId found;
  for (const Call& call : facts.trace.calls) {
    if (!is_wait_for_event(facts.trace.name(call.slice)) || facts.trace.lane_id(call.slice) != facts.trace.lane_id(launch))
      continue;
    if (facts.trace.begin(call.slice) < facts.trace.begin(launch) &&
        (!found || facts.trace.begin(call.slice) > facts.trace.begin(found)))
      found = call.slice;
  }
  return found;
}

// A copy loads no code and asks for no library: where nothing that the file shows holds it back, its stream was not free.
bool loads_no_code(const Facts& facts, SliceId work) {
  return work && (facts.trace.kind(work) == Kind::memcpy || facts.trace.kind(work) == Kind::memset);
}

// Without steps, a window whose first gap is mostly work that was launched and did not begin: it waited for what came before.
std::vector<Finding> check_cut_out_window(const Facts& facts) {
  const DeviceAccount* device = facts.session.account().busiest();
  if (device == nullptr || !facts.steps.empty() || device->gaps.size() == 0) return {};
  const DeviceGap& gap = device->gaps[0];
  if (gap.span.begin != device->window.begin || !gap.launch || gap.main != IdleCause::starting) return {};
  Ns waited = 0;
  device->each_cause(0, [&](IdleCause cause, Ns time) { waited += cause == IdleCause::starting ? time : 0; });
  const double share = share_of(waited, device->window.length());
  if (waited < kLeastCutWait || share < kLeastCutShare) return {};
  const SliceId event = wait_before(facts, gap.launch);
  if (!event && !loads_no_code(facts, gap.ended_by)) return {};  // slow for a reason of its own, as a first use is
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = waited;
  finding.summary =
      fmt::format("The first GPU work began {} after its launch, behind {}: {} of the window.", format_duration(waited),
                  event ? printable(facts.trace.name(event)) : "earlier work of its stream", format_share(share));
  finding.evidence = Evidence({{"waited_us", as_us(waited)}, {"share", share}});
  if (event) finding.evidence.add("call", facts.trace.name(event));
  finding.spans.push_back({LaneId{}, gap.span, event ? event : gap.launch});
  return {std::move(finding)};
}

}  // namespace

extern const Rule cut_out_window = {
    .id = "cut_out_window",
    .rule_class = RuleClass::recording,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "The recording begins in the middle of a run",
    .meaning =
        "The first work waited for something before the recording. The GPU may have been busy then with work that is not in "
        "the file, so this delay says nothing about the run.",
    .remedy =
        "Record whole iterations: {warm_up|schedule(wait=1, warmup=1) and prof.step() after each}, {|torch.cuda.synchronize() "
        "before the recording begins}.",
    .check = check_cut_out_window,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::starting}), .turn = 5},
    .evidence_names = {{{"waited_us", "waited"}}},
};

}  // namespace gapscope
