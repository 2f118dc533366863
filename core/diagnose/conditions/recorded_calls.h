#pragma once
// Calls of operators by name, and what was recorded of their inputs.
#include <optional>
#include <string_view>
#include <vector>

#include "core/analyze/work/work_call.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// Slices with one of the bits whose name starts with `prefix`, in time order, without a scan over all slices.
std::vector<SliceId> cpu_slices_called(const Facts& facts, std::string_view prefix, std::uint32_t bits);
// Sizes and types of an operator's inputs; none where they are not recorded.
std::optional<WorkCall> recorded_call(const Facts& facts, SliceId op);

}  // namespace gapscope
