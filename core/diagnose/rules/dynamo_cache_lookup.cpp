#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A lookup in some steps only is an odd call, not the cost of every step.
bool in_every_step(const Facts& facts, const std::vector<SliceId>& lookups) {
  std::vector<bool> has(facts.step_count());
  for (const SliceId s : lookups)
    if (const auto step = facts.step_at(facts.trace.begin(s))) has[*step] = true;
  return std::find(has.begin(), has.end(), false) == has.end();
}

std::vector<Finding> check_dynamo_cache_lookup(const Facts& facts) {
  std::vector<SliceId> lookups = cpu_slices_called(facts, "TorchDynamo Cache Lookup", kIsOp);
  if (lookups.empty() || !in_every_step(facts, lookups)) return {};
  std::vector<Ns> times;
  Ns total = 0, regions = 0;
  for (const SliceId s : lookups) times.push_back(facts.trace.duration(s)), total += times.back();
  for (const RegionCall& call : region_calls(facts)) add_saturating(regions, facts.trace.duration(call.region));
  const std::size_t count = times.size();
  const Ns median = median_of(std::move(times));
  Finding finding;
  finding.summary = fmt::format("{} by Dynamo took {}{}.", counted(count, "guard check"), format_duration(total),
                                count == 1 ? "" : fmt::format(" in total, {} each (median)", format_duration(median)));
  if (regions > 0) finding.summary += fmt::format(" The compiled regions took {}.", format_duration(regions));
  finding.evidence = Evidence({{"n", count}, {"median_us", as_us(median)}});
  mark_slices(finding, facts.trace, lookups);
  return {std::move(finding)};
}

}  // namespace

extern const Rule dynamo_cache_lookup = {
    .id = "dynamo_cache_lookup",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "Guards are checked on every call",
    .meaning = "On every call Dynamo compares shapes, types and devices with those it compiled for.",
    .remedy =
        "If this time matters, reduce the guards: fewer module attributes, inputs marked as static, or the options that skip "
        "guards.",
    .check = check_dynamo_cache_lookup,
};

}  // namespace gapscope
