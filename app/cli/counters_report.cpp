#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "core/analyze/counters/gpu_counters.h"
#include "core/analyze/counters/kernel_places.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kKernelsShown = 30;
constexpr std::size_t kNameChars = 70;
constexpr const char* kNone = "This trace has no hardware counters. Record with gapscope record --counters -- COMMAND.\n";

struct Shown {
  CounterKind kind;
  const char *key, *title, *unit;
};
constexpr std::array kShown = {
    Shown{CounterKind::sm_active, "sm_active_percent", "SM active", " %"},
    Shown{CounterKind::sm_issue, "sm_issue_percent", "SM issue", " %"},
    Shown{CounterKind::tensor, "tensor_pipe_percent", "tensor pipe", " %"},
    Shown{CounterKind::dram_share, "dram_of_peak_percent", "DRAM of peak", " %"},
    Shown{CounterKind::dram_read, "dram_read_gb_per_s", "DRAM read", " GB/s"},
    Shown{CounterKind::dram_write, "dram_write_gb_per_s", "DRAM write", " GB/s"},
    Shown{CounterKind::pcie_read, "pcie_read_gb_per_s", "PCIe read", " GB/s"},
    Shown{CounterKind::pcie_write, "pcie_write_gb_per_s", "PCIe write", " GB/s"},
    Shown{CounterKind::nvlink_received, "nvlink_received_gb_per_s", "NVLink received", " GB/s"},
    Shown{CounterKind::nvlink_sent, "nvlink_sent_gb_per_s", "NVLink sent", " GB/s"},
    Shown{CounterKind::watts, "power_w", "power", " W"},
    Shown{CounterKind::sm_mhz, "sm_clock_mhz", "SM clock", " MHz"},
    Shown{CounterKind::celsius, "temperature_c", "temperature", " C"},
};

std::vector<Span> busy_spans(const std::vector<GpuOp>& ops) {
  std::vector<Span> busy;
  for (const GpuOp& op : ops) {
    if (!busy.empty() && op.span.begin <= busy.back().end)
      busy.back().end = std::max(busy.back().end, op.span.end);
    else
      busy.push_back(op.span);
  }
  return busy;
}

Json means_json(const CounterMeans& means) {
  Json out = {{"samples", means.samples}, {"measured", means.measured()}};
  for (const Shown& shown : kShown)
    if (means.knows(shown.kind)) out[shown.key] = means[shown.kind];
  out["energy_j"] = std::isnan(means.joules) ? Json(nullptr) : Json(means.joules);
  return out;
}

std::string means_text(const CounterMeans& means) {
  if (!means.measured()) return "too short to measure";
  std::string out;
  for (const Shown& shown : kShown)
    if (means.knows(shown.kind))
      out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", shown.title, format_significant(means[shown.kind]), shown.unit);
  if (!std::isnan(means.joules)) out += fmt::format(", energy {} J", format_significant(means.joules));
  return out + fmt::format(" ({} samples)", format_count(static_cast<std::int64_t>(means.samples)));
}

std::string kernels_text(const Trace& trace, const std::vector<MeasuredKernel>& kernels) {
  std::string out = fmt::format("{:>10} {:>9} {:>8} {:>8} {:>8}  {:<21} {}\n", "time", "launches", "SM %", "tensor %", "DRAM %",
                                "place", "kernel");
  const auto share = [](const MeasuredKernel& k, CounterKind kind) {
    return k.place == KernelPlace::unmeasured || !k.means.knows(kind) ? std::string("-") : fmt::format("{:.1f}", k.means[kind]);
  };
  for (const MeasuredKernel& k : std::span(kernels).first(std::min(kernels.size(), kKernelsShown)))
    out += fmt::format("{:>10} {:>9} {:>8} {:>8} {:>8}  {:<21} {}\n", format_duration(k.time), k.launches,
                       share(k, CounterKind::sm_active), share(k, CounterKind::tensor), share(k, CounterKind::dram_share),
                       place_name(k.place), printable(std::string(trace.strings[k.name].substr(0, kNameChars))));
  if (kernels.size() > kKernelsShown) out += fmt::format("and {} more kernels\n", kernels.size() - kKernelsShown);
  return out;
}

Json kernel_json(const Trace& trace, const MeasuredKernel& kernel) {
  Json out = {{"name", trace.strings[kernel.name]}, {"device", kernel.device},
              {"launches", kernel.launches},        {"time_ns", kernel.time},
              {"pooled_launches", kernel.pooled},   {"place", place_name(kernel.place)}};
  out["means"] = means_json(kernel.means);
  return out;
}

}  // namespace

std::string counters_report(const Trace& trace, const LaneIndex&, const LinkIndex& links, const AnalysisOptions& options) {
  const std::vector<DeviceCounters> counters = gpu_counters(trace);
  if (counters.empty() && !options.json) return kNone;
  const std::vector<GpuOp> ops = gpu_ops(trace, links);
  const std::vector<MeasuredKernel> kernels = measure_kernels(trace, ops, counters);
  Json devices = Json::array();
  std::string text;
  for (const DeviceCounters& device : counters) {
    const CounterMeans busy = device.over(busy_spans(ops_of_device(ops, device.device()))), window = device.over(trace.span);
    devices.push_back({{"device", device.device()}, {"while_busy", means_json(busy)}, {"window", means_json(window)}});
    text += fmt::format("GPU {} while it works: {}\nGPU {} in the whole window: {}\n", device.device(), means_text(busy),
                        device.device(), means_text(window));
  }
  if (!options.json) return text + "\n" + kernels_text(trace, kernels);
  Json list = Json::array();
  for (const MeasuredKernel& kernel : kernels) list.push_back(kernel_json(trace, kernel));
  return Json{{"devices", devices}, {"kernels", list}}.dump(2) + "\n";
}

}  // namespace gapscope
