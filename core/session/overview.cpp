#include "core/session/overview.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/analyze/work/work_table.h"
#include "core/base/saturating.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

// The middle one, or rounded down between the two.
Ns median_of(std::vector<Ns> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const Ns low = values[(values.size() - 1) / 2], high = values[values.size() / 2];
  return low + (high - low) / 2;
}

bool is_matrix_kind(KernelKind kind) {
  return kind == KernelKind::gemm || kind == KernelKind::convolution || kind == KernelKind::attention;
}

KernelKind kind_of(const KernelRow& row) {
  return row.kind == Kind::memcpy ? KernelKind::copy : row.kind == Kind::memset ? KernelKind::memset : row.decoded.kind;
}

void add_kinds(const KernelTable& kernels, RunOverview& out) {
  std::array<KindTime, kKernelKinds> kinds;
  for (const KernelRow& row : kernels.rows) {
    const KernelKind kind = kind_of(row);
    KindTime& sum = kinds[static_cast<std::size_t>(kind)];
    sum.kind = kind;
    sum.count += row.count;
    add_saturating(sum.time, row.total);
    if (row.kind != Kind::kernel) continue;
    add_saturating(out.kernel_time, row.total);
    const std::optional<bool>& tensor_core = row.decoded.tensor_core;
    if (tensor_core.value_or(false)) add_saturating(out.tensor_core_time, row.total);
    if (!is_matrix_kind(kind)) continue;
    add_saturating(out.matrix_time, row.total);
    if (!tensor_core) add_saturating(out.matrix_unknown_time, row.total);
  }
  for (const KindTime& kind : kinds)
    if (kind.count > 0) out.kinds.push_back(kind);
  std::stable_sort(out.kinds.begin(), out.kinds.end(), [](const KindTime& a, const KindTime& b) { return a.time > b.time; });
  out.gpu_time = kernels.total;
}

void add_hottest(const Trace& trace, const std::vector<GpuOp>& ops, const KernelTable& kernels, RunOverview& out) {
  const NcuCommands commands(trace, ops);
  for (const KernelRow& row : kernels.rows) {
    if (out.hottest.size() == kHotKernels) break;
    if (row.kind != Kind::kernel) continue;
    out.hottest.push_back({row.name, row.decoded.short_name, kind_of(row), row.count, row.total, row.share, row.longest,
                           commands.of(row.longest)});
    if (out.hottest.back().short_name.empty()) out.hottest.back().short_name = trace.strings[row.name];
  }
}

std::optional<RooflineFigures> roofline_figures(const Trace& trace, const WorkTable& work) {
  constexpr std::size_t kMostRows = 5;
  RooflineFigures out{sum_floors(trace, work), work.coverage(), work.joined_ns, roofline_rows(trace, work)};
  if (out.sum.kernel_ns <= 0) return {};
  if (out.most.size() > kMostRows) out.most.resize(kMostRows);
  std::erase_if(out.most, [](const RooflineRow& row) { return !row.floor.floor_ns; });
  return out;
}

// The time that the operations of one call would take at the peak, in seconds; nothing where no peak is known, or where its
// row's calls were faster than that.
std::optional<double> time_at_peak(const Trace& trace, const WorkRow& row) {
  const auto peak = row.math ? dense_peak(trace.stated.roofs, gpu_name(trace, row.device), *row.math) : std::nullopt;
  if (!peak || row.kernel_ns <= 0) return std::nullopt;
  const double seconds = *row.each.flops / *peak;
  return seconds * static_cast<double>(row.count) * 1e9 <= static_cast<double>(row.kernel_ns) ? std::optional(seconds)
                                                                                              : std::nullopt;
}

Ns kernel_time_in(const std::vector<GpuOp>& ops, Span window) {
  Ns sum = 0;
  for (const GpuOp& op : ops)
    if (op.is_kernel() && window.contains(op.span.begin)) add_saturating(sum, op.span.length());
  return sum;
}

std::optional<RateFigures> rates_of(const TraceSession& session) {
  const Trace& trace = session.trace();
  const Span window = session.account().window();
  const std::size_t devices = session.account().devices().size();
  if (window.empty() || devices == 0) return std::nullopt;
  RateFigures out;
  std::optional<double> at_peak = 0.0;
  for (const CallWork& call : session.work().calls) {
    const WorkRow& row = session.work().rows[call.row];
    if (!row.is_product || !row.each.flops || call.kernel_ns <= 0 || !window.contains(trace.begin(call.gpu))) continue;
    out.operations += *row.each.flops;
    add_saturating(out.gpu_time, call.kernel_ns);
    const std::optional<double> ideal = time_at_peak(trace, row);
    at_peak = at_peak && ideal ? std::optional(*at_peak + *ideal) : std::nullopt;
  }
  if (out.gpu_time <= 0 || out.operations <= 0) return std::nullopt;
  const double seconds = static_cast<double>(out.gpu_time) / 1e9;
  const double window_seconds = static_cast<double>(window.length()) / 1e9 * static_cast<double>(devices);
  out.kernel_time = kernel_time_in(session.ops(), window);
  out.per_second = out.operations / seconds;
  out.per_second_of_window = out.operations / window_seconds;
  if (at_peak) out.peak_share = *at_peak / seconds;
  if (at_peak) out.peak_share_of_window = *at_peak / window_seconds;
  return out;
}

