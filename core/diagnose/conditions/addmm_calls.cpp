#include "core/diagnose/conditions/addmm_calls.h"

#include <algorithm>

namespace gapscope {

std::vector<AddmmCall> addmm_calls(const Facts& facts) {
  std::vector<AddmmCall> calls;
  const auto names = facts.names_matching([](std::string_view n) { return n == "aten::addmm"; });
  if (names.empty()) return calls;
  std::vector<std::pair<SliceId, std::uint32_t>> owned;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const SliceId owner = facts.gpu[i].owner;
    if (owner && facts.trace.name_id(owner) == names.front() && (facts.own(owner) & kIsOp))
      owned.emplace_back(owner, static_cast<std::uint32_t>(i));
  }
  std::sort(owned.begin(), owned.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.value, a.second) < std::pair(b.first.value, b.second);
  });
  for (const auto& [owner, i] : owned) {
    if (calls.empty() || calls.back().op != owner) calls.push_back({owner, 0, 0, 0, false, i});
    AddmmCall& call = calls.back();
    const GpuOp& op = facts.ops[i];
    const KernelName& decoded = facts.decoded(op);
    ++call.gpu_ops;
    if (facts.gpu[i].family == RuleFamily::gemm) ++call.gemms;
    const bool adds_parts = decoded.kind == KernelKind::reduction && !decoded.split_k.empty();
    call.split_k |= adds_parts;
    if (op.gpu_class == GpuClass::memset || adds_parts) continue;
    ++call.needed;
    call.main = i;
  }
  return calls;
}

}  // namespace gapscope
