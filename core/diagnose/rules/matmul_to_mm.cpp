#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/matmul_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_matmul_to_mm(const Facts& facts) {
  std::vector<SliceId> calls = matmuls_with_child(facts, "aten::mm");
  if (calls.empty()) return {};
  Finding finding;
  finding.summary =
      fmt::format("{} became aten::mm: one product of two matrices{}.",
                  sentence_start(counted_of(calls.size(), count_ops(facts, "aten::matmul"), "call of aten::matmul")),
                  calls.size() == 1 ? "" : " each");
  finding.evidence.add("n", calls.size());
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule matmul_to_mm = {
    .id = "matmul_to_mm",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "matmul became a plain matrix product",
    .meaning = "Both operands are matrices, or a batch was folded into one, so matmul called aten::mm.",
    .remedy = "Nothing to do.",
    .check = check_matmul_to_mm,
};

}  // namespace gapscope
