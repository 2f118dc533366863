#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/rules/addmm_calls.h"
#include "core/diagnose/rules/conditions.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {
namespace {

// nvjet's "badd" adds onto what is already in the output: somebody had to put the bias there.
bool accumulates(std::string_view kernel) { return kernel.starts_with("nvjet") && kernel.find("_badd_") != std::string_view::npos; }

std::vector<Finding> check(const Facts& facts) {
  std::vector<SliceId> calls;
  std::uint32_t first = 0;  // in time, as an example
  for (const AddmmCall& call : addmm_calls(facts)) {
    const GpuOp& op = facts.ops[call.main];
    if (call.needed != 1 || !op.is_kernel() || accumulates(facts.name(op))) continue;
    if (calls.empty() || call.main < first) first = call.main;
    calls.push_back(call.op);
  }
  if (calls.empty()) return {};
  const GpuOp& example = facts.ops[first];
  Finding finding;
  finding.summary =
      fmt::format("{} calls of aten::addmm needed one kernel each, so the bias cost no kernel of its own; for example {} with {}.",
                  shown_count(calls.size()), shown_name(facts.name(example)), format_duration(example.span.length()));
  finding.evidence = Evidence({{"n", calls.size()}, {"kernel", printable(facts.name(example))}});
  finding.spans = spans_of_slices(facts.trace, std::move(calls));
  return {std::move(finding)};
}

}  // namespace

const Rule gemm_bias_epilogue = {
    "gemm_bias_epilogue", RuleClass::good_sign, Severity::informational, kNeedsLaunches | kNeedsOperators,
    "The bias is added inside the matmul kernel",
    "The library adds the bias while it stores the result, so the addition costs no extra kernel and no extra pass over memory.",
    "Leave it alone; torch.compile has nothing to win on such a layer.",
    check};

}  // namespace gapscope
