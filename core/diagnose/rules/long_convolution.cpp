#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastLongShare = 0.10;  // of the GPU time
constexpr double kLeastTaps = 128;        // of a filter, for each place that it moves on

// Values of the filters of a convolution along one axis, by the sizes of what goes in, the weights and what comes out; 0 where
// they are not that long for each place that the filter moves on.
double taps_of(const Sizes& in, const Sizes& weight, const Sizes& out) {
  if (in.size() != 3 || weight.size() != 3 || out.size() != 3 || out[1] != weight[0] || out[2] <= 0) return 0;
  return weight[2] >= kLeastTaps * std::max(1.0, in[2] / out[2]) ? weight[2] : 0;
}

std::vector<Finding> check_long_convolution(const Facts& facts) {
  std::vector<SliceId> ops;
  double longest = 0;
  bool per_channel = true;  // one input channel a filter
  const auto add = [&](SliceId op, double taps, const Sizes& weight) {
    if (taps == 0) return;
    ops.push_back(op);
    longest = std::max(longest, taps);
    per_channel &= weight[1] == 1;
  };
  // The strides are not recorded, so what comes out is the next operator's input.
  for (const Operators& row : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const std::string_view name = facts.trace.name(row[i]);
      if (name != "aten::conv1d" && name != "aten::convolution") continue;
      const auto call = recorded_call(facts, row[i]), next = recorded_call(facts, row[i + 1]);
      if (call && next) add(row[i], taps_of(call->sizes(0), call->sizes(1), next->sizes(0)), call->sizes(1));
    }
  for (const SliceId s : cpu_slices_called(facts, "aten::convolution_backward", kIsOp))
    if (const auto call = recorded_call(facts, s))
      add(s, taps_of(call->sizes(1), call->sizes(2), call->sizes(0)), call->sizes(2));
  if (ops.empty()) return {};
  const LaunchedWork work = work_launched_in(facts, ops);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastLongShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = work.time;
  finding.summary = fmt::format("{} with filters of up to {} values, forward and backward, took {} of the GPU time ({}).",
                                sentence_start(counted(ops.size(), "convolution")), format_average(longest),
                                format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", ops.size()}, {"total_us", as_us(work.time)}, {"share", share}});
  if (per_channel) finding.code = "y = torch.fft.irfft(torch.fft.rfft(x, n=n) * torch.fft.rfft(w, n=n).conj(), n=n)";
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule long_convolution = {
    .id = "long_convolution",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsShapes | kNeedsLaunches,
    .title = "Convolutions with very long filters",
    .meaning =
        "cuDNN multiplies each value with the whole filter, so the time of a convolution grows with the filter's length. With "
        "Fourier transforms it hardly grows.",
    .remedy =
        "Convolve by FFT: multiply torch.fft.rfft(input) by torch.fft.rfft(filter).conj(), and transform back. Pad both to a "
        "length n of at least input plus filter. For spectrograms use torch.stft.",
    .check = check_long_convolution,
    .claim = Claim{.time = ClaimedTime::kernels,
                   .turn = 248,
                   .explains = {"fp32_gemm_cuda_cores", "tf32_gemm", "memory_bound_kernels"}},
    .gives = {Cure::work},
};

}  // namespace gapscope
