// Nsight Systems, whose exports core/load/nsight_systems.h turns into what Kineto writes.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

bool is_nsight(const Clues& clues) { return clues.header.find("recorder") == "\"nsight_systems\""; }

}  // namespace

extern const ProducerRow kNsightSystemsRow = {
    {"nsight_systems", "Nsight Systems", false, "nsys profile --trace=cuda", "nsys profile --trace=cuda,nvtx,osrt",
     "an NVTX range around each iteration (torch.cuda.nvtx.range)",
     "No GPU work in this trace: record with nsys profile --trace=cuda."},
    is_nsight};

}  // namespace gapscope
