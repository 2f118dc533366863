#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/matmul_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_matmul_to_bmm(const Facts& facts) {
  std::vector<SliceId> calls = matmuls_with_child(facts, "aten::bmm");
  if (calls.empty()) return {};
  const std::size_t all = count_ops(facts, "aten::bmm");
  Finding finding;
  finding.summary = fmt::format("{} of aten::matmul became {}", counted(calls.size(), "call"),
                                calls.size() == 1 ? "a batched product." : "batched products.");
  if (all > calls.size()) finding.summary += fmt::format(" aten::bmm was called {} in total.", often(all));
  finding.evidence = Evidence({{"n", calls.size()}, {"bmm_total", all}});
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule matmul_to_bmm = {
    .id = "matmul_to_bmm",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "matmul became a batched matrix product",
    .meaning =
        "An operand has three or more dimensions, so matmul called aten::bmm, usually with expand and reshape before it and a "
        "view after it.",
    .remedy = "If the batch is really one tall matrix, reshape it to two dimensions. One larger product fills the GPU better.",
    .check = check_matmul_to_bmm,
};

}  // namespace gapscope
