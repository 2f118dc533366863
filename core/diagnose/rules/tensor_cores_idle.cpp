#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/measured_kernels.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the kernels' time: smaller products change little.
constexpr double kLeastIdleTensorShare = 0.08;
// Percent of cycles. Products of useful size keep the tensor pipes at 60 to 95; small ones at 20 to 50.
constexpr double kMostTensor = 20;

bool is_product(KernelKind kind) { return kind == KernelKind::gemm || kind == KernelKind::convolution; }

std::vector<Finding> check_tensor_cores_idle(const Facts& facts) {
  const MeasuredShare idle = measured_share(facts, [&](const MeasuredKernel& kernel) {
    const KernelName& name = facts.decoded(kernel.name);
    // Those in FP32 have a rule of their own, and what waits for memory needs no faster arithmetic.
    return is_product(name.kind) && !is_fp32_on_plain_cores(name) && kernel.place != KernelPlace::memory_bound &&
           kernel.means.knows(CounterKind::tensor) && kernel.means[CounterKind::tensor] < kMostTensor;
  });
  if (idle.kernels.empty() || idle.share < kLeastIdleTensorShare) return {};
  const MeasuredKernel& most = *idle.kernels.front();
  const std::string_view name = facts.trace.strings[most.name];
  const double tensor = most.means[CounterKind::tensor];
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = static_cast<Ns>((1 - tensor / 100) * static_cast<double>(idle.time));
  finding.summary = fmt::format(
      "Matrix products with {} of the kernel time ({}) hardly use the tensor cores. Most of it is in {}, which uses the tensor "
      "pipes in {:.1f} % of its cycles.",
      format_share(idle.share), format_duration(idle.time), shown_kernel(name), tensor);
  finding.evidence = Evidence({{"share", idle.share},
                               {"total_us", as_us(idle.time)},
                               {"most_time_in", name},
                               {"tensor_pipe", tensor / 100},
                               {"samples", static_cast<std::int64_t>(most.means.samples)},
                               {"distinct", idle.kernels.size()}});
  mark_slices(finding, facts.trace, idle.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule tensor_cores_idle = {
    .id = "tensor_cores_idle",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork | kNeedsCounters,
    .title = "Matrix products hardly use the tensor cores",
    .meaning =
        "By the counters, these products neither use the tensor cores much nor wait for the GPU's memory. They are too small "
        "for the GPU, or their data type, layout or alignment does not suit the tensor cores.",
    .remedy =
        "Batch small products into larger ones, and make dimensions multiples of 8 (16 for 8-bit types). Use bfloat16 "
        "(torch.autocast){autocast!}.",
    .check = check_tensor_cores_idle,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 330},
    .gives = {Cure::roofline},
};

}  // namespace gapscope
