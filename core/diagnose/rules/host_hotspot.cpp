#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the operators' own time.
constexpr double kLeastHostShare = 0.20;

struct OwnTime {
  StringId name;
  std::vector<SliceId> calls;
  Ns own = 0;
};

// Operators by name, without what they call.
std::vector<OwnTime> own_times(const Facts& facts) {
  const std::vector<SliceId> ops = facts.slices_with(kIsOp);
  std::unordered_map<std::uint32_t, Ns> inside;  // of other operators, by slice
  for (const SliceId s : ops)
    if (const SliceId outer = facts.ancestor(s, kIsOp)) add_saturating(inside[outer.value], facts.trace.duration(s));
  std::unordered_map<std::uint32_t, OwnTime> by_name;
  for (const SliceId s : ops) {
    if (facts.own(s) & kIsStep) continue;
    OwnTime& of = by_name[facts.trace.name_id(s).value];
    of.name = facts.trace.name_id(s);
    of.calls.push_back(s);
    const auto at = inside.find(s.value);
    add_saturating(of.own, std::max<Ns>(0, facts.trace.duration(s) - (at != inside.end() ? at->second : 0)));
  }
  std::vector<OwnTime> out;
  for (auto& [id, of] : by_name) out.push_back(std::move(of));
  std::sort(out.begin(), out.end(),
            [](const OwnTime& a, const OwnTime& b) { return a.own != b.own ? a.own > b.own : a.name.value < b.name.value; });
  return out;
}

// Of recordings without GPU work: nothing else shows there what the time went into.
std::vector<Finding> check_host_hotspot(const Facts& facts) {
  if (!facts.ops.empty() || facts.compiling()) return {};
  const std::vector<OwnTime> times = own_times(facts);
  Ns all = 0;
  for (const OwnTime& of : times) add_saturating(all, of.own);
  if (times.empty() || share_of(times.front().own, all) < kLeastHostShare) return {};
  const OwnTime& most = times.front();
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("Of {} in operators, {} took {} of self time, {}, in {}.", format_duration(all),
                                shown_name(facts.trace.strings[most.name]), format_duration(most.own),
                                format_share(share_of(most.own, all)), counted(most.calls.size(), "call"));
  finding.evidence = Evidence({{"name", facts.trace.strings[most.name]},
                               {"total_us", as_us(most.own)},
                               {"share", share_of(most.own, all)},
                               {"n", most.calls.size()}});
  mark_slices(finding, facts.trace, most.calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule host_hotspot = {
    .id = "host_hotspot",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "One operator takes the most host time",
    .meaning = "The recording has no GPU work. It shows only the host's time.",
    .remedy =
        "Start with it: {record_shapes|its shapes (record_shapes=True)}, {record_frames|the code that calls it "
        "(with_stack=True)}, {|torch.set_num_threads}, {compile}.",
    .check = check_host_hotspot,
};

}  // namespace gapscope
