#include "app/sampler/counters/metric_sets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace gapscope::sampler;

namespace {

bool has(const MetricSet& set, Quantity quantity) {
  return std::any_of(set.metrics.begin(), set.metrics.end(), [&](const Metric& m) { return m.quantity == quantity; });
}

int always_one(const std::vector<const char*>&) { return 1; }

}  // namespace

TEST_CASE("every architecture from Turing on has a set that begins with the cycles and has all quantities") {
  for (const char* chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    CAPTURE(chip);
    const MetricSet set = choose_metrics(chip, {}, always_one);
    REQUIRE(set.metrics.size() == 10);
    CHECK_FALSE(set.metrics[0].quantity);
    CHECK(set.sentences.empty());
  }
  CHECK(metrics_of_chip("GV100").empty());
  CHECK(choose_metrics("GV100", {}, always_one).sentences.size() == 1);
  // Names differ where chips do.
  CHECK(metrics_of_chip("GB202")[3].name == "dram__bytes_op_read.sum");
  CHECK(metrics_of_chip("GH100")[1].name == "TPC.TriageCompute.sm__cycles_active.avg");
}

TEST_CASE("what is not there, or does not fit into one pass, is left out with a sentence") {
  const auto passes = [](const std::vector<const char*>& names) {
    const auto is = [&](std::string_view part) {
      return std::any_of(names.begin(), names.end(),
                         [&](const char* n) { return std::string_view(n).find(part) != std::string_view::npos; });
    };
    if (is("nvl")) return 0;                    // not on this machine
    return is("tensor") && is("dram") ? 2 : 1;  // together too many
  };
  const MetricSet set = choose_metrics("GH100", {}, passes);
  CHECK(has(set, Quantity::tensor));
  CHECK_FALSE(has(set, Quantity::dram_read));
  CHECK_FALSE(has(set, Quantity::nvlink_sent));
  CHECK(has(set, Quantity::pcie_read));
  CHECK(set.sentences.size() == 4);
  CHECK(std::any_of(set.sentences.begin(), set.sentences.end(),
                    [](const std::string& s) { return s.find("one pass") != std::string::npos; }));
}

TEST_CASE("groups are chosen by their keys, and a wrong key is named") {
  const MetricSet set = choose_metrics("GH100", {"dram"}, always_one);
  CHECK(set.metrics.size() == 3);
  CHECK_FALSE(has(set, Quantity::sm_active));
  CHECK(split_list("sm,,dram,") == std::vector<std::string>{"sm", "dram"});
  CHECK(trouble_of_list({"sm", "dram"}).empty());
  CHECK(trouble_of_list({"l2"}).find("\"l2\"") != std::string::npos);
}

TEST_CASE("raw values become shares of what a cycle allows, and rates") {
  MetricSet set = choose_metrics("GH100", {"sm", "tensor", "dram"}, always_one);
  // cycles, SM active, tensor pipe, read, write, issue; the tensor pipe's peak as CUPTI states it for Hopper
  set.metrics[2].per_cycle = 4;
  const std::vector<double> raw = {39'600, 19'800, 79'200, 40e6, 20e6, 39'600};
  const CounterReading r = reading_of(set, raw, 0, {0, 20'000}, 4.8e12);
  CHECK(r[Quantity::sm_active] == doctest::Approx(50));
  CHECK(r[Quantity::tensor] == doctest::Approx(50));
  CHECK(r[Quantity::sm_issue] == doctest::Approx(25));
  CHECK(r[Quantity::dram_read] == doctest::Approx(2000));
  CHECK(r[Quantity::dram_share] == doctest::Approx(62.5));
  CHECK(std::isnan(r[Quantity::pcie_read]));
  CHECK(r[Quantity::sm_clock] == 1980);
  // A GPU that was idle, a sample without length, too few values: nothing is made up.
  CHECK(std::isnan(reading_of(set, std::vector<double>(6), 0, {0, 20'000}, 0)[Quantity::sm_active]));
  CHECK(std::isnan(reading_of(set, raw, 0, {5, 5}, 0)[Quantity::dram_read]));
  CHECK(std::isnan(reading_of(set, {}, 0, {0, 20'000}, 0)[Quantity::dram_read]));
}
