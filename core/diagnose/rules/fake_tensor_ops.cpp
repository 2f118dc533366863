#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_fake_tensor_ops(const Facts& facts) {
  if (facts.compile_frames.empty()) return {};
  const auto names =
      facts.names_matching([](std::string_view n) { return n.starts_with("aten::") || n.starts_with("prims::"); });
  std::vector<SliceId> traced;
  for (const StringId name : names)
    for (const SliceId s : facts.names.slices_named(name))
      if ((facts.own(s) & kIsOp) && (facts.above(s) & kIsCompileFrame) && (facts.below(s) & kIsLaunch) == 0)
        traced.push_back(s);
  if (traced.empty()) return {};
  Finding finding;
  finding.summary = fmt::format("{} inside the compiler launched nothing. The compiler traced them with tensors without data.",
                                counted(traced.size(), "operator"));
  finding.evidence.add("n", traced.size());
  mark_slices(finding, facts.trace, traced);
  return {std::move(finding)};
}

}  // namespace

extern const Rule fake_tensor_ops = {
    .id = "fake_tensor_ops",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "Operators that the compiler only traced",
    .meaning =
        "The compiler runs operators on tensors without data to get shapes and types. They launch nothing. The work did not "
        "move to the CPU.",
    .remedy = "Ignore them.",
    .check = check_fake_tensor_ops,
};

}  // namespace gapscope
