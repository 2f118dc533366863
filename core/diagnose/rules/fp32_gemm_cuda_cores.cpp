#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/gpu/devices.h"
#include "core/analyze/operators/flops.h"
#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/code_place.h"
#include "core/diagnose/conditions/autocast.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time: a few tiny products (rotary embeddings) are harmless.
constexpr double kLeastFp32Share = 0.08;
// An H200 multiplies 4096 x 4096 floats in 2682 us on CUDA cores and in 340 us in TF32.
constexpr double kGainWithTf32 = 7.0 / 8;
// The first compute capabilities with tensor cores and with TF32.
constexpr std::int64_t kTensorCores = 7, kTf32 = 8;

std::vector<GpuOp> fp32_kernels(const Facts& facts) {
  std::vector<GpuOp> out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel()) continue;
    if (is_fp32_on_plain_cores(facts.decoded(op))) out.push_back(op);
  }
  return out;
}

void add_shapes(const Facts& facts, const GpuOp& example, Finding& finding) {
  const WorkOrigin origin = origin_of(facts, example);
  if (origin.input_dims().empty()) return;
  finding.evidence.add("input_dims", origin.input_dims());
  if (origin.by.joined) finding.evidence.add("captured_by", origin.name());
}

std::string times(double ratio) { return fmt::format("{:.0f} times", ratio); }

constexpr std::string_view kInBfloat16 = "with torch.autocast(\"cuda\", torch.bfloat16):";

// By the peaks of this GPU, where these are known: what TF32 and 16 bits would give, and how much of the cost that is.
void fit_to_peaks(Finding& finding, const StatedRoofs& stated, std::string_view device, ProgramKind program, bool has_16_bits,
                  const std::string& module) {
  const double fp32 = dense_peak(stated, device, MathType::fp32).value_or(0);
  if (fp32 <= 0) return;
  const double tf32 = dense_peak(stated, device, MathType::tf32).value_or(0) / fp32;
  const double half = dense_peak(stated, device, MathType::bf16).value_or(0) / fp32;
  constexpr double kWorthwhile = 1.2;
  if (half < kWorthwhile) return;
  finding.cost = std::min(finding.cost, static_cast<Ns>(static_cast<double>(finding.cost) / kGainWithTf32 * (1 - 1 / half)));
  const bool has_tf32 = tf32 >= kWorthwhile;
  finding.meaning = fmt::format(
      "These kernels multiply in full FP32 on the ordinary cores. The tensor cores of this GPU have about {}the peak rate in "
      "{}bfloat16.",
      times(has_tf32 ? tf32 : half) + " ", has_tf32 ? fmt::format("TF32, and {} in ", times(half)) : "");
  if (has_tf32 && has_16_bits) {
    finding.advice = advice_of(
        "Run these under torch.autocast, like the program's other products, or convert their module with .bfloat16(). "
        "Otherwise: {tf32}.");
    if (!module.empty()) finding.summary += fmt::format(" Nearly all of that is in {}.", shown_name(module));
    finding.code = kInBfloat16;
  }
  if (has_tf32) return;
  finding.advice =
      advice_of(program == ProgramKind::python ? "Use {autocast}, {other_precision}: TF32 is no faster on this GPU."
                                               : "Use {autocast|bfloat16}, {other_precision}: TF32 is no faster on this GPU.");
  finding.code = kInBfloat16;
}

// cuDNN's convolutions may use TF32 by default, and torch.set_float32_matmul_precision does not change that (its
// documentation): where most of the time is theirs, TF32 is no remedy.
bool are_convolutions(const Facts& facts, const std::vector<GpuOp>& kernels) {
  Ns time = 0;
  for (const GpuOp& op : kernels)
    if (facts.decoded(op).kind == KernelKind::convolution ||
        origin_of(facts, op).name().find("convolution") != std::string_view::npos)
      add_saturating(time, op.span.length());
  return time > total_time(kernels) / 2;
}
void fit_to_convolutions(Finding& finding, bool has_16_bits) {
  constexpr std::string_view kOfTf32 =
      " TF32 is on for convolutions unless torch.backends.cudnn.allow_tf32 is False, but cuDNN may not use it for few "
      "channels.";
  finding.advice =
      advice_of(std::string(has_16_bits ? "Run these convolutions under torch.autocast, like the program's other products."
                                        : "Use {autocast} for these convolutions.") +
                std::string(kOfTf32));
  finding.code = kInBfloat16;
}

