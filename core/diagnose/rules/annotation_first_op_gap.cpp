#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Entering an annotation and the first operator takes 5 to 20 us of Python.
constexpr Ns kLeastGap = 25 * kNsPerUs;
// Against the other instances: a gap that is always there is code, not start-up.
constexpr double kLeastFirstGapRatio = 3;
constexpr std::size_t kLeastInstances = 3;

// Annotations that libraries write about themselves: their insides are not a user's region.
bool is_of_a_library(std::string_view name) {
  constexpr std::string_view kStarts[] = {
      "Optimizer.", "enumerate(Data", "nccl:", "gloo:", "## Call CompiledFxGraph", "Torch-Compiled Region"};
  return std::any_of(std::begin(kStarts), std::end(kStarts), [&](std::string_view start) { return name.starts_with(start); });
}

// The operator in `region` that begins first, or none: down the first branch that holds one.
SliceId first_operator(const Facts& facts, SliceId region) {
  SliceId at = region;
  while (at && (at == region || (facts.own(at) & kIsOp) == 0)) {
    const Trace& trace = facts.trace;
    const Lane& lane = trace.lane(at);
    const std::uint32_t depth = trace.depth(at) + 1;
    if (depth >= lane.depth_count) return {};
    SliceId child = facts.lanes.first_begin_at_or_after(trace.row_id(trace.lane_id(at), depth), trace.begin(at));
    while (child && trace.begin(child) < trace.end(region) && (facts.below(child) & kIsOp) == 0)
      child = facts.lanes.next_in_row(child);
    if (!child || trace.begin(child) >= trace.end(region)) return {};
    at = child;
  }
  return at;
}

struct Instance {
  SliceId region, op;
  Ns gap = 0;
};

std::map<StringId, std::vector<Instance>> instances_by_name(const Facts& facts) {
  std::map<StringId, std::vector<Instance>> out;
  for (const SliceId region : facts.slices_with(kIsAnnotation)) {
    if ((facts.own(region) & (kIsCompileFrame | kIsDataLoader)) != 0 || (facts.below(region) & kIsOp) == 0) continue;
    if (is_of_a_library(facts.trace.name(region))) continue;
    if (const SliceId op = first_operator(facts, region))
      out[facts.trace.name_id(region)].push_back({region, op, facts.trace.begin(op) - facts.trace.begin(region)});
  }
  return out;
}

struct Found {
  Instance first;
  Ns median = 0;
  std::size_t count = 0;
  double ratio() const { return static_cast<double>(first.gap) / static_cast<double>(std::max<Ns>(1, median)); }
};

// Nothing where the first instance is no exception.
std::optional<Found> judged(const Facts& facts, std::vector<Instance> instances) {
  if (instances.size() < kLeastInstances) return std::nullopt;
  std::sort(instances.begin(), instances.end(),
            [&](const Instance& a, const Instance& b) { return facts.trace.begin(a.region) < facts.trace.begin(b.region); });
  std::vector<Ns> rest;
  for (std::size_t i = 1; i < instances.size(); ++i) rest.push_back(instances[i].gap);
  const Found found = {instances.front(), median_of(std::move(rest)), instances.size()};
  if (found.first.gap < kLeastGap || found.ratio() < kLeastFirstGapRatio || (facts.own(found.first.op) & kIsAten) == 0)
    return std::nullopt;
  return found;
}

std::vector<Finding> check_annotation_first_op_gap(const Facts& facts) {
  std::vector<Found> all;
  for (auto& [name, instances] : instances_by_name(facts))
    if (const auto found = judged(facts, std::move(instances))) all.push_back(*found);
  if (all.empty()) return {};
  const Found& widest =
      *std::max_element(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.first.gap < b.first.gap; });
  const std::string_view name = facts.trace.name(widest.first.region), op = facts.trace.name(widest.first.op);
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("The first {} waited {} for its first operator, {}; the {} waited {}{}.", shown_name(name),
                                format_duration(widest.first.gap), shown_name(op),
                                widest.count == 2 ? "other" : fmt::format("other {}", widest.count - 1),
                                format_duration(widest.median), widest.count == 2 ? "" : " at the median");
  finding.evidence = Evidence({{"annotation", name},
                               {"first_gap_us", as_us(widest.first.gap)},
                               {"rest_median_us", as_us(widest.median)},
                               {"ratio", widest.ratio()},
                               {"n", widest.count},
                               {"op", op}});
  std::vector<FindingSpan> gaps;
  for (const Found& found : all) {
    finding.cost += found.first.gap - found.median;
    gaps.push_back({facts.trace.lane_id(found.first.region),
                    {facts.trace.begin(found.first.region), facts.trace.begin(found.first.op)},
                    SliceId{}});
  }
  mark_gaps(finding, std::move(gaps));
  return {std::move(finding)};
}

}  // namespace

extern const Rule annotation_first_op_gap = {
    .id = "annotation_first_op_gap",
    .rule_class = RuleClass::start_up,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "A region starts long before its first operator",
    .meaning =
        "The first operator comes late only in the first instance of this annotation. This is typical of one-time setup.",
    .remedy =
        "Warm up before recording (schedule(wait=1, warmup=1)){warm_up!}. If every instance has the gap, it is code before the "
        "operator.",
    .check = check_annotation_first_op_gap,
};

}  // namespace gapscope
