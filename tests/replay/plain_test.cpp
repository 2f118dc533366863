// The plain program: what is estimated of a step's length on recordings that no constant was fitted to, compared with timings
// without a profiler; what a stated step gives; that without it nothing changes.
#include "core/replay/plain_program.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"
#include "core/replay/changes.h"
#include "core/replay/replay.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Modeled {
  explicit Modeled(std::shared_ptr<const Trace> t)
      : trace(std::move(t)),
        lanes(*trace),
        links(*trace, lanes),
        model(ReplayModel::make(*trace, NameIndex(*trace), gpu_ops(*trace, links))) {}

  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::unique_ptr<const ReplayModel> model;
};

std::filesystem::path plain_folder() { return recordings_folder() / "plain"; }

// By recording, in ns.
std::vector<std::pair<std::string, double>> timings() {
  std::ifstream file(plain_folder() / "plain.json");
  std::vector<std::pair<std::string, double>> out;
  const nlohmann::json truth = nlohmann::json::parse(file);
  for (const auto& [recording, ms] : truth.at("plain_ms").items()) out.emplace_back(recording, ms.get<double>() * 1e6);
  return out;
}

Modeled recorded(const std::string& name) { return Modeled(load_once(plain_folder() / (name + ".json.xz"))); }

// Two steps of 1 ms in which one operator launches a kernel of 10 us.
std::string two_steps(const std::string& metadata = "") {
  std::string all;
  for (int i = 0; i < 2; ++i) {
    const int at = 1000 * i;
    const auto us = [&](int t) { return std::to_string(at + t); };
    const std::string id = std::to_string(i + 1);
    all += (i == 0 ? "" : ",") + slice("ProfilerStep#" + id, us(0), "1000", "", "user_annotation") + "," +
           slice("aten::add", us(100), "500", "", "cpu_op") + "," +
           slice("cudaLaunchKernel", us(200), "10", R"(, "args": {"correlation": )" + id + "}", "cuda_runtime") + "," +
           slice("k", us(220), "10", R"(, "args": {"correlation": )" + id + R"(, "device": 0, "stream": 7})", "kernel", "70");
  }
  return "{" + metadata + events(all).substr(1);
}

}  // namespace

TEST_CASE("plain steps that no fit has seen are estimated within the range that is printed") {
  std::vector<double> errors;
  std::size_t inside = 0, right = 0;
  for (const auto& timing : timings()) {
    const std::string& name = timing.first;
    const double truth = timing.second;
    const Modeled m = recorded(name);
    const auto plain = plain_program(*m.trace, *m.model, std::nullopt);
    REQUIRE_MESSAGE(plain, name);
    const double step = static_cast<double>(plain->step), error = step / truth - 1;
    const bool is_inside = static_cast<double>(plain->low) <= truth && truth <= static_cast<double>(plain->high);
    const double share = plain->gpu_share * step / truth;
    std::cout << fmt::format("{:<24} plain {:7.2f} ms, estimated {:7.2f} ({:.2f} to {:.2f}), {:+5.1f} %{}, GPU {:.0f} %\n",
                             name, truth / 1e6, step / 1e6, static_cast<double>(plain->low) / 1e6,
                             static_cast<double>(plain->high) / 1e6, 100 * error, is_inside ? "" : " OUTSIDE",
                             100 * plain->gpu_share);
    errors.push_back(std::fabs(error));
    inside += is_inside;
    const bool open = (plain->gpu_share_low >= 0.7) != (plain->gpu_share_high >= 0.7);  // both are named
    right += open || (share >= 0.7) == (plain->gpu_share >= 0.7);
  }
  REQUIRE(errors.size() > 20);
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] < 0.12);
  CHECK(errors[errors.size() * 8 / 10] < 0.30);  // of offload_pageable the recorded copies alone take longer than plain steps
  CHECK(100 * inside >= 95 * errors.size());
  CHECK(10 * right >= 8 * errors.size());
}

TEST_CASE("the replay gives a stated step") {
  for (const auto& timing : timings()) {
    const std::string& name = timing.first;
    const double truth = timing.second;
    const Modeled m = recorded(name);
    const auto stated = static_cast<Ns>(truth);
    const auto plain = plain_program(*m.trace, *m.model, stated);
    CHECK(plain->source == PlainSource::stated);
    CHECK_MESSAGE(std::abs(plain->step - stated) * 100 <= 3 * stated, name);
    if (!plain->trouble.empty()) continue;
    Change change;
    change.pace = plain->pace;
    const ReplayResult run = replay(*m.model, change);
    const auto steps = static_cast<Ns>(run.steps.size());
    if (plain->steps == run.steps.size())
      CHECK_MESSAGE(std::abs(run.after / steps - stated) * 10 <= stated, name, ": ", run.after / steps, " for ", stated);
  }
}

