#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/addmm_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_addmm_dispatch_fusion(const Facts& facts) {
  std::vector<SliceId> calls;
  std::map<std::uint32_t, std::size_t> calls_with;  // number of GPU operations -> calls
  for (const AddmmCall& call : addmm_calls(facts)) {
    if (call.gemms == 0) continue;
    calls.push_back(call.op);
    ++calls_with[call.gpu_ops];
  }
  if (calls.empty()) return {};
  Finding finding;
  EvidenceMap per_call;
  std::string counts;
  for (const auto& [ops, count] : calls_with) {
    per_call.emplace_back(std::to_string(ops), count);
    counts += fmt::format("{}{} {} {}", counts.empty() ? "" : ", ", calls_with.size() == 1 ? "Each" : shown_count(count),
                          calls_with.size() == 1 || count == 1 ? "starts" : "start", counted(ops, "GPU operation"));
  }
  finding.summary = fmt::format("{} of aten::addmm {} and {} in one operator. {}.", counted(calls.size(), "call"),
                                calls.size() == 1 ? "multiplies" : "multiply", calls.size() == 1 ? "adds" : "add", counts);
  finding.evidence.add("n", calls.size());
  finding.evidence.add("gpu_ops_per_call", std::move(per_call));
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule addmm_dispatch_fusion = {
    .id = "addmm_dispatch_fusion",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "One operator multiplies and adds",
    .meaning =
        "aten::addmm does both. The GPU still runs one library GEMM, sometimes with a copy of the bias, a memset or a second "
        "kernel.",
    .remedy = "Look at the GPU operations of one call. If there is only one, the addition is free.",
    .check = check_addmm_dispatch_fusion,
};

}  // namespace gapscope
