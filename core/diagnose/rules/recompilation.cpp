#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/analyze/compiled/compile_id.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Dynamo notes for which K/M it compiles. A second attempt of one compilation (compile_attempt_1) is no second compilation.
constexpr std::string_view kFirstAttempt = "compile_attempt_0_data:";
constexpr std::string_view kCompileId = "compile_id=";

struct Seen {
  std::vector<CompileId> regions, compiles;  // distinct, later versions only
  std::vector<SliceId> slices;               // regions of later versions and compilations that came again
  std::vector<Span> compile_time;
};

void add_once(std::vector<CompileId>& ids, const CompileId& id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

void gather_regions(const Facts& facts, Seen& seen) {
  for (const SliceId s : compiled_regions(facts)) {
    const auto id = compile_id_of(facts.trace.name(s));
    if (!id || id->version == 0) continue;
    add_once(seen.regions, *id);
    seen.slices.push_back(s);
  }
}

void gather_compiles(const Facts& facts, Seen& seen) {
  if (facts.compile_frames.empty()) return;
  std::map<std::uint32_t, int> compiled;  // how often a frame was, in this window
  for (const StringId name : facts.names_matching([](std::string_view n) { return n.find(kCompileId) != n.npos; })) {
    const std::string_view text = facts.trace.strings[name];
    const auto id = compile_id_of(text);
    if (!id) continue;
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & (kIsOp | kIsAnnotation)) == 0) continue;
      const bool again = text.starts_with(kFirstAttempt) && ++compiled[id->frame] > 1;
      if (id->version == 0 && !again) continue;
      add_once(seen.compiles, *id);
      const SliceId outer = facts.outermost(s, kIsCompileFrame);
      const SliceId compile = outer ? outer : s;
      seen.compile_time.push_back(facts.trace.span_of(compile));
      if (again || text.starts_with(kFirstAttempt)) seen.slices.push_back(compile);
    }
  }
}

// The first operator with recorded shapes in each version of a piece.
struct FirstOp {
  StringId name, dims;
  Ns begin = 0;
};
std::map<CompileId, FirstOp> first_ops(const Facts& facts) {
  std::map<CompileId, FirstOp> out;
  for (const OpRow& row : facts.trace.ops) {
    if (!row.input_dims.valid() || (facts.own(row.slice) & kIsAten) == 0) continue;
    const SliceId region = facts.ancestor(row.slice, kIsRegion);
    const auto id = region ? compile_id_of(facts.trace.name(region)) : std::nullopt;
    if (!id) continue;
    const FirstOp op{facts.trace.name_id(row.slice), row.input_dims, facts.trace.begin(row.slice)};
    const auto [at, is_new] = out.try_emplace(*id, op);
    if (!is_new && op.begin < at->second.begin) at->second = op;
  }
  return out;
}

// " Between versions 0/0 and 0/1 the inputs of aten::mm went from ... to ...": the guard, where shapes are recorded.
std::string changed_shapes(const Facts& facts) {
  const auto ops = first_ops(facts);
  for (auto a = ops.begin(); a != ops.end(); ++a) {
    const auto b = std::next(a);
    if (b == ops.end() || a->first.frame != b->first.frame || a->second.name != b->second.name ||
        a->second.dims == b->second.dims)
      continue;
    return fmt::format(" Between versions {} and {} the inputs of {} changed from {} to {}.", to_text(a->first),
                       to_text(b->first), printable(facts.trace.strings[a->second.name]),
                       shown_name(facts.trace.strings[a->second.dims]), shown_name(facts.trace.strings[b->second.dims]));
  }
  return {};
}

EvidenceList texts_of(std::vector<CompileId> ids) {
  std::sort(ids.begin(), ids.end());
  EvidenceList out;
  for (const CompileId& id : ids) out.emplace_back(to_text(id));
  return out;
}

std::vector<Finding> check_recompilation(const Facts& facts) {
  Seen seen;
  gather_regions(facts, seen);
  gather_compiles(facts, seen);
  if (seen.regions.empty() && seen.compiles.empty()) return {};
  Finding finding;
  const bool in_window = !seen.compiles.empty();
  finding.severity = in_window ? Severity::costly : Severity::notable;
  finding.cost = length(span_set(std::move(seen.compile_time)));
  const std::vector<CompileId>& ids = seen.regions.empty() ? seen.compiles : seen.regions;
  const auto latest =
      std::max_element(ids.begin(), ids.end(), [](const CompileId& a, const CompileId& b) { return a.version < b.version; });
  finding.summary =
      in_window
          ? fmt::format("Compiled function {} was recompiled during the recording, up to version {}: {} of compiling.",
                        latest->frame, latest->version, format_duration(finding.cost))
          : fmt::format("Compiled function {} runs in version {}, so it was compiled {} before the recording.", latest->frame,
                        latest->version, latest->version == 1 ? "twice" : fmt::format("{} times", latest->version + 1));
  finding.summary += changed_shapes(facts);
  finding.evidence.add("regions", texts_of(seen.regions));
  finding.evidence.add("compile_ids", texts_of(seen.compiles));
  std::sort(seen.slices.begin(), seen.slices.end(), [](SliceId a, SliceId b) { return a.value < b.value; });
  seen.slices.erase(std::unique(seen.slices.begin(), seen.slices.end()), seen.slices.end());
  mark_slices(finding, facts.trace, seen.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule recompilation = {
    .id = "recompilation",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators,
    .title = "A function was recompiled",
    .meaning =
        "The guards of a compiled function failed, so another version was compiled: the second number of K/M is above 0. The "
        "first number only identifies the function.",
    .remedy =
        "Mark the dimension that changes as dynamic (torch._dynamo.mark_dynamic, or dynamic=True), or use fixed shapes and "
        "types. TORCH_LOGS=recompiles names the guard that failed.",
    .check = check_recompilation,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::compiling}), .turn = 130},
    .gives = {Cure::idle},
};

}  // namespace gapscope
