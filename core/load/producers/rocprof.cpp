// AMD's rocprof. Of the older one (results.json) a process for each GPU, for its copies and for each of the host's interfaces;
// what rocprofv3 writes core/load/rocprof.h turns into what Kineto writes.
#include "core/base/text.h"
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

using Holds = LaneRole::Holds;

bool is_gpu(std::string_view process) { return process.starts_with("GPU") && number_behind(process, "GPU") >= 0; }

bool wrote(const Clues& clues) {
  return clues.header.find("recorder") == "\"rocprof\"" || clues.has_process("CPU HIP API") ||
         clues.has_process("CPU HSA API") || clues.has_process("CPU ROCTX") || clues.has_process("Markers and Ranges") ||
         clues.header.find("otherData").find("rocprof") != std::string_view::npos;
}

LaneRole role(const Clues& clues, const LaneClue& lane) {
  const std::string_view process = clues.process(lane).name;
  if (is_gpu(process)) return {Holds::device_work, number_behind(process, "GPU")};
  if (process == "COPY") return {Holds::device_work, 0};
  if (process.starts_with("CPU ROCTX") || process.starts_with("Markers")) return {Holds::annotations};
  if (process.starts_with("CPU")) return {Holds::host};
  return {};
}

Kind kind_of(const SliceClue& slice) {
  if (slice.holds == Holds::device_work && contains_ignore_case(slice.name, "copy")) return Kind::memcpy;
  if (slice.holds == Holds::host && slice.kind == Kind::other &&
      (slice.name.starts_with("hip") || slice.name.starts_with("hsa")))
    return Kind::runtime;
  return kind_by_role(slice);
}

}  // namespace

extern const ProducerRow kRocprofRow = {{"rocprof", "rocprof", false, "rocprofv3 --kernel-trace --memory-copy-trace",
                                         "rocprofv3 --hip-trace", "a roctx range around each iteration (--marker-trace)",
                                         "No GPU work in this trace: record with rocprofv3 --kernel-trace."},
                                        wrote,
                                        role,
                                        kind_of};

}  // namespace gapscope
