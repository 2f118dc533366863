#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/analyze/gpu/launches.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A few at the end of a recording are cut off in passing; one in twenty is a loss.
constexpr double kLeastMissingShare = 0.05;

bool launches_work(std::string_view call) {
  return is_kernel_launch_name(call) || call == "cudaGraphLaunch" || call == "hipGraphLaunch";
}

// Per lane, when calls were recorded into a graph instead of run.
std::vector<SpanSet> captures(const Facts& facts) {
  std::vector<SpanSet> out(facts.trace.lanes.size());
  const auto named = [&](std::string_view what) {
    std::vector<SliceId> calls;
    for (const StringId name : facts.names_matching([&](std::string_view n) { return n.find(what) != n.npos; }))
      for (const SliceId s : facts.names.slices_named(name))
        if ((facts.own(s) & kIsCall) != 0) calls.push_back(s);
    std::sort(calls.begin(), calls.end(), [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); });
    return calls;
  };
  const std::vector<SliceId> ends = named("StreamEndCapture");
  for (const SliceId begin : named("StreamBeginCapture")) {
    const auto end = std::find_if(ends.begin(), ends.end(), [&](SliceId e) {
      return facts.trace.begin(e) >= facts.trace.end(begin) && facts.trace.lane_id(e) == facts.trace.lane_id(begin);
    });
    const Ns until = end == ends.end() ? facts.trace.span.end : facts.trace.end(*end);
    append(out[facts.trace.lane_id(begin).index()], {facts.trace.begin(begin), until});
  }
  return out;
}

// Range profiling counts events and records no kernels, by design.
bool is_range_profile(const Facts& facts) {
  return std::any_of(facts.trace.categories.begin(), facts.trace.categories.end(),
                     [&](const Category& c) { return facts.trace.strings[c.name] == "cuda_profiler_range"; });
}

std::vector<Finding> check_launches_without_gpu_op(const Facts& facts) {
  if (!facts.has_launches || is_range_profile(facts)) return {};
  const std::vector<SpanSet> captured = captures(facts);
  std::vector<SliceId> missing;
  std::size_t all = 0;
  Ns last_linked = std::numeric_limits<Ns>::min();
  for (const StringId name : facts.names_matching(launches_work))
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & kIsCall) == 0 || length_within(captured[facts.trace.lane_id(s).index()], facts.trace.span_of(s)) > 0)
        continue;
      ++all;
      if ((facts.own(s) & kIsLaunch) == 0)
        missing.push_back(s);
      else
        last_linked = std::max(last_linked, facts.trace.begin(s));
    }
  if (missing.empty() || static_cast<double>(missing.size()) < kLeastMissingShare * static_cast<double>(all)) return {};
  const auto earlier = [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); };
  const auto [first, last] = std::minmax_element(missing.begin(), missing.end(), earlier);
  const double share = static_cast<double>(missing.size()) / static_cast<double>(all);
  const Ns from = facts.trace.begin(*first) - facts.window.begin, until = facts.trace.begin(*last) - facts.window.begin;
  Finding finding;
  finding.severity = Severity::notable;
  finding.summary = fmt::format("{} of {}, {}, started no GPU work in this file.", shown_count(missing.size()),
                                counted(all, "launching call"), format_share(share));
  finding.evidence = Evidence(
      {{"n", missing.size()}, {"of", all}, {"share", share}, {"first_at_us", as_us(from)}, {"last_at_us", as_us(until)}});
  if (missing.size() < all && facts.trace.begin(*first) > last_linked) {
    finding.meaning =
        "The file ends before the work of its last launches does, as a part that was cropped and a profiler that stopped "
        "early: "
        "the last step's GPU time is too small.";
    finding.remedy = "Judge the steps before it, or record until the GPU is done.";
  }
  mark_slices(finding, facts.trace, missing);
  return {std::move(finding)};
}

}  // namespace

extern const Rule launches_without_gpu_op = {
    .id = "launches_without_gpu_op",
    .rule_class = RuleClass::data_health,
    .severity = Severity::notable,
    .needs = kNeedsNothing,
    .title = "Launches whose kernels are missing",
    .meaning = "Records of kernels were lost or never collected, so GPU times may be too small and gaps too wide.",
    .remedy = "Warm up longer before recording, record fewer steps, and see that no other profiler uses the GPU.",
    .check = check_launches_without_gpu_op,
};

}  // namespace gapscope
