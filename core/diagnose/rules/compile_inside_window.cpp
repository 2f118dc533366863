#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/compiled/compile_id.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// From here on the compiler shows in every total of the recording.
constexpr double kSevereShare = 0.10;

// K/M with M above 0, of regions that ran and of what Dynamo compiled.
std::size_t later_versions(const Facts& facts) {
  std::vector<CompileId> ids;
  for (const StringId name : facts.names_matching([](std::string_view n) { return compile_id_of(n).has_value(); }))
    if (const auto id = compile_id_of(facts.trace.strings[name]); id && id->version > 0) ids.push_back(*id);
  std::sort(ids.begin(), ids.end());
  return static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
}

std::vector<Finding> check_compile_inside_window(const Facts& facts) {
  if (facts.compile_frames.empty()) return {};
  const auto shorter = [&](SliceId a, SliceId b) { return facts.trace.duration(a) < facts.trace.duration(b); };
  const SliceId longest = *std::max_element(facts.compile_frames.begin(), facts.compile_frames.end(), shorter);
  Finding finding;
  finding.severity = facts.compile_share >= kSevereShare ? Severity::costly : Severity::notable;
  finding.cost = length(facts.compile_time);
  const AccountTimes* times = account_times(facts);
  const Ns waited = times != nullptr ? times->of(IdleCause::compiling) : 0;
  finding.summary = fmt::format("The compiler ran for {}, {} of the recorded window{}. Its longest part was {} with {}.",
                                format_duration(finding.cost), format_share(facts.compile_share),
                                waited > 0 ? ". The GPU waited for it for " + format_duration(waited) : "",
                                shown_name(facts.trace.name(longest)), format_duration(facts.trace.duration(longest)));
  finding.evidence = Evidence({{"total_us", as_us(finding.cost)},
                               {"share_of_window", facts.compile_share},
                               {"frames", facts.compile_frames.size()},
                               {"longest", printable(facts.trace.name(longest))}});
  if (const std::size_t versions = later_versions(facts); versions > 0)
    finding.advice = plain_advice(fmt::format(
        "A warm-up does not help while shapes keep changing: the recording has {} of compiled code. Compile with dynamic=True, "
        "or mark the dimension that changes (torch._dynamo.mark_dynamic). TORCH_LOGS=recompiles names the guard that failed.",
        counted(versions, "later version")));
  std::vector<SliceId> outer;
  for (const SliceId s : facts.compile_frames)
    if ((facts.above(s) & kIsCompileFrame) == 0) outer.push_back(s);
  mark_slices(finding, facts.trace, outer);
  return {std::move(finding)};
}

}  // namespace

extern const Rule compile_inside_window = {
    .id = "compile_inside_window",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsNothing,
    .title = "torch.compile ran during the recording",
    .meaning =
        "Dynamo, AOTAutograd or Inductor ran during the recording, so the times describe the compiler and not the program.",
    .remedy = "Call the compiled function a few times before the profiler starts.",
    .check = check_compile_inside_window,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = cause_set({IdleCause::compiling}),
                   .inside = false,
                   .turn = 10,
                   .explains = {kEveryProblem}},
    .gives = {Cure::host, true},
};

}  // namespace gapscope
