#include <fmt/format.h>

#include "core/analyze/gpu/launches.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A launch whose GPU work is missing from the file: the region did something after all.
bool is_lost_launch(std::string_view call) {
  return is_kernel_launch_name(call) || call.find("GraphLaunch") != call.npos || call.find("Memcpy") != call.npos ||
         call.find("Memset") != call.npos;
}

bool has_lost_launch(const Facts& facts, SliceId slice) {
  for (const SliceId child : facts.lanes.children(slice)) {
    if ((facts.below(child) & kIsCall) == 0) continue;
    if (((facts.own(child) & kIsCall) && is_lost_launch(facts.trace.name(child))) || has_lost_launch(facts, child)) return true;
  }
  return false;
}

bool does_nothing(const Facts& facts, const RegionCall& call) {
  if (call.gpu_ops > 0 || (facts.below(call.region) & (kIsLaunch | kIsCompiledGraph))) return false;
  return !has_lost_launch(facts, call.region);
}

std::vector<Finding> check(const Facts& facts) {
  if (!facts.has_launches) return {};  // a recording of the CPU alone never shows kernels
  const std::vector<RegionCall> calls = region_calls(facts);
  std::vector<SliceId> idle;
  Finding finding;
  EvidenceList times;
  for (const RegionCall& call : calls) {
    if (!does_nothing(facts, call)) continue;
    finding.cost += facts.trace.duration(call.region);
    if (idle.size() < kMostFindingSpans) times.emplace_back(as_us(facts.trace.duration(call.region)));
    idle.push_back(call.region);
  }
  if (idle.empty()) return {};
  // When other regions do work, these may be meant to do none.
  finding.severity = idle.size() == calls.size() ? Severity::costly : Severity::notable;
  finding.summary = fmt::format("{} launched nothing and called no compiled graph, in {} of host time.",
                                sentence_start(counted_of(idle.size(), calls.size(), "call of compiled code")), format_duration(finding.cost));
  finding.evidence.add("n", idle.size());
  finding.evidence.add("of", calls.size());
  finding.evidence.add("region_us", std::move(times));
  mark_slices(finding, facts.trace, idle);
  return {std::move(finding)};
}

}  // namespace

extern const Rule compiled_region_no_kernels = {
    "compiled_region_no_kernels", RuleClass::problem, Severity::costly, kNeedsOperators,
    "A compiled region that does nothing",
    "The region runs but launches no GPU work and calls no compiled graph: nobody uses its result, so the compiler removed the work.",
    "Return the result from the compiled function, or use it.",
    check};

}  // namespace gapscope
