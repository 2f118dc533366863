#pragma once
// One arg of many slices, in one pass over the file, on as many threads as there are.
#include <atomic>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/trace/arg_texts.h"
#include "core/trace/trace.h"

namespace gapscope {

// `slices`: in any order. JSON text of each value. An Error where the file cannot be read any more, or "Cancelled.".
Result<ArgTexts> read_arg(const Trace& trace, std::vector<SliceId> slices, std::string_view member, int threads,
                          const std::atomic<bool>* cancel = nullptr);

// "Concrete Inputs" of slices, on all cores: what the table of work asks for (core/analyze/work). Empty where the file cannot
// be read any more. `cancel` must outlive it.
std::function<ArgTexts(const Trace& trace, std::vector<SliceId> slices)> concrete_inputs(
    const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
