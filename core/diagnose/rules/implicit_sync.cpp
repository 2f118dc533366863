#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

struct Waits {
  std::vector<SliceId> slices;
  std::vector<std::pair<StringId, std::int64_t>> ops;
  Ns time = 0;
};

// Waits in an operator's own code. The compiler's and the autotuner's waits are not the program's.
Waits waits_in_operators(const Facts& facts) {
  Waits out;
  for (const SliceId s : facts.slices_with(kIsSync)) {
    if (facts.above(s) & kIsCompileFrame) continue;
    const SliceId op = facts.ancestor(s, kIsOp);
    if (!op || (facts.own(op) & kIsAten) == 0) continue;
    out.slices.push_back(s);
    add_saturating(out.time, facts.trace.duration(s));
    const StringId name = facts.trace.name_id(op);
    const auto known = std::find_if(out.ops.begin(), out.ops.end(), [&](const auto& entry) { return entry.first == name; });
    if (known == out.ops.end())
      out.ops.emplace_back(name, 1);
    else
      ++known->second;
  }
  std::stable_sort(out.ops.begin(), out.ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::vector<Finding> check_implicit_sync(const Facts& facts) {
  Waits waits = waits_in_operators(facts);
  if (waits.slices.empty()) return {};
  const auto count = static_cast<std::int64_t>(waits.slices.size());
  EvidenceMap ops;
  for (const auto& [name, times] : waits.ops) ops.emplace_back(std::string(facts.trace.strings[name]), times);
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = waits.time;
  finding.summary = fmt::format("Operators synchronized with the GPU {}, {} in total{}{}.", often(waits.slices.size()),
                                format_duration(waits.time), waits.ops.size() == 1 ? ": " : ", most often ",
                                shown_name(facts.trace.strings[waits.ops.front().first]));
  finding.evidence = Evidence({{"n", count}, {"total_us", as_us(waits.time)}, {"ops", std::move(ops)}});
  if (!facts.steps.empty())
    finding.evidence.add("per_step", static_cast<double>(count) / static_cast<double>(facts.step_count()));
  mark_slices(finding, facts.trace, waits.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule implicit_sync = {
    .id = "implicit_sync",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "An operator synchronizes with the GPU",
    .meaning =
        "The operator needs a result from the GPU at once (.item(), .cpu(), nonzero, a blocking copy). Even if the wait is "
        "short, the CPU cannot run ahead of the GPU.",
    .remedy = "Move it out of the hot loop, log less often, or leave the value on the GPU.",
    .check = check_implicit_sync,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::synchronizing}), .turn = 80},
    .other_meaning =
        "The operator waits for the GPU, for example for a result. Even if the wait is short, the CPU cannot run ahead of the "
        "GPU.",
    .gives = {Cure::waits, true},
};

}  // namespace gapscope
