#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastNormShare = 0.05;  // of the GPU time
// One block for each channel: with as many channels as four times the SMs the layout makes no difference. On an H200 (132 SMs),
// forward and backward, the same batch norm with channels last took 0.06 to 0.10 of the time with 4 channels, 0.16 to 0.22 with
// 32, 0.25 to 0.44 with 64, 0.56 to 0.78 with 256, and 1.0 to 1.1 with 1,024.
constexpr double kBlocksAnSm = 4;

bool has_block_per_channel(std::string_view kernel) {
  return kernel.find("cudnn::bn_fw_tr_1C11") != kernel.npos || kernel.find("cudnn::bn_bw_1C11") != kernel.npos ||
         kernel.find("batch_norm_collect_statistics_kernel") != kernel.npos ||
         kernel.find("batch_norm_backward_kernel") != kernel.npos;
}

// Of images: sequences have no layout with channels last. By shapes, else by the convolutions of the program.
bool is_of_images(const Facts& facts, const GpuOp& op, bool has_sequences) {
  const SliceId around = facts.ancestor(op.launch, kIsOp);
  const auto call = around ? recorded_call(facts, around) : std::nullopt;
  return call && !call->sizes(0).empty() ? call->sizes(0).size() == 4 : !has_sequences;
}

std::vector<Finding> check_batch_norm_channels_first(const Facts& facts) {
  const auto called = [&](std::string_view name) { return !cpu_slices_called(facts, name, kIsOp).empty(); };
  const bool has_sequences = called("aten::conv1d") && !called("aten::conv2d");
  std::vector<GpuOp> norms;
  Ns time = 0;
  double spared = 0, blocks = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel() || !has_block_per_channel(facts.trace.name(op.slice))) continue;
    const DeviceProperties* const device = facts.trace.device(op.device);
    const GpuRow& row = facts.row(op);
    if (device == nullptr || device->sms <= 0 || !row.has_launch_config() || !is_of_images(facts, op, has_sequences)) continue;
    const double grid = 1.0 * row.grid[0] * row.grid[1] * row.grid[2];
    const double part = 1 - grid / (kBlocksAnSm * static_cast<double>(device->sms));
    if (part <= 0) continue;
    const auto length = static_cast<double>(op.span.length());
    norms.push_back(op);
    add_saturating(time, op.span.length());
    spared += part * length;
    blocks += grid * length;
  }
  const double share = share_of(static_cast<Ns>(spared), facts.gpu_sum);
  if (norms.empty() || share < kLeastNormShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = static_cast<Ns>(spared);
  finding.summary = fmt::format(
      "{} of batch norms {} {} of the GPU time ({}). Each runs one block for each channel, {:.0f} (mean by time) on {} SMs.",
      sentence_start(counted(norms.size(), "kernel")), norms.size() == 1 ? "takes" : "take",
      format_share(share_of(time, facts.gpu_sum)), format_duration(time), blocks / static_cast<double>(time),
      facts.trace.device(norms.front().device)->sms);
  finding.evidence = Evidence({{"n", norms.size()}, {"total_us", as_us(time)}, {"share", share_of(time, facts.gpu_sum)}});
  mark_slices(finding, facts.trace, slices_of(norms));
  return {std::move(finding)};
}

}  // namespace

extern const Rule batch_norm_channels_first = {
    .id = "batch_norm_channels_first",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches | kNeedsDeviceProperties,
    .title = "Batch norms leave most SMs idle",
    .meaning =
        "With channels first (NCHW) a batch norm runs one block for each channel. With few channels most SMs have nothing to "
        "do. With channels last (NHWC) all have.",
    .remedy =
        "Use channels last for the model and its inputs: model.to(memory_format=torch.channels_last), and the same for each "
        "batch{channels_last!}.",
    .check = check_batch_norm_channels_first,
    .claim = Claim{.time = ClaimedTime::kernels,
                   .turn = 271,
                   .explains = {"low_sm_fill", "gpu_hotspot", "single_large_kernel", "memory_bound_kernels"}},
    .code = "{channels_last!}model = model.to(memory_format=torch.channels_last)",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
