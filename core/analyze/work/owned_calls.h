#pragma once
// Which call of an operator owns which GPU work: the innermost operator around the launch, or the outermost around that whose
// model covers all that is launched inside it (layer_norm over native_layer_norm). Work of a replayed graph belongs to the
// operator that captured it, where that is joined (core/analyze/captured): once for each replay.
#include <functional>
#include <memory>
#include <vector>

#include "core/analyze/work/work.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/trace/arg_texts.h"
#include "core/trace/trace.h"

namespace gapscope {

struct OwnedWork {
  std::uint32_t recording = 0;  // into OwnedCalls::recordings: where `op` and `owner` are
  SliceId op;                   // none where no operator of the recordings launched it
  SliceId owner;                // the innermost, which is `op` or is inside it
  SliceId replay;               // of work joined with its capture: the launch of its graph
  const GpuRow* gpu = nullptr;  // a kernel, or a copy within the GPU's memory
};

// A file with operators, and where its slices lie.
struct OperatorRecording {
  const Trace* trace = nullptr;
  const LaneIndex* lanes = nullptr;
  std::shared_ptr<const LaneIndex> kept;  // of a capture's recording
};

struct OwnedCalls {
  std::vector<OperatorRecording> recordings;  // the trace itself, then those that captured its graphs
  std::vector<OwnedWork> work;                // by call (recording, op, replay), then by GPU work

  const Trace& trace_of(const OwnedWork& w) const { return *recordings[w.recording].trace; }
};

inline bool is_same_call(const OwnedWork& a, const OwnedWork& b) {
  return a.recording == b.recording && a.op == b.op && a.replay == b.replay;
}

// Of `range`, what begins in it.
OwnedCalls owned_work(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                      const std::optional<Span>& range = {});

// Calls of aten::empty inside an operator, Python frames between them or not: what it makes on the way. Of the first 2000
// slices.
std::vector<SliceId> made_inside(const Trace& trace, const LaneIndex& lanes, SliceId op);

// Concrete Inputs of slices of a trace, read from its file; what cannot be read is left out.
using ReadValues = std::function<ArgTexts(const Trace& trace, std::vector<SliceId> slices)>;

// What the models of `calls` ask for, of each recording. `read` may be empty: then nothing is known.
std::vector<ArgTexts> values_of_calls(const OwnedCalls& calls, const ReadValues& read);

}  // namespace gapscope
