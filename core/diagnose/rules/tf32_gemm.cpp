#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/diagnose/rules/conditions.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {
namespace {

// Of the GPU time: half of it could be gained at best.
constexpr double kLeastShare = 0.08;
// TF32 exists from compute capability 8.0 on.
constexpr std::int64_t kFirstMajor = 8;

// s1688 is also the shape of half-precision kernels, which then say so.
bool is_tf32_name(std::string_view kernel) {
  if (has_any_part(kernel, "tf32")) return true;
  return has_any_part(kernel, "tensorop_s1688") && !has_any_part(kernel, "f16", "fp16");
}

bool is_product(std::string_view op) {
  constexpr std::array<std::string_view, 5> kProducts = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::addbmm"};
  return std::find(kProducts.begin(), kProducts.end(), op) != kProducts.end() || has_any_part(op, "convolution");
}

bool gpu_has_tf32(const Facts& facts, const GpuOp& op) {
  const DeviceProperties* device = facts.trace.device(facts.row(op).device);
  return device != nullptr && device->compute_major >= kFirstMajor && (device->warp_size == 0 || device->warp_size == 32);
}

// Float inputs to a library kernel that is none of those on CUDA cores (vector products and sums of parts are).
bool takes_float(const Facts& facts, std::size_t i) {
  const Facts::GpuFact& fact = facts.gpu[i];
  if ((fact.family != RuleFamily::gemm && fact.family != RuleFamily::conv) || !fact.owner) return false;
  if (!is_product(facts.trace.name(fact.owner)) || !gpu_has_tf32(facts, facts.ops[i])) return false;
  const std::string_view kernel = facts.name(facts.ops[i]);
  if (is_fp32_cuda_core_name(kernel) || has_any_part(kernel, "gemv", "splitKreduce", "f16")) return false;
  const OpRow* row = facts.trace.op_row(fact.owner);
  return row != nullptr && row->input_types && facts.trace.strings[row->input_types].starts_with("[\"float\"");
}


std::vector<GpuOp> tf32_kernels(const Facts& facts) {
  std::vector<GpuOp> out;
  std::vector<std::int8_t> by_name(facts.trace.strings.size(), -1);
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (!op.linked() || !op.is_kernel()) continue;
    std::int8_t& is = by_name[facts.trace.name_id(op.slice).index()];
    if (is < 0) is = is_tf32_name(facts.name(op)) ? 1 : 0;
    if (is == 0 && !takes_float(facts, i)) continue;
    out.push_back(op);
  }
  return out;
}

std::vector<Finding> check(const Facts& facts) {
  const std::vector<GpuOp> kernels = tf32_kernels(facts);
  const Ns time = total_time(kernels);
  const double share = share_of(time, facts.gpu_sum);
  if (kernels.empty() || share < kLeastShare) return {};
  const auto count = static_cast<std::int64_t>(kernels.size());
  const GpuOp example = most_costly_name(facts, kernels);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time / 2;  // half precision has twice the rate
  finding.summary = fmt::format("{} kernels with float inputs on TF32 tensor cores take {} of the GPU time ({}), most in {}.",
                                format_count(count), format_percent(share), format_duration(time), shown_name(facts.name(example)));
  finding.evidence = Evidence({{"n", count},
                               {"share", share},
                               {"total_us", as_us(time)},
                               {"example", facts.name(kernels.front())},
                               {"most_time_in", facts.name(example)}});
  finding.spans = spans_of_slices(facts.trace, slices_of(kernels));
  return {std::move(finding)};
}

}  // namespace

const Rule tf32_gemm = {
    "tf32_gemm", RuleClass::problem, Severity::notable, kNeedsLaunches,
    "Float matrix products in TF32",
    "Products and convolutions take 32-bit floats and run on tensor cores in TF32; bfloat16 or half would double the rate and halve "
    "the memory traffic.",
    "Use torch.autocast or weights of lower precision, unless the accuracy of float inputs is wanted.",
    check};

}  // namespace gapscope
