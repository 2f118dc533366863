#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastAnomalyChecks = 8;
constexpr double kLeastChecked = 0.5;  // of the nodes that launch work: hooks of the program are at some of them
// Between the begin of an operator with a node in the backward pass and its first call, without and with a stack.
constexpr Ns kBeforeWork = 20 * kNsPerUs;
constexpr std::string_view kNodeOfBackward = "autograd::engine::evaluate_function: ";

// Where the autograd engine checks what a node gave: isnan, any and item right after the node's function, each without a frame.
std::vector<Span> checks_after(const Facts& facts, SliceId node, const std::vector<SliceId>& ops) {
  std::vector<Span> out;
  const std::string_view function = facts.trace.name(node).substr(kNodeOfBackward.size());
  std::size_t i = 0;
  while (i < ops.size() && facts.trace.name(ops[i]) != function) ++i;
  for (; i + 2 < ops.size(); ++i) {
    const std::string_view any = facts.trace.name(ops[i + 1]);
    if (facts.trace.name(ops[i]) != "aten::isnan" || (any != "aten::any" && any != "aten::_is_any_true") ||
        facts.trace.name(ops[i + 2]) != "aten::item" || (facts.below(ops[i + 2]) & kIsSync) == 0)
      continue;
    out.push_back({facts.trace.begin(ops[i]), facts.trace.end(ops[i + 2])});
    i += 2;
  }
  return out;
}

struct AnomalyChecks {
  std::vector<FindingSpan> places;
  std::size_t nodes = 0, checked = 0;
};

AnomalyChecks anomaly_checks(const Facts& facts) {
  const std::vector<SliceId> nodes = cpu_slices_called(facts, kNodeOfBackward, kIsOp);
  if (nodes.empty() || cpu_slices_called(facts, "aten::isnan", kIsOp).empty()) return {};
  std::unordered_map<std::size_t, std::vector<SliceId>> by_node;
  for (const SliceId s : facts.slices_with(kIsOp))
    if (const SliceId node = facts.parent(s); node && facts.trace.name(node).starts_with(kNodeOfBackward))
      by_node[node.index()].push_back(s);  // in time order: they are of one depth
  AnomalyChecks out;
  for (const SliceId node : nodes) {
    const std::vector<SliceId>& ops = by_node[node.index()];
    const auto launches = [&](SliceId s) { return (facts.below(s) & kIsLaunch) != 0; };
    if ((facts.above(node) & kIsCompileFrame) != 0 || std::none_of(ops.begin(), ops.end(), launches)) continue;
    const std::vector<Span> checks = checks_after(facts, node, ops);
    out.nodes += 1;
    out.checked += checks.empty() ? 0 : 1;
    for (const Span check : checks) out.places.push_back({facts.trace.lane_id(node), check, SliceId{}});
  }
  return out;
}

// Where forward operators write down the Python stack: the frames that do it, or the time before an operator's work begins.
std::vector<FindingSpan> stacks_written(const Facts& facts) {
  std::vector<FindingSpan> out;
  for (const StringId name : facts.names_matching([](std::string_view frame) { return frame.ends_with("): format_stack"); }))
    for (const SliceId s : facts.names.slices_named(name))
      if (const SliceId op = facts.parent(s); op && (facts.own(op) & kIsOp) != 0)
        out.push_back({facts.trace.lane_id(s), facts.trace.span_of(s), s});
  if (!out.empty()) return out;
  std::unordered_map<std::size_t, Ns> begins;  // of the first operator or call in an operator
  for (const SliceId s : facts.slices_with(kIsOp | kIsCall))
    if (const SliceId op = facts.parent(s); op && (facts.own(op) & kIsOp) != 0) {
      const Ns begin = facts.trace.begin(s);
      Ns& first = begins.try_emplace(op.index(), begin).first->second;
      first = std::min(first, begin);
    }
  for (const OpRow& row : facts.trace.ops) {
    const SliceId s = row.slice;
    if (row.sequence < 0 || (facts.own(s) & kIsAten) == 0 || (facts.above(s) & kIsCompileFrame) != 0) continue;
    if (const SliceId outer = facts.outermost(s, kIsOp); outer && facts.trace.name(outer).starts_with(kNodeOfBackward))
      continue;
    const auto first = begins.find(s.index());
    const Ns end = (first == begins.end() ? facts.trace.end(s) : first->second) - kBeforeWork;
    if (end > facts.trace.begin(s)) out.push_back({facts.trace.lane_id(s), {facts.trace.begin(s), end}, SliceId{}});
  }
  return out;
}

Ns time_of(const std::vector<FindingSpan>& places) {
  Ns out = 0;
  for (const FindingSpan& place : places) add_saturating(out, place.span.length());
  return out;
}

std::vector<Finding> check_anomaly_detection(const Facts& facts) {
  AnomalyChecks found = anomaly_checks(facts);
  if (found.places.size() < kLeastAnomalyChecks ||
      share_of(static_cast<Ns>(found.checked), static_cast<Ns>(found.nodes)) < kLeastChecked)
    return {};
  const std::vector<FindingSpan> stacks = stacks_written(facts);
  const Ns checking = time_of(found.places), writing = time_of(stacks);
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = sum_saturating(checking, writing);
  finding.summary = fmt::format("{} of the backward pass for NaN made the host wait for the GPU: {} on the host.{}",
                                sentence_start(counted(found.places.size(), "check")), format_duration(checking),
                                stacks.empty() ? ""
                                               : fmt::format(" The forward pass recorded Python's stack {}: {}.",
                                                             often(stacks.size()), format_duration(writing)));
  finding.evidence = Evidence(
      {{"n", found.places.size()}, {"total_us", as_us(checking)}, {"stacks", stacks.size()}, {"stacks_us", as_us(writing)}});
  if (!facts.steps.empty())
    finding.evidence.add("per_step", static_cast<double>(found.places.size()) / static_cast<double>(facts.step_count()));
  found.places.insert(found.places.end(), stacks.begin(), stacks.end());
  std::vector<Span> spans;
  for (const FindingSpan& place : found.places) spans.push_back(place.span);
  finding.spared = span_set(std::move(spans));
  mark_gaps(finding, std::move(found.places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule anomaly_detection = {
    .id = "anomaly_detection",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Anomaly detection is on",
    .meaning =
        "torch.autograd.set_detect_anomaly(True) tests each gradient for NaN and waits for the answer. Each operator of the "
        "forward pass also records the Python stack.",
    .remedy = "Switch anomaly detection off. Switch it on only to look for the origin of a NaN.",
    .check = check_anomaly_detection,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 34, .explains = {"many_small_kernels", "overhead_bound", "host_gaps"}},
    .evidence_names = {{{"stacks", "stacks written down"}, {"stacks_us", "time to write them"}}},
    .code = "torch.autograd.set_detect_anomaly(False)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
