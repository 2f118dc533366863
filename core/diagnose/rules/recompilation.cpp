#include <algorithm>
#include <map>

#include <fmt/format.h>

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
      in_window ? fmt::format("Piece {} was compiled again while recording, up to version {}: {} of compiling.", latest->frame,
                              latest->version, format_duration(finding.cost))
                : fmt::format("Piece {} runs in version {}, so it had been compiled {} before the recording.", latest->frame,
                              latest->version, latest->version == 1 ? "twice" : fmt::format("{} times", latest->version + 1));
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
    .title = "A function was compiled more than once",
    .meaning =
        "The guards of a compiled function failed and another version was made: the second number of K/M is above 0. The first "
        "number only tells which piece of code it is.",
    .remedy =
        "Keep shapes and types the same, or mark the dimension that changes as dynamic. TORCH_LOGS=recompiles tells which "
        "guard failed.",
    .check = check_recompilation,
    .claim = Claim{.time = ClaimedTime::idle, .causes = cause_set({IdleCause::compiling}), .turn = 130},
};

}  // namespace gapscope
