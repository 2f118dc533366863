#include "app/sampler/counters/metric_sets.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gapscope::sampler {
namespace {

constexpr double kClockStep = 5;             // MHz: a sample's length is known to some tens of nanoseconds, no better
constexpr double kInstructionsPerCycle = 4;  // an SM's four schedulers issue one each

// Units that stream their samples together ("Triage") are cheapest to read, where a chip has them for what is asked.
struct Architecture {
  std::array<std::string_view, 4> chips;  // beginnings of names
  std::string_view active, issue, tensor, dram_read, dram_write, pcie;
};
constexpr std::array kArchitectures = {
    // Turing counts its tensor cores only together with FP64 and half precision, which share their pipe.
    Architecture{{"TU"},
                 "SM.TriageA.sm__cycles_active",
                 "SM.TriageA.sm__inst_executed_realtime",
                 "SM.TriageA.sm__pipe_shared_cycles_active_realtime",
                 "dram__bytes_read",
                 "dram__bytes_write",
                 "PCI.TriageA."},
    Architecture{{"GA100", "GA10B"},
                 "sm__cycles_active",
                 "sm__inst_executed_realtime",
                 "sm__pipe_tensor_cycles_active_realtime",
                 "dram__bytes_read",
                 "dram__bytes_write",
                 ""},
    Architecture{{"GA", "AD"},
                 "SM_A.TriageAC.sm__cycles_active",
                 "SM_A.TriageAC.sm__inst_executed_realtime",
                 "sm__pipe_tensor_cycles_active_realtime",
                 "dram__bytes_read",
                 "dram__bytes_write",
                 "PCI.TriageAC."},
    Architecture{{"GB20", "GB10B"},
                 "sm__cycles_active",
                 "sm__inst_executed_realtime",
                 "sm__pipe_tensor_cycles_active_realtime",
                 "dram__bytes_op_read",
                 "dram__bytes_op_write",
                 ""},
    Architecture{{"GH", "GB"},
                 "TPC.TriageCompute.sm__cycles_active",
                 "TPC.TriageCompute.sm__inst_executed_realtime",
                 "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime",
                 "dram__bytes_read",
                 "dram__bytes_write",
                 "PCI.TriageCompute."},
};

const Architecture* architecture_of(std::string_view chip) {
  for (const Architecture& a : kArchitectures)
    for (const std::string_view begin : a.chips)
      if (!begin.empty() && chip.starts_with(begin)) return &a;
  return nullptr;
}

std::string with(std::string_view front, std::string_view back) { return std::string(front).append(back); }

const MetricGroup& group_of(Quantity quantity) {
  const auto groups = metric_groups();
  return *std::find_if(groups.begin(), groups.end(), [&](const MetricGroup& g) {
    return std::find(g.quantities.begin(), g.quantities.end(), quantity) != g.quantities.end();
  });
}

bool is_asked(const std::vector<std::string>& asked, Quantity quantity) {
  return asked.empty() || std::find(asked.begin(), asked.end(), group_of(quantity).key) != asked.end();
}

std::vector<const char*> names_of(const std::vector<Metric>& metrics) {
  std::vector<const char*> names;
  for (const Metric& metric : metrics) names.push_back(metric.name.c_str());
  return names;
}

std::string left_out(const Metric& metric, bool exists) {
  const std::string title(group_of(*metric.quantity).title);
  return exists ? title + " is left out (" + metric.name + "): it does not fit into one pass with the other counters."
                : title + " is left out (" + metric.name + "): this GPU does not offer it here.";
}

}  // namespace

std::span<const MetricGroup> metric_groups() {
  using Q = Quantity;
  static const std::array kGroups = {
      MetricGroup{"sm", "SM activity", {Q::sm_active, Q::sm_issue}, "% of cycles, % of issue slots"},
      MetricGroup{"tensor", "Tensor pipe activity", {Q::tensor}, "% of cycles"},
      MetricGroup{"dram", "DRAM traffic", {Q::dram_read, Q::dram_write, Q::dram_share}, "GB/s, % of peak"},
      MetricGroup{"pcie", "PCIe traffic", {Q::pcie_read, Q::pcie_write}, "GB/s"},
      MetricGroup{"nvlink", "NVLink traffic", {Q::nvlink_received, Q::nvlink_sent}, "GB/s"},
  };
  return kGroups;
}

