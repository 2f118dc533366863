#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/diagnose/rules/conditions.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {
namespace {

// Kernels only: operators of this name also cover the fallback in plain products. reshape_and_cache_flash is a copy.
bool is_fused_attention_name(std::string_view kernel) {
  return has_any_part(kernel, "flash_fwd", "flash_bwd", "flash_fprop", "flash_bprop", "fmha", "sdpa", "attn_fwd", "efficient_attention");
}

std::string_view backend_of(std::string_view kernel) {
  if (has_any_part(kernel, "cudnn")) return "cuDNN";
  if (has_any_part(kernel, "fmha", "efficient_attention")) return "FMHA";
  return has_any_part(kernel, "flash") ? "flash attention" : "attention kernel";
}

std::vector<Finding> check(const Facts& facts) {
  std::vector<std::int8_t> known(facts.trace.strings.size(), -1);
  std::vector<StringId> names;
  std::vector<SliceId> slices;
  Ns time = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.is_kernel()) continue;
    const StringId name = facts.trace.name_id(op.slice);
    std::int8_t& is = known[name.index()];
    if (is < 0) {
      is = is_fused_attention_name(facts.trace.strings[name]) ? 1 : 0;
      if (is == 1) names.push_back(name);
    }
    if (is == 0) continue;
    slices.push_back(op.slice);
    time += op.linked() ? op.span.length() : 0;
  }
  if (slices.empty()) return {};
  const double share = share_of(time, facts.gpu_sum);
  EvidenceList list;
  for (const StringId name : names) list.emplace_back(facts.trace.strings[name]);
  const std::string_view backend = backend_of(facts.trace.strings[names.front()]);
  const auto count = static_cast<std::int64_t>(slices.size());
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("{} fused attention {} ({}) with {} of the GPU time.", format_count(count), count == 1 ? "kernel" : "kernels",
                                backend, format_percent(share));
  finding.evidence = Evidence({{"kernels", count}, {"names", std::move(list)}, {"share", share}, {"backend", backend}});
  finding.spans = spans_of_slices(facts.trace, std::move(slices));
  return {std::move(finding)};
}

}  // namespace

const Rule fused_attention = {
    "fused_attention", RuleClass::good_sign, Severity::informational, kNeedsGpuWork,
    "A fused attention kernel is in use",
    "Attention runs in one kernel that keeps the scores on the chip.",
    "Nothing here.",
    check};

}  // namespace gapscope
