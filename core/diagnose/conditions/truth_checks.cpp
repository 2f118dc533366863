#include "core/diagnose/conditions/truth_checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/diagnose/conditions/recorded_calls.h"

namespace gapscope {
namespace {

std::optional<TruthCheck> reduction_of(std::string_view op) {
  if (op == "aten::any") return TruthCheck::any;
  if (op == "aten::all" || op == "aten::_is_all_true") return TruthCheck::all;
  return std::nullopt;
}

// What is computed for a check alone.
bool compares(std::string_view op) {
  constexpr std::array<std::string_view, 20> kOps = {
      "aten::isnan",       "aten::isinf",      "aten::isfinite",    "aten::eq",          "aten::ne",
      "aten::ge",          "aten::gt",         "aten::le",          "aten::lt",          "aten::logical_not",
      "aten::logical_and", "aten::logical_or", "aten::bitwise_not", "aten::bitwise_and", "aten::bitwise_or",
      "aten::__and__",     "aten::__or__",     "aten::any",         "aten::all",         "aten::_is_all_true"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

// Operators that lie in the same one as `read` and come right before it, the last first, while `is` says so.
template <class Is>
void each_before(const Facts& facts, const std::vector<SliceId>& ops, std::size_t read, Is is) {
  const SliceId around = facts.ancestor(ops[read], kIsOp);
  for (std::size_t i = read; i-- > 0;) {
    if (facts.trace.lane_id(ops[i]) != facts.trace.lane_id(ops[read])) return;
    if (ops[i] == around) return;
    if (facts.ancestor(ops[i], kIsOp) == around && !is(ops[i])) return;
  }
}

}  // namespace

std::vector<GpuBranch> gpu_branches(const Facts& facts) {
  const std::vector<SliceId> reads = cpu_slices_called(facts, "aten::is_nonzero", kIsOp);
  if (reads.empty()) return {};
  std::vector<SliceId> ops = facts.slices_with(kIsOp);
  const auto order = [&](SliceId s) {
    return std::tuple(facts.trace.lane_id(s), facts.trace.begin(s), -facts.trace.duration(s), s);
  };
  std::sort(ops.begin(), ops.end(), [&](SliceId a, SliceId b) { return order(a) < order(b); });
  std::vector<GpuBranch> out;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const SliceId read = ops[i];
    if (facts.trace.name(read) != "aten::is_nonzero" || (facts.below(read) & kIsSync) == 0) continue;
    if ((facts.above(read) & kIsCompileFrame) != 0) continue;
    std::optional<TruthCheck> check;
    bool is_finite = false;  // is what it asks
    SliceId first = read;
    each_before(facts, ops, i, [&](SliceId op) {
      const std::string_view name = facts.trace.name(op);
      if (!check && !(check = reduction_of(name))) return false;
      if (first != read && !compares(name)) return false;
      first = op;
      is_finite |= name == "aten::isnan" || name == "aten::isinf" || name == "aten::isfinite";
      return true;
    });
    if (check == TruthCheck::any && !is_finite) continue;
    if (check) out.push_back({read, {facts.trace.begin(first), facts.trace.end(read)}, *check});
  }
  return out;
}

}  // namespace gapscope
