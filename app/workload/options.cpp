#include "app/workload/options.h"

#include <algorithm>
#include <array>

namespace gapscope::workload {
namespace {

using enum CaseId;
using enum Variant;

constexpr std::array<CaseRow, 9> kCases{{
    {kMatmulAdd, "matmul-add", "matmul_add", 1, kPlain, kPlain, true, "x @ w, then + b: a GEMM and an elementwise kernel"},
    {kAddmm, "addmm", "addmm", 0, kEpilogue, kCopy, true, "b + x @ w in one operator"},
    {kBmm, "bmm", "bmm", 8, kPlain, kPlain, true, "matmul-add of a batch: one batched GEMM"},
    {kLinear, "linear", "linear", 64, kPlain, kPlain, true, "a batch of rows through a linear layer, size to 4 x size"},
    {kGegluMlp, "geglu-mlp", "geglu_mlp", 8, kPlain, kPlain, true, "a GeGLU block, size to 4 x size and back"},
    {kMulAdd, "mul-add", "mul_add", 0, kTwo, kFused, true, "a * b + c, element by element"},
    {kSoftmaxMatmul, "softmax-matmul", "softmax_matmul", 0, kPlain, kPlain, true, "the softmax of a matrix product"},
    {kStreams, "streams", "streams", 0, kPlain, kPlain, false,
     "copies from pinned memory concurrent with products, on two streams"},
    {kSyncs, "syncs", "syncs", 0, kPlain, kPlain, false, "matmul-add with a needless cudaDeviceSynchronize in between"},
}};

}  // namespace

std::span<const CaseRow> case_rows() { return kCases; }

const CaseRow& case_row(CaseId id) { return *std::ranges::find(kCases, id, &CaseRow::id); }

std::string_view variant_name(Variant variant) {
  switch (variant) {
    case kPlain: return "plain";
    case kEpilogue: return "epilogue";
    case kCopy: return "copy";
    case kTwo: return "two";
    case kFused: return "fused";
  }
  return "";
}

}  // namespace gapscope::workload
