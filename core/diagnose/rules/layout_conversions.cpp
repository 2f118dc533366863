#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time.
constexpr double kLeastLayoutShare = 0.03;

// cuDNN's, and MIOpen's around its NHWC kernels.
bool converts_layout(std::string_view kernel) {
  return kernel.find("nchwToNhwc") != kernel.npos || kernel.find("nhwcToNchw") != kernel.npos ||
         kernel.starts_with("batched_transpose_");
}

// cuDNN's for channels first. With channels last the same batch norms took 0.43 of their time in tests/gpu/careless.py (H100).
bool normalizes_channels_first(std::string_view kernel) {
  return kernel.find("bn_fw_tr_1C11") != kernel.npos || kernel.find("bn_bw_1C11") != kernel.npos;
}
constexpr double kSparedByBatchNorms = 0.5;

// MIOpen's, of what a convolution that computes in 32 bits writes.
bool casts_for_miopen(std::string_view kernel) { return kernel.starts_with("SubTensorOpWithCastTensor"); }

std::vector<GpuOp> kernels_named(const Facts& facts, bool (*is)(std::string_view)) {
  const std::vector<StringId> names = facts.names_matching(is);  // in order
  std::vector<GpuOp> out;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.is_kernel() && std::binary_search(names.begin(), names.end(), facts.trace.name_id(op.slice)))
      out.push_back(op);
  return out;
}

std::vector<Finding> check_layout_conversions(const Facts& facts) {
  const std::vector<GpuOp> kernels = kernels_named(facts, converts_layout);
  const Ns time = total_time(kernels);
  const double share = share_of(time, facts.gpu_sum);
  if (kernels.empty() || share < kLeastLayoutShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  const std::vector<GpuOp> norms = kernels_named(facts, normalizes_channels_first);
  finding.cost = sum_saturating(time, static_cast<Ns>(kSparedByBatchNorms * static_cast<double>(total_time(norms))));
  finding.summary =
      fmt::format("{} of cuDNN {} tensors between layouts: {} of the GPU time ({}).", counted(kernels.size(), "kernel"),
                  kernels.size() == 1 ? "turns" : "turn", format_share(share), format_duration(time));
  if (!norms.empty())
    finding.summary += fmt::format(" Batch norms with channels first ({}) take about half as long with channels last.",
                                   format_duration(total_time(norms)));
  if (const std::vector<GpuOp> casts = kernels_named(facts, casts_for_miopen); !casts.empty())
    finding.summary +=
        fmt::format(" {} more {} tensors to another type for the library ({}). They are not counted.",
                    shown_count(casts.size()), casts.size() == 1 ? "casts" : "cast", format_duration(total_time(casts)));
  if (facts.practices().vendor == Vendor::amd)
    finding.advice = advice_of(
        "Use channels last for the model and its inputs: model.to(memory_format=torch.channels_last), and the same for each "
        "batch. Also set PYTORCH_MIOPEN_SUGGEST_NHWC=1 in the environment. Otherwise PyTorch converts back before MIOpen.");
  finding.evidence = Evidence({{"n", kernels.size()}, {"share", share}, {"total_us", as_us(time)}});
  mark_slices(finding, facts.trace, slices_of(kernels));
  for (const GpuOp& norm : norms) finding.slices.push_back(norm.slice);
  return {std::move(finding)};
}

}  // namespace

extern const Rule layout_conversions = {
    .id = "layout_conversions",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "Convolutions convert the layout of their tensors",
    .meaning =
        "The convolutions run fastest with channels last (NHWC), but the tensors have channels first (NCHW). The library "
        "converts them before and after.",
    .remedy =
        "Use channels last for the model and its inputs: model.to(memory_format=torch.channels_last), and the same for each "
        "batch{channels_last!}.",
    .check = check_layout_conversions,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 255},
    .code = "{channels_last!}model = model.to(memory_format=torch.channels_last)",
    .gives = {Cure::at_stake, true},
};

}  // namespace gapscope
