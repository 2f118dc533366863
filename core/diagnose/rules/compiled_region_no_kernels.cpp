#include <fmt/format.h>

#include "core/analyze/gpu/launches.h"
#include "core/base/saturating.h"
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

// By slice: such a launch is in it, at whatever depth. Parents come before their children, which may be thousands deep.
std::vector<bool> hold_lost_launches(const Facts& facts) {
  std::vector<bool> hold(facts.trace.slice_count());
  std::vector<std::int8_t> by_name(facts.trace.strings.size(), -1);
  for (std::size_t i = hold.size(); i-- > 0;) {
    const SliceId s(i), parent = facts.parent(s);
    if (!parent || hold[parent.index()]) continue;
    bool is_lost = false;
    if ((facts.own(s) & kIsCall) != 0) {
      std::int8_t& known = by_name[facts.trace.name_id(s).index()];
      if (known < 0) known = is_lost_launch(facts.trace.name(s)) ? 1 : 0;
      is_lost = known == 1;
    }
    hold[parent.index()] = is_lost || hold[i];
  }
  return hold;
}

bool does_nothing(const Facts& facts, const RegionCall& call, const std::vector<bool>& hold_lost) {
  if (call.gpu_ops > 0 || (facts.below(call.region) & (kIsLaunch | kIsCompiledGraph))) return false;
  return !hold_lost[call.region.index()];
}

std::vector<Finding> check_compiled_region_no_kernels(const Facts& facts) {
  if (!facts.has_launches) return {};  // a recording of the CPU alone never shows kernels
  const std::vector<RegionCall> calls = region_calls(facts);
  if (calls.empty()) return {};
  const std::vector<bool> hold_lost = hold_lost_launches(facts);
  std::vector<SliceId> idle;
  Finding finding;
  EvidenceList times;
  for (const RegionCall& call : calls) {
    if (!does_nothing(facts, call, hold_lost)) continue;
    add_saturating(finding.cost, facts.trace.duration(call.region));
    if (idle.size() < kMostFindingSpans) times.emplace_back(as_us(facts.trace.duration(call.region)));
    idle.push_back(call.region);
  }
  if (idle.empty()) return {};
  // When other regions do work, these may be meant to do none.
  finding.severity = idle.size() == calls.size() ? Severity::costly : Severity::notable;
  finding.summary = fmt::format("{} launched no GPU work and called no compiled graph, in {} of host time.",
                                sentence_start(counted_of(idle.size(), calls.size(), "call of compiled code")),
                                format_duration(finding.cost));
  finding.evidence.add("n", idle.size());
  finding.evidence.add("of", calls.size());
  finding.evidence.add("region_us", std::move(times));
  mark_slices(finding, facts.trace, idle);
  return {std::move(finding)};
}

}  // namespace

extern const Rule compiled_region_no_kernels = {
    .id = "compiled_region_no_kernels",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "A compiled region that does nothing",
    .meaning =
        "The region runs but launches no GPU work and calls no compiled graph. The compiler removes work whose result is not "
        "used.",
    .remedy = "Return the result from the compiled function, or use it.",
    .check = check_compiled_region_no_kernels,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 400},
    .gives = {Cure::host, true},
};

}  // namespace gapscope
