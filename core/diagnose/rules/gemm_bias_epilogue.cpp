#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/addmm_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// It adds onto what is already in the output: the bias was put there before.
bool accumulates(const KernelName& kernel) { return kernel.epilogue.find("accumulate") != std::string::npos; }

std::vector<Finding> check_gemm_bias_epilogue(const Facts& facts) {
  std::vector<SliceId> calls;
  std::uint32_t first = 0;  // in time, as an example
  bool split_k = false;
  for (const AddmmCall& call : addmm_calls(facts)) {
    const GpuOp& op = facts.ops[call.main];
    if (call.needed != 1 || !op.is_kernel() || accumulates(facts.decoded(op))) continue;
    if (calls.empty() || call.main < first) first = call.main;
    calls.push_back(call.op);
    split_k |= call.split_k;
  }
  if (calls.empty()) return {};
  const GpuOp& example = facts.ops[first];
  Finding finding;
  finding.summary =
      fmt::format("{} of aten::addmm needed one kernel{}{}, so the bias had no extra kernel. Example: {} with {}.",
                  counted(calls.size(), "call"), calls.size() == 1 ? "" : " each",
                  split_k ? ", besides the one that adds up the parts of a split-K product" : "",
                  shown_kernel(facts.name(example)), format_duration(example.span.length()));
  finding.evidence = Evidence({{"n", calls.size()}, {"kernel", printable(facts.name(example))}});
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gemm_bias_epilogue = {
    .id = "gemm_bias_epilogue",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "The bias is added inside the matmul kernel",
    .meaning =
        "The library adds the bias when it stores the result. The addition needs no extra kernel and no extra pass over "
        "memory.",
    .remedy = "Nothing to do: there is nothing to fuse.",
    .check = check_gemm_bias_epilogue,
    .other_remedy = "Nothing to do.",
};

}  // namespace gapscope