constexpr std::string_view kInHalf = "with torch.autocast(\"cuda\", torch.float16):";

// Words and gain for GPUs from before TF32.
void fit_to_older_gpu(Finding& finding, ProgramKind program, Ns time, std::int64_t compute_major) {
  if (compute_major >= kTensorCores) {
    finding.meaning =
        "These kernels multiply in full FP32 on the ordinary cores. The tensor cores of this GPU have about 8 times the peak "
        "rate in half precision.";
    finding.advice =
        plain_advice(fmt::format("Use half precision{}: the tensor cores of this GPU do not support TF32 or bfloat16.",
                                 program == ProgramKind::python ? " (torch.autocast with torch.float16)" : ""));
    finding.code = kInHalf;
    return;
  }
  finding.cost = time / 2;
  finding.meaning = "These kernels multiply in full FP32. This GPU has no tensor cores.";
  finding.advice = plain_advice("Try half precision, which is at most twice as fast here. A newer GPU would help most.");
  finding.code = kInHalf;
}

std::vector<Finding> check_fp32_gemm_cuda_cores(const Facts& facts) {
  const std::vector<GpuOp> kernels = fp32_kernels(facts);
  const Ns time = total_time(kernels);
  const double share = share_of(time, facts.gpu_sum);
  if (kernels.empty() || share < kLeastFp32Share) return {};
  const auto count = static_cast<std::int64_t>(kernels.size());
  const GpuOp example = most_costly_name(facts, kernels);
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = static_cast<Ns>(kGainWithTf32 * static_cast<double>(time));
  finding.summary = fmt::format("{} {} in FP32 without tensor cores: {} of the GPU time ({}){}.",
                                counted(kernels.size(), "kernel"), count == 1 ? "multiplies" : "multiply", format_share(share),
                                format_duration(time), count == 1 ? "" : ", most in " + shown_kernel(facts.name(example)));
  if (facts.practices().refuses(Remedy::tf32) && !facts.practices().refuses(Remedy::autocast)) finding.code = kInBfloat16;
  finding.evidence = Evidence({{"n", count},
                               {"share", share},
                               {"total_us", as_us(time)},
                               {"example", facts.name(kernels.front())},
                               {"most_time_in", facts.name(example)}});
  if (const DeviceProperties* device = facts.trace.device(facts.row(example).device)) {
    if (device->compute_major > 0 && device->compute_major < kTf32)
      fit_to_older_gpu(finding, program_kind(facts.trace), time, device->compute_major);
    else
      fit_to_peaks(finding, facts.trace.stated.roofs, gpu_name(facts.trace, facts.row(example).device),
                   program_kind(facts.trace), has_products_in_16_bits(facts), module_of(facts, kernels));
    if (device->compute_major >= kTf32 && program_kind(facts.trace) == ProgramKind::python && are_convolutions(facts, kernels))
      fit_to_convolutions(finding, has_products_in_16_bits(facts));
    finding.evidence.add("compute_capability", fmt::format("{}.{}", device->compute_major, device->compute_minor));
  }
  add_shapes(facts, example, finding);
  mark_slices(finding, facts.trace, slices_of(kernels));
  return {std::move(finding)};
}

}  // namespace

extern const Rule fp32_gemm_cuda_cores = {
    .id = "fp32_gemm_cuda_cores",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches,
    .title = "FP32 matrix products and convolutions do not use tensor cores",
    .meaning =
        "These products and convolutions multiply in full FP32 on the ordinary cores. Tensor cores multiply TF32 or bfloat16 "
        "several times as fast on most GPUs.",
    .remedy = "Use the tensor cores: {tf32}, {autocast}, {other_precision}.",
    .check = check_fp32_gemm_cuda_cores,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 250},
    .other_remedy =
        "Use the tensor cores: {tf32|TF32 (CUBLAS_TF32_TENSOR_OP_MATH in cuBLAS)}, {autocast|bfloat16}, {other_precision}.",
    .code = "{tf32!}torch.set_float32_matmul_precision(\"high\")",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
