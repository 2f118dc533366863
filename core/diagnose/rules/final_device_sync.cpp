#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Shorter ones are housekeeping: with nothing queued it lasts 10 to 20 us.
constexpr double kLeastFinalSyncShare = 0.10;

// The last wait for the whole device, when it is in no operator, region or step: the profiler's own.
SliceId closing_sync(const Facts& facts) {
  SliceId last;
  for (const std::string_view text : {"cudaDeviceSynchronize", "hipDeviceSynchronize"})
    for (const StringId name : facts.names_matching([&](std::string_view n) { return n == text; }))
      for (const SliceId s : facts.names.slices_named(name))
        if ((facts.own(s) & kIsDeviceSync) != 0 && (!last || facts.trace.begin(s) > facts.trace.begin(last))) last = s;
  if (last && (facts.above(last) & (kIsOp | kIsAnnotation | kIsStep)) != 0) return {};
  return last;
}

std::vector<Finding> check_final_device_sync(const Facts& facts) {
  const SliceId sync = closing_sync(facts);
  if (!sync || facts.window.empty()) return {};
  const Ns took = facts.trace.duration(sync);
  const double share = static_cast<double>(took) / static_cast<double>(facts.window_length);
  if (share < kLeastFinalSyncShare) return {};
  const Ns busy = length_within(facts.busy, facts.trace.span_of(sync));
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("The last synchronization took {}, {} of {}{}.", format_duration(took),
                                share > 1 ? "more than the window" : format_share(share) + " of the window",
                                format_duration(facts.window_length),
                                facts.ops.empty() ? "" : fmt::format(". The GPU was busy for {} of it", format_duration(busy)));
  finding.evidence = Evidence({{"dur_us", as_us(took)},
                               {"share_of_window", share},
                               {"gpu_busy_inside_us", as_us(busy)},
                               {"gpu_busy_share", static_cast<double>(busy) / static_cast<double>(took)}});
  finding.spans.push_back(span_of_slice(facts.trace, sync));
  return {std::move(finding)};
}

}  // namespace

extern const Rule final_device_sync = {
    .id = "final_device_sync",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "A long synchronization ends the recording",
    .meaning =
        "The recording ends with a synchronization: the profiler's own when it stops, or one of the program just before. It "
        "lasts until all queued work is done. It is not a cost of the steps.",
    .remedy = "It shows how far the GPU was behind the host. Leave it out of CPU totals.",
    .check = check_final_device_sync,
};

}  // namespace gapscope
