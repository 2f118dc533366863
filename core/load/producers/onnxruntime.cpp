// ONNX Runtime: nodes and the session's own work have categories of their own, kernels PyTorch's old one.
#include "core/load/producers/producers.h"

namespace gapscope {
namespace {

bool wrote(const Clues& clues) {
  return (clues.has_category("Session") || clues.has_category("Node")) && !clues.has_kind(Kind::op);
}

Kind kind_of(const SliceClue& slice) {
  if (slice.category == "Node") return Kind::op;
  if (slice.category == "Session") return Kind::annotation;
  return slice.category == "Api" ? Kind::runtime : slice.kind;
}

}  // namespace

extern const ProducerRow kOnnxRuntimeRow = {
    {"onnxruntime", "ONNX Runtime profiler", false, "a build of ONNX Runtime that profiles its GPU provider (CUPTI)",
     "SessionOptions.enable_profiling", "a call of session.run for each iteration",
     "No GPU work in this trace: ONNX Runtime records it where its GPU provider was built with CUPTI."},
    wrote,
    nullptr,
    kind_of};

}  // namespace gapscope
