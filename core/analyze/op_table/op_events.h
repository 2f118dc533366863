#pragma once
// The events behind PyTorch's profiler table: which slices count, how they nest, which GPU time they own. Follows
// torch 2.11's key_averages() as a reference in integer nanoseconds does (proven row by row on 49 recordings): the
// tree is PyTorch's, not the lanes'. Columns of 11 bytes an event, 8 more where it or what it calls owns GPU work, 2 more with
// parents; refers to the trace, which must outlive it.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/narrow_column.h"
#include "core/base/sparse_column.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

enum class TableMode : std::uint8_t {
  exact,      // as torch 2.11 prints it: profiler overheads and calls whose id collides own kernels too
  corrected,  // only operators and annotations own GPU work, each piece of it once; spans on the GPU are no work
};

// Whether parents and joins stay: 10 bytes an event more, which only the text as PyTorch prints it needs.
enum class KeepTree : bool { no, yes };

// What shares a row of the table: a name, on the CPU or on a GPU, an annotation or not.
struct OpGroup {
  StringId name;            // of its first event, as in the file; rows are named by row_name()
  bool on_gpu = false;      // a row of the device's own work: its GPU time is its duration
  bool annotation = false;  // user_annotation or its GPU copy
  bool steps = false;       // ProfilerStep#0, #1, ...: many names
};

// "ProfilerStep#3" counts as "ProfilerStep*"; every other name as itself.
std::string_view row_name(std::string_view name);

class OpEvents {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFu;

  OpEvents(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, TableMode mode, KeepTree keep = KeepTree::no);

  TableMode mode() const { return mode_; }
  const std::vector<OpGroup>& groups() const { return groups_; }

  // In PyTorch's table order: begin, longer first, then base order.
  std::size_t size() const { return slices_.size(); }
  SliceId slice(std::size_t i) const { return slices_[i]; }
  // Position in groups(), or kNone: merged into its parent of the same name, counts nowhere; then the figures below mean
  // nothing.
  std::uint32_t group(std::size_t i) const { return group_[i] - 1; }
  // GPU annotations are 2 ns shorter than in the file, since its writer widens them.
  Span span(std::size_t i) const { return span_of(slices_[i], trace_.kind(slices_[i])); }
  Ns self_cpu(std::size_t i) const { return self_cpu_[i]; }  // duration minus children; of no meaning on GPUs
  Ns own_cuda(std::size_t i) const { return own_cuda_[i]; }  // GPU work launched by it directly; 0 on GPUs
  Ns total_cuda(std::size_t i) const { return own_cuda_[i] + cuda_below_[i]; }  // that and its children's; 0 on GPUs
  // Position of the parent event that counts, or kNone. Stored with the tree, and where the trace has memory records.
  std::uint32_t parent(std::size_t i) const;
  // GPU work: the id of the operator it is linked to; others: the id under which they own such work. Stored with the tree.
  std::uint64_t join(std::size_t i) const { return join_[i]; }

  // Positions [first, last) of the events that begin in `range`. O(log n).
  std::pair<std::size_t, std::size_t> begin_in(Span range) const;
  // Asks the processor for what span(i) needs. A hint for loops, which would wait for memory otherwise.
  void prefetch(std::size_t i) const;

 private:
  class Maker;
  Span span_of(SliceId slice, Kind kind) const {
    return kind != Kind::gpu_annotation && cut_.empty() ? trace_.span_of(slice) : changed_span_of(slice, kind);
  }
  Span changed_span_of(SliceId slice, Kind kind) const;

  const Trace& trace_;
  TableMode mode_;
  std::vector<SliceId> slices_;
  NarrowColumn<std::uint16_t, std::uint32_t> group_;  // plus one, so that kNone is 0
  NarrowColumn<std::uint16_t, std::uint32_t> up_;     // how many positions before it its parent is; 0: has none
  std::vector<std::uint64_t> join_;
  NsColumn self_cpu_;
  SparseNs own_cuda_, cuda_below_;
  std::vector<OpGroup> groups_;
  std::vector<std::pair<SliceId, Ns>> cut_;  // operators that never ended and where they end, by slice
};

}  // namespace gapscope