TEST_CASE("what a host far ahead had left for its GPU to do does not make the gain of a step less") {
  const Modeled m = recorded("gemm_fp32_full");  // of 48 operations 16 are of steps before, 98 % of the time is in products
  const auto plain = plain_program(*m.trace, *m.model, std::nullopt);
  REQUIRE(plain);
  std::vector<std::uint32_t> all(m.model->ops().size());
  std::iota(all.begin(), all.end(), 0u);
  const Change before = plain_change(plain.get()), after = both(before, scaled_ops(*m.model, all, 0.25));
  const Ns run = replay(*m.model, before).after;
  const Ns gain = plain->share(run).each(run - replay(*m.model, after).after);
  CHECK(gain * 100 > 73 * plain->step);
  CHECK(gain * 100 < 77 * plain->step);
}

TEST_CASE("memory is freed when the GPU is done, which a recording with a slow host does not show") {
  // Operators run during a kernel of 600 us, one call is made after its end, and then more operators.
  const auto step_with = [](const char* call) {
    std::string all;
    for (int i = 0; i < 3; ++i) {
      const auto us = [&](int t) { return std::to_string(1000 * i + t); };
      const std::string id = std::to_string(i + 1);
      all += (i == 0 ? "" : ",") + slice("ProfilerStep#" + id, us(0), "1000", "", "user_annotation") + "," +
             slice("cudaLaunchKernel", us(12), "5", R"(, "args": {"correlation": )" + id + "}", "cuda_runtime") + "," +
             slice("k", us(30), "600", R"(, "args": {"correlation": )" + id + R"(, "device": 0, "stream": 7})", "kernel", "70");
      for (int t = 20; t < 980; t += 15)
        if (t != 710) all += "," + slice("aten::view", us(t), "10", "", "cpu_op");
      all += "," + slice(call, us(710), "10", "", "cuda_runtime");
    }
    const Modeled m(load_text(events(all)));
    const auto plain = plain_program(*m.trace, *m.model, std::nullopt);
    REQUIRE(plain);
    return std::pair(plain->step, replay(*m.model, plain_change(plain.get())).after);
  };
  const auto [freed, freed_replayed] = step_with("cudaFree");
  const auto [asked, asked_replayed] = step_with("cudaMalloc");
  CHECK(freed > asked + 30 * kNsPerUs);
  CHECK(freed_replayed > asked_replayed);
}

TEST_CASE("a step that no host time gives is said to be out of reach") {
  const Modeled m = recorded("gemm_fp32_lean");
  const auto plain = plain_program(*m.trace, *m.model, 5 * kNsPerMs);
  CHECK(plain->trouble.find("less than the GPU's own work of a step") != std::string::npos);
}

TEST_CASE("a step that the program measured itself counts as measured") {
  const Modeled m(load_text(two_steps(R"("gapscope_plain_step_ns": [400000, 600000], )")));
  const auto plain = plain_program(*m.trace, *m.model, std::nullopt);
  REQUIRE(plain);
  CHECK(plain->source == PlainSource::measured);
  CHECK(plain->step == 500'000);
  CHECK(plain_program(*m.trace, *m.model, 450'000)->source == PlainSource::stated);
}

TEST_CASE("a short step of the host keeps its order and never takes longer than it did") {
  const Modeled m(load_text(two_steps()));
  const auto plain = plain_program(*m.trace, *m.model, std::nullopt);
  REQUIRE(plain);
  CHECK(plain->source == PlainSource::estimated);
  CHECK(plain->step > 0);
  CHECK(plain->step <= kNsPerMs);
  Ns last = plain->pace->at(-1000);
  for (Ns t = 0; t < 3 * kNsPerMs; t += 777) {
    const Ns now = plain->pace->at(t);
    CHECK(now >= last);
    CHECK(now <= t);
    last = now;
  }
}

TEST_CASE("nothing is said of a recording without operators, and nothing is asked for unless it is stated") {
  const Modeled m(
      load_text(events(slice("cudaLaunchKernel", "10", "5", R"(, "args": {"correlation": 1})", "cuda_runtime") + "," +
                       slice("k1", "20", "100", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "kernel", "70"))));
  CHECK(plain_program(*m.trace, *m.model, std::nullopt) == nullptr);
  CHECK(m.trace->stated.as_recorded);
}
