#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/analyze/compiled/compile_id.h"
#include "core/analyze/compiled/graph_breaks.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/graph_breaks_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// The pieces, a version each, in the order in which they first ran.
std::vector<CompileId> ids_of(const Facts& facts, const std::vector<GraphBreak>& breaks) {
  std::vector<CompileId> ids;
  const auto add = [&](SliceId s) {
    const auto id = compile_id_of(facts.trace.name(s));
    if (id && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  };
  for (const GraphBreak& b : breaks) add(b.from), add(b.to);
  return ids;
}

std::size_t pieces_of(const std::vector<CompileId>& ids) {
  std::set<std::uint32_t> frames;
  for (const CompileId& id : ids) frames.insert(id.frame);
  return frames.size();
}

// Calls of an operator in these places.
std::size_t calls_in(const Facts& facts, const std::vector<FindingSpan>& places, std::string_view op) {
  const std::vector<SliceId> called = cpu_slices_called(facts, op, kIsOp);
  return static_cast<std::size_t>(std::count_if(called.begin(), called.end(), [&](SliceId s) {
    return std::any_of(places.begin(), places.end(), [&](const FindingSpan& place) {
      return place.lane == facts.trace.lane_id(s) && !intersect(place.span, facts.trace.span_of(s)).empty();
    });
  }));
}

std::vector<Finding> check_graph_breaks(const Facts& facts) {
  const std::vector<GraphBreak> breaks = graph_breaks_in(facts);
  if (breaks.empty()) return {};
  Finding finding;
  finding.severity = Severity::costly;
  std::vector<FindingSpan> gaps;
  for (const GraphBreak& b : breaks) {
    add_saturating(finding.cost, b.between.length() - length_within(facts.compile_time, b.between));  // a finding of its own
    gaps.push_back({facts.trace.lane_id(b.to), b.between, SliceId{}});
  }
  const std::vector<CompileId> pieces = ids_of(facts, breaks);
  finding.summary = fmt::format("Calls of {}: {} one ended and Python ran until the next one, {} of host time in total.",
                                counted(pieces_of(pieces), "compiled function"),
                                breaks.size() == 1 ? "once" : counted(breaks.size(), "time"), format_duration(finding.cost));
  // What breaks most of them, where the file shows it.
  const std::size_t reads = calls_in(facts, gaps, "aten::_local_scalar_dense");
  if (2 * reads >= breaks.size()) {
    finding.summary += fmt::format(" A tensor value is read {} in between.", often(reads));
    const bool branches = 2 * calls_in(facts, gaps, "aten::is_nonzero") > reads;  // bool(tensor)
    finding.advice = advice_of(
        branches
            ? "A branch on a tensor's value ends the compiled function. Choose between tensors with torch.where(), or compile "
              "both branches with torch.cond(). fullgraph=True fails at the first graph break. TORCH_LOGS=graph_breaks lists "
              "all of them."
            : "Move .item(), print and branches on tensor values out of the compiled function: collect the tensors, and read "
              "them after the step. fullgraph=True fails at the first graph break. TORCH_LOGS=graph_breaks lists all of them.");
    finding.code = branches ? "y = torch.where(condition, a, b)  # for if condition: y = a"
                            : "values.append(x.detach())  # instead of x.item()";
  }
  EvidenceList ids;
  for (const CompileId& id : pieces) ids.emplace_back(to_text(id));
  finding.evidence.add("ids", std::move(ids));
  finding.evidence.add("breaks", breaks.size());
  finding.evidence.add("reads", reads);
  finding.evidence.add("between_us", as_us(finding.cost));
  mark_gaps(finding, std::move(gaps));
  return {std::move(finding)};
}

}  // namespace

extern const Rule graph_breaks = {
    .id = "graph_breaks",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "A graph break splits a compiled function",
    .meaning =
        "Compiled functions follow each other with Python between them. Each has its own guards and wrappers. Usually the code "
        "in between cannot be compiled: a print, or a branch on a tensor's value.",
    .remedy = "Compile with fullgraph=True, which fails at the first graph break. TORCH_LOGS=graph_breaks lists all of them.",
    .check = check_graph_breaks,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 146, .explains = {"overhead_bound", "many_small_kernels"}},
    .gives = {.cure = Cure::graph, .fuses = true},  // a bound: pieces that are compiled together launch no faster
};

}  // namespace gapscope