// Kineto asks for the occupancy with what a block gets without opting in: see the rule occupancy_zero_artifact.
Ns zero_occupancy_time(const Trace& trace, const std::vector<GpuOp>& ops) {
  constexpr std::uint32_t kDefaultSharedMemory = 48 * 1024;
  Ns sum = 0;
  for (const GpuOp& op : ops) {
    const GpuRow& row = trace.gpu[op.gpu_row];
    if (op.is_kernel() && row.occupancy_percent == 0 && row.shared_memory > kDefaultSharedMemory)
      add_saturating(sum, op.span.length());
  }
  return sum;
}

// c10::DeviceType of what shows up as a GPU of a trace: CUDA, HIP, XPU.
bool is_gpu_memory(const MemoryDevice& m) { return m.device_type != 0 && m.device >= 0; }

// The devices that did something, by number; where none did, those that the file describes.
void add_devices(const TraceSession& session, RunOverview& out) {
  const Trace& trace = session.trace();
  std::map<std::int32_t, OverviewDevice> devices;
  for (const GpuActivity& activity : session.usage().devices) devices[activity.device].activity = &activity;
  for (const DeviceAccount& account : session.account().devices()) devices[account.device].account = &account;
  for (const MemoryDevice& memory : session.memory().devices) {
    if (!is_gpu_memory(memory) || memory.points.empty() || !memory.states_totals) continue;
    OverviewDevice& device = devices[memory.device];
    device.peak_bytes = memory.points[memory.peak].allocated;
    if (memory.peak_reserved >= 0) device.peak_reserved_bytes = memory.peak_reserved;
  }
  if (devices.empty())
    for (const DeviceProperties& properties : trace.header.devices) devices[static_cast<std::int32_t>(properties.id)];
  for (auto& [number, device] : devices) {
    device.device = number;
    device.properties = trace.device(number);
    if (device.properties != nullptr) device.name = device.properties->name;
    out.devices.push_back(std::move(device));
  }
}

}  // namespace

StepFigures step_figures(const Steps& steps) {
  StepFigures out;
  std::vector<Ns> lengths;
  for (const Step& step : steps.steps) lengths.push_back(step.span.length());
  out.count = lengths.size();
  out.dropped = steps.dropped;
  out.iterations_of = steps.iterations_of;
  if (lengths.empty()) return out;
  const auto n = static_cast<double>(lengths.size());
  double sum = 0, squares = 0;
  for (const Ns length : lengths) sum += static_cast<double>(length);
  for (const Ns length : lengths) squares += std::pow(static_cast<double>(length) - sum / n, 2);
  out.mean = static_cast<Ns>(sum / n);
  out.deviation = static_cast<Ns>(std::sqrt(squares / n));
  out.first = lengths.front();
  const std::size_t half = lengths.size() / 2;
  const auto part = [&](std::size_t from) {
    const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(from);
    return median_of({begin, begin + static_cast<std::ptrdiff_t>(half)});
  };
  if (half >= 2 && part(0) > 0) out.trend = static_cast<double>(part(lengths.size() - half)) / static_cast<double>(part(0));
  out.median = median_of(lengths);
  out.min = *std::min_element(lengths.begin(), lengths.end());
  out.max = *std::max_element(lengths.begin(), lengths.end());
  return out;
}

RunOverview make_overview(const TraceSession& session) {
  const Trace& trace = session.trace();
  RunOverview out;
  out.recording = recording_facts(session);
  if (session.steps().annotated && !session.steps().steps.empty()) out.steps = step_figures(session.steps());
  out.phases = phase_figures(trace, session.steps());
  add_devices(session, out);
  add_kinds(session.kernels(), out);
  out.zero_occupancy_time = zero_occupancy_time(trace, session.ops());
  add_hottest(trace, session.ops(), session.kernels(), out);
  out.rates = rates_of(session);
  out.roofline = roofline_figures(trace, session.work());
  return out;
}

}  // namespace gapscope
