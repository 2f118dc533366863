#pragma once
// The events behind PyTorch's profiler table: which slices count, how they nest, which GPU time they own. Follows
// torch 2.11's key_averages() as a reference in integer nanoseconds does (proven row by row on 49 recordings): the
// tree is PyTorch's, not the lanes'.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

enum class TableMode : std::uint8_t {
  exact,      // as torch 2.11 prints it: profiler overheads and calls whose id collides own kernels too
  corrected,  // only operators and annotations own GPU work, and each piece of it once
};

// One event that becomes part of a row.
struct OpEvent {
  SliceId slice;
  StringId name;               // as in the file; rows are named by row_name()
  bool on_gpu = false;         // a row of the device's own work: its GPU time is its duration
  bool annotation = false;     // user_annotation or its GPU copy
  bool folded = false;         // merged into its parent of the same name: counts nowhere
  std::uint32_t parent = 0xFFFF'FFFFu;  // position of the parent event, or none
  std::uint64_t join = 0;      // GPU work: the id of the operator it is linked to; others: the id under which they own such work
  Ns begin = 0;                // GPU annotations are 2 ns shorter than in the file: its writer widens them
  Ns end = 0;
  Ns self_cpu = 0;             // duration minus children
  Ns own_cuda = 0;             // GPU work launched by it directly
  Ns total_cuda = 0;           // that and its children's
};

// "ProfilerStep#3" counts as "ProfilerStep*"; every other name as itself.
std::string_view row_name(std::string_view name);

class OpEvents {
 public:
  OpEvents(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, TableMode mode);

  // In PyTorch's table order: begin, longer first, then base order.
  const std::vector<OpEvent>& events() const { return events_; }
  TableMode mode() const { return mode_; }

 private:
  TableMode mode_;
  std::vector<OpEvent> events_;
};

}  // namespace gapscope
