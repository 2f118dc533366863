#pragma once
// Which call launched which GPU work, which operator owns it, and the flow arrows of a slice. O(log n) a question.
#include <atomic>
#include <span>
#include <vector>

#include "core/base/id_map.h"
#include "core/index/lane_index.h"
#include "core/trace/trace.h"

namespace gapscope {

struct LaunchCounts {
  std::uint64_t gpu_slices = 0;      // kernels, copies, memsets
  std::uint64_t joined_to_call = 0;  // with a runtime or driver call of the same correlation
  std::uint64_t joined_to_op = 0;    // with an owner operator
};

class LinkIndex {
 public:
  // Once `cancel` (may be null) is set it ends early, and may only be thrown away.
  LinkIndex(const Trace& trace, const LaneIndex& lanes, int threads = 1, const std::atomic<bool>* cancel = nullptr);

  // The call that launched this GPU slice (kernel, copy, memset, sync): same correlation. None when not in the file.
  SliceId call_of(SliceId gpu_slice) const;
  SliceId call_of(const GpuRow& row) const;
  // The GPU slices that a call launched, in time order; empty for other slices.
  std::span<const SliceId> launched_by(SliceId call) const;
  // The operator or annotation that owns GPU work: by External id, else the innermost one around the launch. None if neither.
  SliceId owner_op(SliceId gpu_slice) const;
  SliceId owner_op(const GpuRow& row) const;
  // The operator (or annotation) with this External id, or none.
  SliceId op_with_external_id(std::uint64_t id) const;

  // Positions in trace.flows of arrows that leave (arrive at) the slice.
  std::span<const std::uint32_t> flows_from(SliceId slice) const;
  std::span<const std::uint32_t> flows_to(SliceId slice) const;

  const LaunchCounts& counts() const { return counts_; }

 private:
  void join_operators();
  void join_calls();
  void group_launched();
  void sort_flows();
  void count(int threads, const std::atomic<bool>* cancel);

  const Trace& trace_;
  const LaneIndex& lanes_;
  IdMap<std::uint32_t> call_of_correlation_;   // slice value of the first call of the file, or kNoSlice
  IdMap<std::uint32_t> op_of_external_id_;     // slice value of the first operator or annotation in time
  std::vector<std::uint32_t> call_at_;         // slices of the calls that launched something, ascending
  std::vector<SliceId> launched_;              // GPU slices grouped by call, in time order
  std::vector<std::uint32_t> launched_first_;  // per entry of call_at_, into launched_; one more at the end
  std::vector<std::uint32_t> flow_from_;       // identity: flows are ordered by `from`
  std::vector<std::uint32_t> flow_to_;         // positions in trace.flows ordered by `to`
  LaunchCounts counts_;
};

}  // namespace gapscope