std::vector<Metric> metrics_of_chip(std::string_view chip) {
  const Architecture* a = architecture_of(chip);
  if (!a) return {};
  using Q = Quantity;
  return {{"gpc__cycles_elapsed.max", std::nullopt, 0},
          {with(a->active, ".avg"), Q::sm_active, 1},
          {with(a->tensor, ".avg"), Q::tensor, 1},
          {with(a->dram_read, ".sum"), Q::dram_read, 0},
          {with(a->dram_write, ".sum"), Q::dram_write, 0},
          {with(a->issue, ".avg"), Q::sm_issue, kInstructionsPerCycle},
          {with(a->pcie, "pcie__read_bytes.sum"), Q::pcie_read, 0},
          {with(a->pcie, "pcie__write_bytes.sum"), Q::pcie_write, 0},
          {"nvlrx__bytes_data_user.sum", Q::nvlink_received, 0},
          {"nvltx__bytes_data_user.sum", Q::nvlink_sent, 0}};
}

MetricSet choose_metrics(std::string_view chip, const std::vector<std::string>& asked, const CountPasses& passes) {
  MetricSet set;
  const std::vector<Metric> all = metrics_of_chip(chip);
  if (all.empty()) {
    set.sentences.push_back("Counters can be sampled from Turing on, and not on a " + std::string(chip) + ".");
    return set;
  }
  for (const Metric& metric : all) {
    if (metric.quantity && !is_asked(asked, *metric.quantity)) continue;
    set.metrics.push_back(metric);
    if (passes(names_of(set.metrics)) == 1) continue;
    set.metrics.pop_back();
    if (!metric.quantity) break;  // nothing to hold the others against
    set.sentences.push_back(left_out(metric, passes({metric.name.c_str()}) > 0));
  }
  if (set.metrics.size() <= 1) {
    set.metrics.clear();
    set.sentences.push_back("Nothing of what was asked can be sampled on this GPU (" + std::string(chip) + ").");
  }
  return set;
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (comma != 0) parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parts;
}

std::string trouble_of_list(const std::vector<std::string>& asked) {
  const auto groups = metric_groups();
  std::string known;
  for (const MetricGroup& group : groups) known.append(known.empty() ? "" : ", ").append(group.key);
  for (const std::string& key : asked)
    if (std::none_of(groups.begin(), groups.end(), [&](const MetricGroup& g) { return g.key == key; }))
      return "There are no counters called \"" + key + "\". There are: " + known + ".";
  return {};
}

CounterReading reading_of(const MetricSet& set, std::span<const double> values, std::int32_t device, const Times& times,
                          double peak_dram) {
  CounterReading reading;
  reading.device = device;
  reading.times = times;
  const auto lasted = static_cast<double>(times.end - times.begin);
  if (lasted <= 0 || values.size() < set.metrics.size() || values.empty()) return reading;
  const double cycles = values[0];
  if (std::isfinite(cycles) && cycles > 0)
    reading[Quantity::sm_clock] = kClockStep * std::round(cycles / lasted * 1000 / kClockStep);
  for (std::size_t i = 1; i < set.metrics.size(); ++i) {
    const Metric& metric = set.metrics[i];
    if (!std::isfinite(values[i]) || values[i] < 0) continue;
    if (metric.per_cycle == 0)
      reading[*metric.quantity] = values[i] / lasted;  // bytes a nanosecond are GB/s
    else if (cycles > 0)
      reading[*metric.quantity] = std::min(100.0, 100 * values[i] / (cycles * metric.per_cycle));
  }
  const double bytes = reading[Quantity::dram_read] + reading[Quantity::dram_write];
  if (peak_dram > 0 && std::isfinite(bytes)) reading[Quantity::dram_share] = std::min(100.0, 100 * bytes * 1e9 / peak_dram);
  return reading;
}

}  // namespace gapscope::sampler
