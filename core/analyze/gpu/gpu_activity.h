#pragma once
// What a GPU did with its time. Three views that people know by name: TraceLens' timeline, HTA's temporal breakdown and
// the TensorBoard plugin's three figures. What a recording does not state is nullopt, never 0 and never NaN.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/gpu/gpu_series.h"
#include "core/analyze/steps.h"

namespace gapscope {

// TraceLens: unions of spans. total = compute + exposed_communication + exposed_copy + idle, exactly.
struct GpuTimeline {
  Span span;                // first begin .. last end
  std::uint64_t count = 0;  // operations
  Ns total = 0;             // length of the span
  Ns busy = 0;              // anything at all runs
  Ns idle = 0;              // total - busy
  Ns compute = 0;           // kernels that are no communication, and memsets
  Ns communication = 0;
  Ns exposed_communication = 0;  // while no compute runs
  Ns copy = 0;
  Ns exposed_copy = 0;  // while neither compute nor communication runs
};
GpuTimeline gpu_timeline(const std::vector<GpuOp>& ops, bool linked_only);

// HTA's classes of GPU work, by its own patterns.
enum class HtaClass : std::uint8_t { computation, communication, memory };
HtaClass hta_class(std::string_view name);

// HTA: kernel_time = idle + compute + non_compute.
struct HtaBreakdown {
  Ns kernel_time = 0;
  Ns idle = 0;
  Ns compute = 0;
  Ns non_compute = 0;
  // Time by which classes run together: bit 1 << HtaClass; [1] is computation alone, [3] computation alongside communication.
  std::array<Ns, 8> together{};
  std::optional<double> overlap;  // share of communication that computation hides; nullopt without communication
};

// The plugin's figures over the steps: nullopt where the recording lacks what they are made of.
struct GpuFigures {
  std::optional<double> utilization;                 // a kernel runs / the steps' time
  std::optional<double> sm_efficiency;               // mean over time of min(1, blocks per SM of running kernels)
  std::optional<double> achieved_occupancy_percent;  // mean over kernel time
};
GpuFigures gpu_figures(const Trace& trace, const std::vector<GpuOp>& ops, const GpuSeries& series, Span over);

// One device, with launches in the file and with all. When nothing is linked the recording has no launches at all, and
// `linked` holds everything as well.
struct GpuActivity {
  std::int32_t device = 0;
  Span over;  // what `figures` refer to: the steps; where none are marked the device's own span, or all if its work is linked
  GpuFigures figures;
  GpuTimeline linked;
  GpuTimeline all;
  std::uint64_t unlinked_count = 0;
  Ns unlinked_time = 0;  // plain sum of durations
  bool any_linked = false;
  HtaBreakdown hta;
};
// One entry a device that did work; their series too, in the same order, where `series` is given.
std::vector<GpuActivity> gpu_activity(const Trace& trace, const std::vector<GpuOp>& ops, const Steps& steps,
                                      std::vector<GpuSeries>* series = nullptr);

// The window that diagnostics speak of, the same as the time account's (time_account.h says which); where no CPU work is in the
// file, from the first begin to the last end of GPU work.
struct GpuUse {
  Span window;
  Ns length = 0;                          // of the window, without what is between recordings of one file
  Ns busy = 0;                            // union of all GPU work inside the window
  std::optional<double> gpu_util;         // busy / length
  std::optional<double> gpu_window_util;  // busy of linked work / (last end - first begin of linked work)
};
Span analysis_window(const Trace& trace, const std::vector<GpuOp>& ops);
GpuUse gpu_use(const Trace& trace, const std::vector<GpuOp>& ops);

}  // namespace gapscope
