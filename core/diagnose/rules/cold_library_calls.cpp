#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/first_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_cold_library_calls(const Facts& facts) {
  const std::vector<FirstLibraryCall> first = first_library_calls(facts);
  if (first.empty() || come_with_new_sizes(facts, first)) return {};
  const FirstLibraryCall& longest = *std::max_element(
      first.begin(), first.end(), [](const FirstLibraryCall& a, const FirstLibraryCall& b) { return a.time < b.time; });
  std::vector<SliceId> ops;
  Ns time = 0;
  for (const FirstLibraryCall& call : first) {
    ops.push_back(call.op);
    add_saturating(time, call.time);
  }
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary =
      fmt::format("{} of a library took {}{}{}. Later calls take {} (median){}.",
                  first.size() == 1 ? "The first call" : counted(first.size(), "first call"), format_duration(time),
                  first.size() == 1 ? ", " : ", the longest ",
                  shown_name(facts.trace.name(longest.op)) + (first.size() == 1 ? "" : ", " + format_duration(longest.time)),
                  format_duration(longest.usual), facts.overheads.empty() ? "" : ", without the profiler's own work");
  finding.evidence = Evidence({{"n", first.size()}, {"total_us", as_us(time)}, {"median_us", as_us(longest.usual)}});
  mark_slices(finding, facts.trace, ops);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cold_library_calls = {
    .id = "cold_library_calls",
    .rule_class = RuleClass::start_up,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "The recording has first calls of a library",
    .meaning =
        "The first matrix product, convolution or attention of a kind creates the library's handle and workspace, loads its "
        "kernels and picks an algorithm. This cost occurs once.",
    .remedy =
        "Warm up with the same shapes before measuring (schedule(wait=1, warmup=1) and the same model and batch){warm_up!}.",
    .check = check_cold_library_calls,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 55},
    .other_remedy = "Warm up with the same shapes before measuring (--range or --delay of gapscope record).",
};

}  // namespace gapscope
