#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/gpu/launches.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A launch takes 5 to 20 us; loading a kernel's code takes hundreds.
constexpr Ns kLeastSlowLaunch = 200 * kNsPerUs;
constexpr std::int64_t kLeastTimesMedian = 10;
// Of the launches. A long one late in the run waits for room in a full queue instead.
constexpr std::size_t kEarlyPart = 10;

struct Loading {
  std::vector<SliceId> slices;
  std::int64_t events = 0;
  Ns event_time = 0;
};

Loading loading_events(const Facts& facts) {
  Loading out;
  for (const SliceId s : facts.overheads) {
    const std::string_view name = facts.trace.name(s);
    if (name != "Lazy Function Loading" && name != "Runtime Triggered Module Loading") continue;
    ++out.events;
    add_saturating(out.event_time, facts.trace.duration(s));
    out.slices.push_back(s);
  }
  return out;
}

std::vector<SliceId> kernel_launches(const Facts& facts) {
  std::vector<SliceId> out;
  for (const StringId name : facts.names_matching(is_kernel_launch_name))
    for (const SliceId s : facts.names.slices_named(name))
      if (facts.own(s) & kIsCall) out.push_back(s);
  const auto earlier = [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); };
  std::stable_sort(out.begin(), out.end(), earlier);
  return out;
}

struct Launches {
  std::size_t count = 0;
  Ns median = 0, slowest = 0, fastest = 0;
  std::vector<SliceId> slow_and_early;
};

Launches launches_of(const Facts& facts) {
  const std::vector<SliceId> calls = kernel_launches(facts);
  std::vector<Ns> durations;
  for (const SliceId s : calls) durations.push_back(facts.trace.duration(s));
  Launches out;
  if (calls.empty()) return out;
  out.count = calls.size();
  out.slowest = *std::max_element(durations.begin(), durations.end());
  out.fastest = *std::min_element(durations.begin(), durations.end());
  const std::size_t early = std::max<std::size_t>(calls.size() / kEarlyPart, 1);
  out.median = median_of(durations);
  for (std::size_t i = 0; i < early; ++i)
    if (durations[i] >= kLeastSlowLaunch && durations[i] >= kLeastTimesMedian * out.median)
      out.slow_and_early.push_back(calls[i]);
  return out;
}

std::string launch_words(const Launches& launches) {
  const std::string slowest = format_duration(launches.slowest);
  if (launches.count == 0) return "The file has no kernel launch.";
  if (launches.count == 1) return fmt::format("The only launch took {}.", slowest);
  if (launches.count == 2)  // the median is the mean of the two
    return fmt::format("The slower launch took {}, the other {}.", slowest, format_duration(launches.fastest));
  return fmt::format("The slowest launch took {}, the median is {}.", slowest, format_duration(launches.median));
}

std::vector<Finding> check_lazy_module_loading(const Facts& facts) {
  Loading loading = loading_events(facts);
  const Launches launches = launches_of(facts);
  if (loading.events == 0 && launches.slow_and_early.empty()) return {};
  Ns slow_time = 0;
  for (const SliceId s : launches.slow_and_early) add_saturating(slow_time, facts.trace.duration(s));
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = std::max(loading.event_time, slow_time);
  const std::string events =
      loading.events > 0 ? fmt::format("The profiler recorded code loading {} ({}). ",
                                       often(static_cast<std::size_t>(loading.events)), format_duration(loading.event_time))
                         : "";
  finding.summary = events + launch_words(launches);
  finding.evidence = Evidence({{"overhead_events", loading.events},
                               {"overhead_us", as_us(loading.event_time)},
                               {"slowest_launch_us", as_us(launches.slowest)},
                               {"median_launch_us", as_us(launches.median)}});
  loading.slices.insert(loading.slices.end(), launches.slow_and_early.begin(), launches.slow_and_early.end());
  mark_slices(finding, facts.trace, loading.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule lazy_module_loading = {
    .id = "lazy_module_loading",
    .rule_class = RuleClass::start_up,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "Kernel code seems to load during the recording",
    .meaning =
        "The driver loads a kernel's code onto the GPU at its first use. That launch takes hundreds of microseconds instead of "
        "a few. If the profiler recorded no loading, the slow launch is the only sign.",
    .remedy = "Warm up before recording, or set CUDA_MODULE_LOADING=EAGER for measurements.",
    .check = check_lazy_module_loading,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = cause_set({IdleCause::loading, IdleCause::launching, IdleCause::cuda_call}),
                   .turn = 100},
    .gives = {Cure::host, true},
};

}  // namespace gapscope
