// ONNX Runtime: nodes and the session's own work have categories of their own, kernels PyTorch's old one. Process -1 is the
// GPU; what WebGPU runs is of category "Api" there.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

bool wrote(const Clues& clues) {
  return (clues.has_category("Session") || clues.has_category("Node")) && !clues.has_kind(Kind::op);
}

LaneRole role(const Clues& clues, const LaneClue& lane) {
  if (clues.process(lane).key != "-1") return {};
  return {LaneRole::Holds::device_work, 0};
}

Kind kind_of(const SliceClue& slice) {
  if (slice.holds == LaneRole::Holds::device_work) return kind_of_device_slice(slice.name);
  if (slice.category == "Node") return Kind::op;
  if (slice.category == "Session") return Kind::annotation;
  return slice.category == "Api" ? Kind::runtime : slice.kind;
}

}  // namespace

extern const ProducerRow kOnnxRuntimeRow = {
    {"onnxruntime", "ONNX Runtime profiler", false,
     "a build of ONNX Runtime that records its GPU provider: CUDA's with CUPTI, ROCm's with --enable_rocm_profiling",
     "SessionOptions.enable_profiling", "a call of session.run for each iteration",
     "No GPU work in this trace: ONNX Runtime records that of CUDA where it was built with CUPTI, that of ROCm with "
     "--enable_rocm_profiling, and of its other providers none."},
    wrote,
    role,
    kind_of,
    "model_run"};

}  // namespace gapscope
