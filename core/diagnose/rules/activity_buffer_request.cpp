#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_activity_buffer_request(const Facts& facts) {
  std::vector<SliceId> requests;
  for (const SliceId s : facts.overheads)
    if (facts.trace.name(s) == "Activity Buffer Request") requests.push_back(s);
  if (requests.empty()) return {};
  Finding finding;
  finding.severity = Severity::informational;
  EvidenceList took, at;
  for (const SliceId s : requests) {
    add_saturating(finding.cost, facts.trace.duration(s));
    if (took.size() == kMostFindingSpans) continue;
    took.emplace_back(as_us(facts.trace.duration(s)));
    at.emplace_back(as_us(facts.trace.begin(s) - facts.window.begin));
  }
  finding.summary = fmt::format("The profiler allocated {} for its records in {}.", counted(requests.size(), "buffer"),
                                format_duration(finding.cost));
  if (!facts.ops.empty() && facts.trace.begin(requests.front()) < facts.ops.front().span.begin)
    finding.summary +=
        requests.size() == 1 ? " This was before the first GPU work." : " The first time was before the first GPU work.";
  finding.evidence = Evidence({{"n", requests.size()}, {"dur_us", std::move(took)}, {"at_us", std::move(at)}});
  mark_slices(finding, facts.trace, requests);
  return {std::move(finding)};
}

}  // namespace

extern const Rule activity_buffer_request = {
    .id = "activity_buffer_request",
    .rule_class = RuleClass::profiler_artefact,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "The profiler allocated a buffer",
    .meaning =
        "CUPTI allocates a buffer for its records. A thread that launches is blocked meanwhile. Long recordings show this "
        "repeatedly.",
    .remedy =
        "This is not part of your program. Subtract it, or record after a warm-up, so that it comes before the recorded steps.",
    .check = check_activity_buffer_request,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = cause_set({IdleCause::profiler}),
                   .turn = 110,
                   .explains = {"cpu_gpu_lane_offset", "gpu_gap_in_step"}},
    .gives = {Cure::host, true},
};

}  // namespace gapscope
