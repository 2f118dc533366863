#pragma once
// One page's worth of facts about a run: how long its steps are, where its GPUs' time goes, how well they are used, and by
// what. What a recording does not state is nullopt or empty, never 0.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/inference/serving_passes.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/ncu_command/ncu_command.h"
#include "core/analyze/operators/flops.h"
#include "core/analyze/work/roofline_rows.h"
#include "core/session/recording.h"

namespace gapscope {

// Lengths of the steps of `gapscope steps`, where there are any.
struct StepFigures {
  std::size_t count = 0;
  std::uint32_t dropped = 0;  // without their full GPU work: not counted
  std::string iterations_of;  // as in Steps; empty of steps that are marked
  Ns mean = 0, median = 0, min = 0, max = 0;
  Ns deviation = 0;  // standard deviation of the set; 0 of a single step
  Ns first = 0;
  // Median of the later half / of the earlier half, the middle one of an odd number left out; of four steps or more.
  std::optional<double> trend;
};
StepFigures step_figures(const Steps& steps);

// Kernels by what they compute, copies and fills, by the sum of their durations.
struct KindTime {
  KernelKind kind = KernelKind::unknown;  // copies and fills between memories: copy, memset
  std::uint64_t count = 0;
  Ns time = 0;
};

// Work whose operations can be counted: products, convolutions and attention with recorded shapes, that began in the window.
struct RateFigures {
  double operations = 0;
  Ns gpu_time = 0;                   // of the kernels of these
  Ns kernel_time = 0;                // of all kernels of the window
  double per_second = 0;             // while these kernels ran
  double per_second_of_window = 0;   // of one GPU's window
  std::optional<double> peak_share;  // of the dense peak of their types, while they ran; nullopt where a peak is not known
  std::optional<double> peak_share_of_window;
};

struct HotKernel {
  StringId name;
  std::string short_name;
  KernelKind kind = KernelKind::unknown;
  std::uint64_t count = 0;
  Ns time = 0;
  double share = 0;  // of all GPU work, 0..1
  SliceId longest;
  std::optional<NcuCommand> ncu;  // of the longest
};
constexpr std::size_t kHotKernels = 5;

struct OverviewDevice {
  std::int32_t device = 0;
  std::string name;                                             // empty where the file does not say
  const DeviceProperties* properties = nullptr;                 // may be null
  const DeviceAccount* account = nullptr;                       // null: no linked work
  const GpuActivity* activity = nullptr;                        // null: no work at all
  std::optional<std::int64_t> peak_bytes, peak_reserved_bytes;  // of PyTorch's allocator
};

// What kernels reached of their floors (core/analyze/work): of all calls whose floor is known.
struct RooflineFigures {
  FloorSum sum;
  std::optional<double> coverage;  // of the time of kernels with an operator
  Ns joined = 0;                   // time of kernels whose operators are those of their graph's capture
  std::vector<RooflineRow> most;   // the most headroom first, at most five
};

struct RunOverview {
  RecordingFacts recording;
  std::optional<StepFigures> steps;  // nullopt: neither ProfilerStep#, passes of a serving engine nor iterations
  std::vector<PhaseFigures> phases;  // of these passes
  std::vector<OverviewDevice> devices;
  std::vector<KindTime> kinds;              // of all devices, most time first
  Ns gpu_time = 0;                          // sum of all GPU work; what runs side by side counts twice
  Ns kernel_time = 0;                       // of kernels
  Ns zero_occupancy_time = 0;               // of those to whom Kineto gives an occupancy of 0 for their shared memory
  Ns tensor_core_time = 0;                  // of kernels whose name says that they use tensor cores
  Ns matrix_time = 0;                       // of gemm, convolution and attention kernels
  Ns matrix_unknown_time = 0;               // of these, whose name does not say whether they use tensor cores
  std::optional<RateFigures> rates;         // nullopt: no shapes, or no such work
  std::vector<HotKernel> hottest;           // most time first
  std::optional<RooflineFigures> roofline;  // nullopt: no floor is known
};

// Refers to the session, which must outlive it.
RunOverview make_overview(const TraceSession& session);

}  // namespace gapscope
