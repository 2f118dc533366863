#pragma once
// The GPU work of replayed graphs, joined with the calls that captured it: in the same recording or in others of the process. A
// replay has one launch for all of its work; its operators, shapes, modules and Python lines stand where the graph was
// captured.
//
// A node whose `graph node id` other work of these recordings has, launched by itself, goes to the launch of that. Else
// a graph goes to the capture that alignment.h finds to be its own. Of several alike, those count that were captured for the
// smallest size that holds the tokens of the replay's pass (vLLM pads to it), where both state it. Of the rest: as many graphs
// with ids as captures are taken in their order; launches without ids go round the captures in order (piecewise graphs), where
// exactly one place to begin fits, or all of them were replayed equally often. What is left is not joined, and said.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/captured/captures.h"
#include "core/index/link_index.h"

namespace gapscope {

class CapturedWork {
 public:
  // The call that captured a piece of work, with the operator or annotation around it; in `trace`, which may be another one.
  struct Call {
    const Trace* trace = nullptr;
    SliceId call, op;
    explicit operator bool() const { return trace != nullptr; }
  };
  struct Counts {
    std::uint64_t graphs = 0, joined_graphs = 0;  // replayed: by id, else by launch
    std::uint64_t pieces = 0, joined = 0;         // of GPU work that graph launches started
    std::uint64_t by_order = 0;                   // of the joined: the capturing calls state neither kernels nor ids
    std::uint64_t padded = 0;                     // joined graphs whose capture is for more tokens than their pass had
    std::uint64_t captures = 0;                   // in all recordings
  };

  // `trace` must outlive this; of the others it holds those that are joined. `others`: recordings of the process that hold
  // captures. Work without ids whose capturing calls state no kernels is joined by its order alone, with these only.
  CapturedWork(const Trace& trace, std::vector<std::shared_ptr<const Trace>> others, const ReadNodeArgs& read);

  // Of GPU work of the trace; none where it is not joined.
  Call of(SliceId gpu_slice) const;
  const Counts& counts() const { return counts_; }
  // The recordings that hold something that was joined.
  std::vector<const Trace*> recordings() const;
  // Why the rest is not joined: sentences. Empty where all is.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  friend class CaptureJoin;
  struct Entry {
    SliceId work;
    std::uint32_t recording;  // 0: the trace itself
    SliceId call, op;
  };
  const Trace& trace_;
  std::vector<std::shared_ptr<const Trace>> others_;
  std::vector<Entry> entries_;  // by work
  Counts counts_;
  std::vector<std::string> reasons_;
};

// The operator behind a piece of GPU work, whichever recording it is in: what captured it where it was replayed and joined,
// else what launched it.
struct OperatorCall {
  const Trace* trace = nullptr;
  SliceId call;  // the runtime or driver call; none where it is not in the file
  SliceId op;    // the operator or annotation that owns it; none where there is none
  bool joined = false;
  explicit operator bool() const { return op.valid(); }
};
OperatorCall operator_call(const Trace& trace, const LinkIndex& links, const CapturedWork* captured, const GpuRow& row);
inline OperatorCall operator_call(const Trace& trace, const LinkIndex& links, const GpuRow& row) {
  return operator_call(trace, links, trace.captured.get(), row);
}

// Where a call was made, as far as its recording has frames: "GptOssForCausalLM_0 / GraphModule_0", and the innermost Python
// function with a line that is not PyTorch's or Triton's own: "vllm/utils.py(100): gemm".
struct CallPlace {
  std::string module, python;
};
CallPlace place_of_call(const Trace& trace, SliceId call);

// "425 kernels, copies and fills of 1 graph replayed here are joined with their capture in FILE". One line; empty where the
// trace replays none.
std::string captured_text(const CapturedWork& work);

}  // namespace gapscope
