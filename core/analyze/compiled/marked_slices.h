#pragma once
// The slices of CPU threads by which torch.compile is known in a trace.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

enum class CompileMark : std::uint8_t {
  none,
  region,      // "Torch-Compiled Region: K/M"
  graph,       // "## Call CompiledFxGraph HASH ##"
  lookup,      // "TorchDynamo Cache Lookup"
  compile,     // Dynamo, AOTAutograd or Inductor at work (is_compile_frame_name)
  compile_id,  // "..., compile_id=K/M": what Dynamo notes of a phase of it
  code,        // the Python frame of a generated file's function: "/tmp/torchinductor_user/ob/cob.py(132): call"
};
// Of operators and annotations; `code` is of Python frames.
CompileMark compile_mark_of(std::string_view name);

// In order of begin, then longer first.
struct MarkedSlices {
  std::vector<SliceId> regions, graphs, lookups, compiles, compile_ids, code;
  bool has_resume = false;  // some Python frame continues after a graph break
  bool has_python = false;  // some Python frame is recorded
};
// One pass over the slices; a name is read once.
MarkedSlices marked_slices(const Trace& trace);

}  // namespace gapscope
