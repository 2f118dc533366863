#pragma once
// A trace with the counters of another file of the same time: `gapscope record --counters-only` around a program that PyTorch's
// profiler records keeps the counters, PyTorch's file keeps the operators and kernels.
#include <string>
#include <string_view>

#include "core/load/crop.h"

namespace gapscope {

struct MergedCounters {
  CropFigures written;
  std::uint64_t events = 0;  // of counters, added to those of the trace
};

// Writes all of `trace`, its events' text as it is, and the counters of GPUs in `counters` that lie in its time (with those in
// force where it begins), on its own axis: both files say when their time 0 was (baseTimeNanoseconds). An Error where one of
// them does not, where they are not of one time, or where the trace knows none of those GPUs or has such counters already.
// `output.stamp` is that of the trace.
Result<MergedCounters> merge_counters(const Trace& trace, const Trace& counters, const std::string& out,
                                      const CropOutput& output = {});

// Whether a file has counters of a GPU and no slices, as `gapscope record --counters-only` writes it.
bool holds_counters_alone(const Trace& trace);
// For who opened such a file: what to do with it. `trace`: the path of the other file, or a word for it.
std::string counters_alone_words(const Trace& counters, std::string_view trace);

}  // namespace gapscope
