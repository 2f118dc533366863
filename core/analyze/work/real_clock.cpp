#include "core/analyze/work/real_clock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/counters/gpu_counters.h"
#include "core/analyze/gpu/devices.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/base/span_set.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// Operations of an SM's tensor cores in a clock, in fp16, dense: NVIDIA's white papers of A100, H100 and Blackwell. By them 108
// SMs of an A100 reach its 312 TFLOP/s at 1,410 MHz, 132 of an H100 its 989.5 at 1,830, 148 of a B200 its 2,250 at 1,856.
struct TensorRate {
  std::int64_t major, minor;
  double per_clock;
};
constexpr auto kTensorRates = std::to_array<TensorRate>({{8, 0, 2048}, {9, 0, 4096}, {10, 0, 8192}, {10, 3, 8192}});

SpanSet kernels_of(const Trace& trace, const LinkIndex& links, std::int32_t device) {
  std::vector<Span> spans;
  for (const GpuOp& op : gpu_ops(trace, links))
    if (op.device == device && op.is_kernel()) spans.push_back(op.span);
  return span_set(std::move(spans));
}

std::optional<RealClock> clock_of(const Trace& trace, const LinkIndex& links, const DeviceCounters& counters) {
  const DeviceProperties* own = trace.device(counters.device());
  const auto peak = dense_peak(trace.stated.roofs, gpu_name(trace, counters.device()), MathType::fp16);
  if (own == nullptr || own->sms <= 0 || !peak) return {};
  const auto* rate = std::find_if(kTensorRates.begin(), kTensorRates.end(), [&](const TensorRate& r) {
    return r.major == own->compute_major && r.minor == own->compute_minor;
  });
  if (rate == kTensorRates.end()) return {};
  const double mhz = counters.over(kernels_of(trace, links, counters.device())).clock();
  if (!(mhz > 0)) return {};
  return RealClock{counters.device(), mhz, *peak / (static_cast<double>(own->sms) * rate->per_clock) / 1e6};
}

}  // namespace

std::optional<RealClock> real_clock(const Trace& trace, const LinkIndex& links) {
  for (const DeviceCounters& counters : gpu_counters(trace))
    if (auto clock = clock_of(trace, links, counters)) return clock;
  return {};
}

std::string clock_words(const Trace& trace, const LinkIndex& links) {
  const auto clock = real_clock(trace, links);
  const auto peak = clock ? dense_peak(trace.stated.roofs, gpu_name(trace, clock->device), MathType::bf16) : std::nullopt;
  if (!peak) return {};
  const auto whole = [](double n) { return format_count(std::llround(n)); };
  return fmt::format("GPU {} ran at {} MHz while kernels ran; peaks are of {} MHz: bf16 {} TFLOP/s at its clock", clock->device,
                     whole(clock->mhz), whole(clock->peak_mhz), whole(*peak * clock->mhz / clock->peak_mhz / 1e12));
}

}  // namespace gapscope
