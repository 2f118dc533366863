#pragma once
// Which call of an operator owns which GPU work: the innermost operator around the launch, or the outermost around that whose
// model covers all that is launched inside it (layer_norm over native_layer_norm).
#include <vector>

#include "core/analyze/work/work.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

struct OwnedWork {
  SliceId op;                   // none where no operator of the file launched it
  SliceId owner;                // the innermost, which is `op` or lies inside it
  const GpuRow* gpu = nullptr;  // a kernel, or a copy within the GPU's memory
};

// By op, then by GPU work; of `range`, what begins in it.
std::vector<OwnedWork> owned_work(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                  const std::optional<Span>& range = {});

// Calls of aten::empty inside an operator, Python frames between them or not: what it makes on the way. Of the first 2000
// slices.
std::vector<SliceId> made_inside(const Trace& trace, const LaneIndex& lanes, SliceId op);

// The operators whose Concrete Inputs the models of `work` ask for.
std::vector<SliceId> values_needed(const Trace& trace, const LaneIndex& lanes, const std::vector<OwnedWork>& work);

}  // namespace gapscope
