#pragma once
// GPU work by name: how often, how long, how even, launched or captured by whom and in what shape. One sort of durations a
// name.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

// Smallest and largest value; empty() until one is added.
struct Extent {
  std::uint64_t min = ~std::uint64_t{0}, max = 0;
  bool empty() const { return min > max; }
  void add(std::uint64_t value);
};

struct LaunchingOp {
  std::string_view name;  // in the strings of its recording; empty: no operator of the file owns these
  bool joined = false;    // it captured the graph that these are part of, maybe in another recording
  std::uint64_t count = 0;
};

struct ShapeCount {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t count = 0;
};

struct KernelRow {
  StringId name;
  Kind kind = Kind::kernel;  // kernel, memcpy or memset
  KernelName decoded;
  SliceId longest;
  std::uint64_t count = 0;
  Ns total = 0, min = 0, max = 0;
  Ns median = 0, p95 = 0;  // between the two nearest values where the rank falls between them, as numpy does
  double mean = 0;         // ns
  double cv = 0;           // standard deviation of the whole set / mean; 0 where the mean is 0
  double share = 0;        // of the total of all rows, 0..1
  Extent registers, shared_memory, grid_blocks, block_threads;  // only slices that state a launch shape
  std::vector<ShapeCount> shapes;                               // most frequent first, at most kKernelMaxShapes
  std::uint64_t other_shapes = 0;                               // slices whose shape found no place there
  std::vector<LaunchingOp> operators;                           // most frequent first
  GpuRow example;                                               // the first slice that states a launch shape, else the first
};

constexpr std::size_t kKernelMaxShapes = 16;

struct KernelTable {
  std::vector<KernelRow> rows;  // longest total first, then by name id
  std::uint64_t count = 0;
  Ns total = 0;                     // sum of durations; overlapping work counts twice
  bool trace_has_gpu_work = false;  // false: nothing recorded at all; true with no rows: nothing in the range
};

// Of a whole trace, or of the GPU work that begins in `range`. Work of replayed graphs counts for the operators that captured
// it, where it is joined with them (core/analyze/captured).
KernelTable kernel_table(const Trace& trace, const LinkIndex& links, std::optional<Span> range = {});

// How the durations of one name spread: bins of equal width on a logarithmic axis.
struct DurationHistogram {
  std::vector<double> edges;  // ns, one more than bins; edges[i] <= duration < edges[i + 1], the last inclusive
  std::vector<std::uint64_t> counts;
};
// Empty for an empty list. Durations of 0 count as 1 ns, the finest that a trace shows.
DurationHistogram duration_histogram(const std::vector<Ns>& durations, std::size_t bins = 24);

}  // namespace gapscope
