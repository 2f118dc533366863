#pragma once
// Which of a GPU's metrics are sampled: a table by architecture: taken is what the GPU has and what fits into one pass
// together. Names are those of CUPTI's profiler host API.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/sampler/counters/readings.h"

namespace gapscope::sampler {

struct Metric {
  std::string name;                  // "TPC.TriageCompute.sm__cycles_active.avg"
  std::optional<Quantity> quantity;  // none: the cycles that passed, against which the others are held
  double per_cycle = 0;              // the most that it reaches in a cycle; 0: it counts bytes
};

// A group that a person can ask for: "sm", "tensor", "dram", "pcie", "nvlink".
struct MetricGroup {
  std::string_view key, title;
  std::vector<Quantity> quantities;
  std::string_view units;
};
std::span<const MetricGroup> metric_groups();

// By CUPTI's name of the chip ("GH100"), the most telling first; empty where its samples cannot be taken (before Turing).
std::vector<Metric> metrics_of_chip(std::string_view chip);

struct MetricSet {
  std::vector<Metric> metrics;         // the first counts cycles; empty: nothing can be sampled
  std::vector<std::string> sentences;  // what was left out, and why
};

// `passes` shows how many passes a set of names takes: 0 where a name is not known or not available.
using CountPasses = std::function<int(const std::vector<const char*>&)>;
// `asked`: keys of groups; empty means all of them.
MetricSet choose_metrics(std::string_view chip, const std::vector<std::string>& asked, const CountPasses& passes);

// What is wrong with a list of groups that a person wrote ("sm,dram"); empty: nothing.
std::string trouble_of_list(const std::vector<std::string>& asked);
std::vector<std::string> split_list(std::string_view list);

// `values` in the order of the set's metrics, `peak_dram` in bytes a second (0: unknown).
CounterReading reading_of(const MetricSet& set, std::span<const double> values, std::int32_t device, const Times& times,
                          double peak_dram);

}  // namespace gapscope::sampler
