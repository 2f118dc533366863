#include "app/workload/gpu/ranges.h"

#include <nvtx3/nvToolsExt.h>

namespace gapscope::workload {
namespace {

// Made once for the process, as NVTX means it: a domain has no owner that could end earlier.
nvtxDomainHandle_t operator_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("operators");
  return domain;
}

}  // namespace

Annotation::Annotation(const std::string& name) { nvtxRangePushA(name.c_str()); }
Annotation::~Annotation() { nvtxRangePop(); }

Operator::Operator(const char* name, const std::vector<OperatorInput>& inputs) {
  const std::string text = operator_text(name, inputs);
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text.c_str();
  nvtxDomainRangePushEx(operator_domain(), &attributes);
}
Operator::~Operator() { nvtxDomainRangePop(operator_domain()); }

}  // namespace gapscope::workload
