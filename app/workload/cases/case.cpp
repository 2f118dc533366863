#include "app/workload/cases/case.h"

#include "app/workload/failure.h"

namespace gapscope::workload {

std::unique_ptr<Case> make_case(const Options& options) {
  switch (options.id) {
    case CaseId::kMatmulAdd:
    case CaseId::kBmm: return make_matmul_add(options);
    case CaseId::kAddmm: return make_addmm(options);
    case CaseId::kLinear: return make_linear(options);
    case CaseId::kGegluMlp: return make_geglu_mlp(options);
    case CaseId::kMulAdd: return make_mul_add(options);
    case CaseId::kSoftmaxMatmul: return make_softmax_matmul(options);
    case CaseId::kStreams: return make_streams(options);
    case CaseId::kSyncs: return make_syncs(options);
  }
  throw Failure("This case has no maker: the program is wrong.");
}

}  // namespace gapscope::workload
