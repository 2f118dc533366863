#pragma once
// Copies of single values: what .item(), an if on a tensor or a count of elements needs. Nothing overlaps them.
#include <cstdint>
#include <string_view>

#include "core/diagnose/facts.h"

namespace gapscope {

constexpr std::uint64_t kMostBytesOfValue = 16;  // a complex number of doubles

inline bool is_value_copy(const Facts& facts, const GpuOp& op) {
  if (op.gpu_class != GpuClass::copy) return false;
  const std::uint64_t bytes = facts.row(op).bytes;
  if (bytes > 0) return bytes <= kMostBytesOfValue && facts.trace.kind(op.slice) == Kind::memcpy;
  const SliceId around = op.linked() ? facts.ancestor(op.launch, kIsOp) : SliceId{};
  return around && facts.trace.name(around) == "aten::_local_scalar_dense";
}

}  // namespace gapscope
