#pragma once
// GPU time by nn.Module, as MODULES.md alongside this file defines it; without module frames, by regions of record_function.
//
// Every piece of linked GPU work has one innermost frame or is outside: the self times of all rows, `outside_forward` and
// `outside_backward` add up to `linked`, exactly. So do the self times of the tree. O(n log n), however many or deep.
#include <cstdint>
#include <string>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/modules/region_frames.h"
#include "core/analyze/work/work_table.h"
#include "core/base/saturating.h"

namespace gapscope {

struct ModuleTotals {
  std::uint64_t calls = 0;                 // frames
  Ns host = 0;                             // of its frames that lie in no other of them
  Ns forward = 0, backward = 0;            // of the work that has it among its frames, each piece once
  Ns self_forward = 0, self_backward = 0;  // where it is the innermost frame
  std::uint64_t kernels = 0;               // kernels among that work, copies and fills not
  std::uint64_t flops = 0;                 // of the products that launched it, where their shapes show (core/analyze/work)
  Ns flops_time = 0;                       // the part of that work which these operators launched
  std::int64_t allocated = 0;              // bytes of GPU memory asked for in it, by the same rules as its work; freed ones too
  std::int64_t at_peak = 0;                // of these, bytes in use when their device held most

  // Operations a second while that part ran; 0 where no shape shows.
  double flops_per_second() const {
    return flops_time > 0 ? 1e9 * static_cast<double>(flops) / static_cast<double>(flops_time) : 0;
  }
  Ns gpu() const { return sum_saturating(forward, backward); }
};

// An instance: "Linear_3".
struct ModuleRow {
  std::string name, class_name;
  StringId frame_name;                 // of its frames in the trace; none where only the capture has some
  SliceId first;                       // the first of its frames there
  std::vector<std::uint32_t> parents;  // rows directly around its frames, ascending; itself where it calls itself
  bool is_root = false;                // some frame of it has none around it
  ModuleTotals totals;
};

// All instances of one class; work in two of them that lie in each other counts once.
struct ModuleClass {
  std::string name;
  std::uint64_t instances = 0;
  ModuleTotals totals;
};

// An instance under the instances that its frames lie in. Its totals are those of this place alone: calls, work, and the
// durations of its frames there. An instance in itself is a node below its own.
struct ModuleNode {
  static constexpr std::uint32_t kNoParent = ~std::uint32_t{0};
  std::uint32_t row = 0, parent = kNoParent, depth = 0;
  SliceId first;  // of its frames there
  ModuleTotals totals;
};

// GPU memory that was asked for in the recording (allocations.h).
struct AllocatedMemory {
  std::uint64_t allocations = 0;
  std::int64_t bytes = 0, at_peak = 0;                  // of all
  std::int64_t outside_bytes = 0, outside_at_peak = 0;  // in no frame
  bool knows_peak = false;
};

// Work that replays of CUDA graphs started.
struct ReplayedWork {
  std::uint64_t pieces = 0, told = 0;  // told: given to the module that captured it
  Ns time = 0, told_time = 0;
};

struct ModuleUse {
  RegionKind kind = RegionKind::none;
  std::vector<ModuleRow> rows;       // most GPU time first, then by name
  std::vector<ModuleClass> classes;  // likewise
  std::vector<ModuleNode> tree;      // parents before children; children of one parent as the rows are
  Ns outside_forward = 0, outside_backward = 0;
  std::uint64_t outside_kernels = 0;
  Ns linked = 0;  // durations of all linked GPU work
  ReplayedWork graphs;
  AllocatedMemory memory;
};

// `ops`: gpu_ops() of the trace. Work of graphs goes to what captured it, where that is joined (Trace::captured).
ModuleUse module_use(const Trace& trace, const std::vector<GpuOp>& ops, const WorkTable& work);

// What to record for times by module; empty where the trace has module frames. One line.
std::string missing_modules(const ModuleUse& use);

}  // namespace gapscope
