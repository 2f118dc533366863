#pragma once
// Changes from names and factors, as GAIN.md lists them and people write them.
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/replay/replay.h"

namespace gapscope {

// Factors are 0 or more, 0.5 is half of the time; those of one list that are above 1 multiply to no more than this,
// with which the longest recording that is replayed still fits 64 bits.
constexpr double kMostFactor = 1000;

// GPU work takes `factor` times as long as with `change` so far: all of it, and that whose whole name matches RE2's `pattern`,
// which must be that of some work.
void scale_gpu(const ReplayModel& model, double factor, Change& change);
Result<std::size_t> scale_kernels(const ReplayModel& model, const Trace& trace, std::string_view pattern, double factor,
                                  Change& change);  // how many
// These operations, by position in ReplayModel::ops(), take `factor` times as long, or no time; what takes none has no gap.
Change scaled_ops(const ReplayModel& model, const std::vector<std::uint32_t>& ops, double factor);

// Slices take no host time.
Change without_slices(const Trace& trace, const std::vector<SliceId>& slices);
// The slices of the host of exactly this name, or where it holds a `*`, which matches any text, of all such names. An Error
// where there are none.
Result<Change> without_named(const Trace& trace, const NameIndex& names, std::string_view name);
// These calls do not wait for the GPU.
Change without_waits(std::vector<SliceId> calls);
// The launches of each step (of the run where it has none) take the time of the first one: they are replayed as one graph,
// whose kernels follow each other. Waits between them stay.
Change as_graph(const ReplayModel& model);

// Calls in a row that launch these operations, by position in ReplayModel::ops(), and no others, take the time of the first
// one, and nothing passes between what they launch.
Change in_one_launch(const ReplayModel& model, const std::vector<std::uint32_t>& ops);

// The changes of a list, all together: "gpu F", "kernel RE=F", "host F", "remove NAME", "no-wait", "graph", "overlap-copies",
// "full-queues".
Result<Change> read_changes(const Trace& trace, const NameIndex& names, const ReplayModel& model,
                            const std::vector<std::string>& list);

}  // namespace gapscope
