// Passes of a serving engine as the steps of a recording.
#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/inference/serving_passes.h"
#include "core/analyze/steps.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A pass of 100 us with `kernels` of 10 us, in microseconds.
std::string pass(const std::string& name, int at, int kernels) {
  std::string all =
      fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"{}","pid":7,"tid":1,"ts":{},"dur":100}})", name, at);
  for (int k = 0; k < kernels; ++k) {
    all += fmt::format(
        ",\n"
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":1,"ts":{},"dur":1,"args":{{"correlation":{}}}}})",
        at + k, at + k);
    all += fmt::format(
        ",\n"
        R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":5,"args":{{"correlation":{},"device":0,"stream":7}}}})",
        at + 10 * k + 5, at + k);
  }
  return all;
}

struct Passes {
  explicit Passes(const std::string& text, const std::string& annotation = {})
      : trace(load_text(events(text))),
        lanes(*trace),
        links(*trace, lanes),
        steps(make_steps(*trace, gpu_ops(*trace, links), annotation)) {}
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  Steps steps;
};

std::string served() {
  return pass("execute_context_1(500)_generation_0(0)", 1000, 8) + ",\n" +
         pass("execute_context_0(0)_generation_4(4)", 1200, 2) + ",\n" + pass("execute_context_0(0)_generation_4(4)", 1400, 2);
}

}  // namespace

TEST_CASE("without ProfilerStep# the passes are the steps, and none is cut off for doing less than the one before") {
  const Passes all(served());
  CHECK(all.steps.annotated);
  REQUIRE(all.steps.steps.size() == 3);
  CHECK(all.steps.dropped == 0);
  CHECK(all.steps.steps[0].name == "prefill of 1 request, 500 tokens");
  CHECK(all.steps.steps[1].name == "decode of 4 requests, 4 tokens");
  CHECK(all.steps.steps[0].kernels == 8);
  const auto phases = phase_figures(*all.trace, all.steps);
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].phase == "decode");
  CHECK(phases[0].steps == 2);
  CHECK(phases[0].decode_tokens == 8);
  CHECK(phases[0].time == 200'000);
  CHECK(phases[0].tokens_per_second() == doctest::Approx(40'000));
  CHECK(phase_words(phases[0]) == "2 steps, 4 requests each, 8 tokens in 200 µs: 40,000 tokens/s");
  CHECK(phases[1].prefill_tokens == 500);
}

TEST_CASE("a phase may be asked for by name, and steps of PyTorch come first") {
  const Passes decode(served(), "decode");
  CHECK(decode.steps.steps.size() == 2);
  const Passes named(served() + ",\n" + pass("decode", 2000, 1), "decode");
  CHECK(named.steps.steps.size() == 1);
  const Passes plugin(served(), "ProfilerStep#");
  CHECK(!plugin.steps.annotated);
  const Passes steps(served() + ",\n" + pass("ProfilerStep#3", 2000, 1));
  REQUIRE(steps.steps.steps.size() == 1);
  CHECK(phase_figures(*steps.trace, steps.steps).empty());
}

TEST_CASE("recordings of vLLM have their passes") {
  for (const auto& [name, words] : {std::pair("tracelens_b200_vllm_moe", "prefill of 1 request, 888 tokens"),
                                    std::pair("tracelens_mi300_graph_execution", "decode of 32 requests, 32 tokens")}) {
    const auto path = recording_or_none(name);
    if (path.empty()) {
      REQUIRE(!has_shared("the passes of vLLM"));
      continue;
    }
    const Trace& trace = *load_once(path);
    const LaneIndex lanes(trace);
    const LinkIndex links(trace, lanes);
    const Steps steps = make_steps(trace, gpu_ops(trace, links));
    REQUIRE(steps.steps.size() == 1);
    CHECK(steps.steps[0].name == words);
  }
}
