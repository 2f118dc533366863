#pragma once
// What aten::matmul turned into.
#include <string_view>
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

// Operators aten::matmul that have an operator of this name as their direct child, in time order.
std::vector<SliceId> matmuls_with_child(const Facts& facts, std::string_view child);
// Operators of exactly this name.
std::size_t count_ops(const Facts& facts, std::string_view name);

}  // namespace gapscope
