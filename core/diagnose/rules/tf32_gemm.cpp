#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/autocast.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time: half of it could be gained at best.
constexpr double kLeastTf32Share = 0.08;

std::vector<GpuOp> tf32_kernels(const Facts& facts) {
  std::vector<GpuOp> out;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.is_kernel() && is_tf32(facts.decoded(op))) out.push_back(op);
  return out;
}

// cuDNN's batch norms of 32-bit images take one block for each channel, and are no faster in 16 bits (57.7 ms a step, 62.4 with
// autocast, on an H200); 64-bit and complex numbers are not cast.
bool is_never_cast(std::string_view kernel) {
  return kernel.find("cudnn::bn_") != kernel.npos || kernel.find("double") != kernel.npos ||
         kernel.find("complex<") != kernel.npos;
}

// The kernels between the products, which read and write the same tensors: in 16 bits, half of the bytes. What optimizers do
// stays.
std::vector<GpuOp> kernels_between(const Facts& facts) {
  std::vector<GpuOp> out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel()) continue;
    const KernelName& name = facts.decoded(op);
    const bool is_32_bits = name.input_type.empty() || name.input_type == "fp32";
    const bool moves_bytes = name.kind == KernelKind::elementwise || name.kind == KernelKind::normalization ||
                             name.kind == KernelKind::reduction || name.kind == KernelKind::softmax ||
                             name.kind == KernelKind::copy;
    if (is_32_bits && moves_bytes && !is_never_cast(facts.trace.name(op.slice))) out.push_back(op);
  }
  return out;
}

std::vector<Finding> check_tf32_gemm(const Facts& facts) {
  std::vector<GpuOp> kernels = tf32_kernels(facts);
  const Ns time = total_time(kernels);
  const double share = share_of(time, facts.gpu_sum);
  if (kernels.empty() || share < kLeastTf32Share) return {};
  const auto count = static_cast<std::int64_t>(kernels.size());
  const GpuOp example = most_costly_name(facts, kernels);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time / 2;  // half precision has twice the rate
  finding.summary = fmt::format("{} {} FP32 data as TF32 on tensor cores: {} of the GPU time ({}){}.",
                                counted(kernels.size(), "kernel"), count == 1 ? "multiplies" : "multiply", format_share(share),
                                format_duration(time), count == 1 ? "" : ", most in " + shown_kernel(facts.name(example)));
  finding.evidence = Evidence({{"n", count},
                               {"share", share},
                               {"total_us", as_us(time)},
                               {"example", facts.name(kernels.front())},
                               {"most_time_in", facts.name(example)}});
  if (!has_products_in_16_bits(facts)) {
    const std::vector<GpuOp> between = kernels_between(facts);
    const Ns time_between = total_time(between);
    add_saturating(finding.cost, time_between / 2);
    finding.summary += fmt::format(" Kernels between them take {} more, which 16 bits would halve, too.",
                                   format_share(share_of(time_between, facts.gpu_sum)));
    finding.evidence.add("between_us", as_us(time_between));
    kernels.insert(kernels.end(), between.begin(), between.end());
  }
  mark_slices(finding, facts.trace, slices_of(kernels));
  return {std::move(finding)};
}

}  // namespace

extern const Rule tf32_gemm = {
    .id = "tf32_gemm",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "FP32 matrix products and convolutions run in TF32",
    .meaning =
        "Products and convolutions of FP32 data run on tensor cores in TF32. bfloat16 or half would double the peak rate and "
        "halve the memory traffic.",
    .remedy =
        "Use 16 bits for these too, unless you need the accuracy of FP32 inputs: {autocast|torch.autocast}, {other_precision}, "
        "{|model.half()}.",
    .check = check_tf32_gemm,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 270},
    .other_remedy = "Use bfloat16 or half precision, unless you need the accuracy of FP32 inputs{autocast!}.",
    .evidence_names = {{{"between_us", "in kernels between the products"}}},
    .code = "{autocast!}with torch.autocast(\"cuda\", torch.bfloat16):",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
