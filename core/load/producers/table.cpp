#include "core/load/producers/producers.h"

namespace gapscope {

extern const ProducerRow kGapscopeRow, kAscendRow, kMtiaRow, kOnnxRuntimeRow, kProtonRow, kTensorFlowRow, kJaxRow, kRocprofRow,
    kNsightSystemsRow, kUnitraceRow, kCompileEventsRow, kVizTracerRow, kMpsRow, kDeviceLanesRow, kXpuRow, kPrivateUseRow,
    kPyTorchRow, kUnknownRow;

// Who is known by a name of its own comes before who is known by PyTorch's categories, which others borrow.
const std::vector<const ProducerRow*>& producer_rows() {
  static const std::vector<const ProducerRow*> rows = {
      &kGapscopeRow,   &kNsightSystemsRow, &kAscendRow,  &kMtiaRow,       &kOnnxRuntimeRow,   &kProtonRow,
      &kTensorFlowRow, &kJaxRow,           &kRocprofRow, &kUnitraceRow,   &kCompileEventsRow, &kVizTracerRow,
      &kMpsRow,        &kDeviceLanesRow,   &kXpuRow,     &kPrivateUseRow, &kPyTorchRow,       &kUnknownRow};
  return rows;
}

}  // namespace gapscope
