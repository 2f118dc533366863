// gapscope record: as Kineto writes, with a key that says who.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

bool is_ours(const Clues& clues) { return clues.header.find("recorder") == "\"gapscope\""; }

}  // namespace

extern const ProducerRow kGapscopeRow = {
    {"gapscope", "gapscope record", true, "a part of the program that uses the GPU", "the time when it is launched",
     "an NVTX range around each iteration, named ProfilerStep#0, ProfilerStep#1 and so on",
     "No GPU work in this trace: gapscope record saw no kernel, copy or memset."},
    is_ours};

}  // namespace gapscope
