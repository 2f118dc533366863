#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Kernels only: operators of this name also cover the fallback in plain products.
std::vector<Finding> check_fused_attention(const Facts& facts) {
  std::vector<StringId> names;
  std::vector<SliceId> slices;
  Ns time = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.is_kernel() || !is_fused_attention(facts.decoded(op))) continue;
    const StringId name = facts.trace.name_id(op.slice);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    slices.push_back(op.slice);
    if (op.linked()) add_saturating(time, op.span.length());
  }
  if (slices.empty()) return {};
  const double share = share_of(time, facts.gpu_sum);
  EvidenceList list;
  for (const StringId name : names) list.emplace_back(facts.trace.strings[name]);
  const std::string backend = facts.decoded(names.front()).family;
  const auto count = static_cast<std::int64_t>(slices.size());
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary =
      fmt::format("{} fused attention {}{} take {} of the GPU time.", format_count(count), count == 1 ? "kernel" : "kernels",
                  backend.empty() ? "" : " (" + backend + ")", format_share(share));
  finding.evidence = Evidence({{"kernels", count}, {"names", std::move(list)}, {"share", share}, {"backend", backend}});
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule fused_attention = {
    .id = "fused_attention",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork,
    .title = "A fused attention kernel is in use",
    .meaning = "Attention runs in one kernel, and its scores stay on the chip.",
    .remedy = "Nothing to do.",
    .check = check_fused_attention,
};

}  // namespace gapscope
