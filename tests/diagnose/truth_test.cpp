// Every rule on every recording of tests/recordings/truth.json: what must fire with its numbers, what must not.
#include <cmath>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/diagnose/catalogue.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

std::optional<double> number_of(const EvidenceValue& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&v.value)) return *d;
  return std::nullopt;
}

// Truth figures are rounded, ratios to two to four decimals.
bool agrees(double mine, double theirs) { return std::abs(mine - theirs) <= std::max(0.006 * std::abs(theirs), 0.006); }

// Where the list counts otherwise than the trace can be read, with the reason. What is measured wins.
struct Otherwise {
  const char* recording;
  const char* rule;
  const char* key;
  double measured;
};
constexpr Otherwise kOtherwise[] = {
    // The kernel that adds up the parts of a split-K product is no product of its own.
    {"softmax_cudagraphs.json", "gemm_kernel_name", "n", 3},
    {"softmax_cudagraphs.json", "gemm_kernel_name", "share", 0.3306},
    {"softmax_eager.json", "gemm_kernel_name", "n", 3},
    {"softmax_eager.json", "gemm_kernel_name", "share", 0.4258},
    {"softmax_inductor.json", "gemm_kernel_name", "n", 3},
    {"softmax_inductor.json", "gemm_kernel_name", "share", 0.4464},
    {"transformer_baseline.json", "gemm_kernel_name", "n", 105},
    {"transformer_baseline.json", "gemm_kernel_name", "share", 0.4420},
    {"transformer_optimized.json", "gemm_kernel_name", "n", 69},
    {"transformer_optimized.json", "gemm_kernel_name", "share", 0.2163},
};

std::optional<double> measured_otherwise(const std::string& recording, const std::string& rule, const std::string& key) {
  for (const Otherwise& o : kOtherwise)
    if (recording == o.recording && rule == o.rule && key == o.key) return o.measured;
  return std::nullopt;
}

void check_evidence(const Finding& finding, const json& truth, const std::string& recording) {
  for (const auto& item : truth.items()) {
    const std::string& key = item.key();
    const json& value = item.value();
    CAPTURE(std::string(key));
    const EvidenceValue* mine = finding.evidence.find(key);
    if (value.is_number()) {
      REQUIRE_MESSAGE(mine != nullptr, "the evidence lacks the number ", key);
      const auto number = number_of(*mine);
      REQUIRE(number.has_value());
      CAPTURE(*number);
      CAPTURE(value.dump());
      const auto otherwise = measured_otherwise(recording, std::string(finding.rule->id), key);
      CHECK(agrees(*number, otherwise.value_or(value.get<double>())));
    } else if (value.is_string() && mine != nullptr) {
      const auto* text = std::get_if<std::string>(&mine->value);
      REQUIRE(text != nullptr);
      std::string wanted = value;
      if (wanted.ends_with("~")) wanted.pop_back();  // the truth file cuts long names
      CHECK(text->starts_with(wanted));
    }
  }
}

json truth() {
  std::ifstream file(recordings_folder() / "truth.json");
  return json::parse(file)["traces"];
}

}  // namespace

TEST_CASE("the totals that rules lean on are those of the truth file") {
  const json all = truth();
  std::size_t walked = 0;
  for (const auto& item : all.items()) {
    const std::string& name = item.key();
    const json& expected = item.value();
    CAPTURE(std::string(name));
    const auto path = recording_or_none(name);
    if (path.empty()) continue;  // one by others
    ++walked;
    const Diagnosed& d = diagnosed_once(path);
    if (!expected.contains("facts")) continue;
    const json& facts = expected["facts"];
    const auto same = [&](const char* key, double mine) {
      if (!facts.contains(key) || !facts[key].is_number()) return;
      CAPTURE(std::string(key));
      CAPTURE(mine);
      CAPTURE(facts[key].dump());
      CHECK(agrees(mine, facts[key].get<double>()));
    };
    same("gpu_util", d.facts.gpu_util.value_or(0));
    same("gpu_busy_us", as_us(d.facts.busy_in_window));
    same("window_us", as_us(d.facts.window.length()));
    same("cpu_active_us", as_us(d.facts.cpu_active));
    same("sync_us", as_us(d.facts.sync_time));
    same("ratio", d.facts.cpu_to_gpu.value_or(0));
    same("steps", static_cast<double>(d.facts.step_count()));
    same("gpu_ops", static_cast<double>(d.facts.ops.size()));
    same("linked", static_cast<double>(d.facts.linked));
    same("gpu_sum_us", as_us(d.facts.gpu_sum));
    same("cpu_total_us", as_us(d.facts.cpu_total));
  }
  CHECK(walked >= 32);
}

TEST_CASE("on every recording the rules say what must be said, with its numbers, and nothing that must not") {
  const json all = truth();
  std::size_t walked = 0;
  for (const auto& item : all.items()) {
    const std::string& name = item.key();
    const json& expected = item.value();
    CAPTURE(std::string(name));
    const auto path = recording_or_none(name);
    if (path.empty()) continue;  // one by others
    ++walked;
    const Diagnosed& d = diagnosed_once(path);
    for (const auto& must : expected["must"].items()) {
      const std::string& rule = must.key();
      const json& evidence = must.value();
      CAPTURE(std::string(rule));
      const auto findings = d.findings(rule);
      CHECK_MESSAGE(!findings.empty(), name, " must have ", rule, ": ", evidence.dump());
      if (!findings.empty()) check_evidence(*findings.front(), evidence, name);
    }
    for (const std::string rule : expected["must_not"]) {
      CAPTURE(std::string(rule));
      CHECK(rule_by_id(rule) != nullptr);
      CHECK_MESSAGE(!d.fires(rule), name, " must not have ", rule,
                    d.fires(rule) ? ": " + d.findings(rule).front()->summary : "");
    }
  }
  CHECK(walked >= 32);
}
