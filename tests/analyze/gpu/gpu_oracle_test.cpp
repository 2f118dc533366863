// What the TensorBoard plugin and HTA themselves computed for four public recordings, against ours.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/analyze/gpu/gpu_activity.h"
#include "core/analyze/gpu/idle_gaps.h"
#include "core/analyze/gpu/launches.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

constexpr const char* kTraces[] = {"hta_ddp_ns_resolution", "kineto_2021_resnet50", "tracelens_b200_vllm_moe",
                                   "tracelens_h100_bert_small"};

struct Case {
  std::shared_ptr<const Trace> owner;
  const Trace& trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
  json oracle;

  Case(const std::string& name, const std::string& tool)
      : owner(load_once(shared_folder() / "traces/public" / (name + ".json.gz"))),
        trace(*owner),
        lanes(trace),
        links(trace, lanes),
        ops(gpu_ops(trace, links)) {
    std::ifstream file(shared_folder() / "traces/public" / (name + "." + tool + ".json"));
    oracle = json::parse(file);
  }
};

bool near(double mine, double theirs, double share, double absolute) {
  return std::abs(mine - theirs) <= std::abs(theirs) * share + absolute;
}

// As a reader of JSON gets it: the double nearest to the decimal text.
double us(Ns ns) { return static_cast<double>(static_cast<long double>(ns) / kNsPerUs); }

// HTA reads times into doubles (steps of 0.25 us at epoch values), rounds begins up and ends down to whole microseconds,
// leaves out the last of several steps, and keeps GPU work whose launch is earlier than that. Each operation loses up to
// 2 us that way, so its idle times are only reached by reading as it does; exact nanoseconds are what we report.
Span as_hta_reads(Span s) {
  const double begin = us(s.begin), end = begin + us(s.length());
  const auto first = static_cast<Ns>(std::ceil(begin)), last = static_cast<Ns>(std::floor(end));
  return {first * kNsPerUs, std::max(first, last) * kNsPerUs};
}

std::vector<GpuOp> as_hta_sees(const Case& c) {
  const std::vector<SliceId> steps = profiler_steps(c.trace);
  std::vector<GpuOp> out;
  for (GpuOp op : c.ops) {
    if (steps.size() > 1 && op.linked() && op.launch_span.begin >= c.trace.begin(steps.back())) continue;
    op.span = as_hta_reads(op.span);
    op.launch_span = as_hta_reads(op.launch_span);
    out.push_back(op);
  }
  return out;
}

}  // namespace

TEST_CASE("steps and their breakdown are the TensorBoard plugin's") {
  if (!has_shared("the TensorBoard plugin's steps")) return;
  for (const char* name : kTraces) {
    INFO(std::string(name));
    const Case c(name, "tensorboard");
    const Steps steps = make_steps(c.trace, c.ops, "ProfilerStep#");
    const json& theirs = c.oracle["step_time_breakdown_us"];
    REQUIRE(steps.steps.size() == theirs.size());
    constexpr const char* kRoles[] = {"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CpuOp", "Other"};
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const Step& step = steps.steps[i];
      if (steps.annotated) CHECK(step.name == "ProfilerStep#" + c.oracle["steps"][i].get<std::string>());
      CHECK(near(us(step.span.length()), theirs[i]["Total"], 1e-4, 0.5));
      Ns sum = 0;
      for (std::size_t role = 0; role < kStepRoles; ++role) {
        CAPTURE(kRoles[role]);
        // The plugin's times are doubles with steps of 0.25 us at this epoch: 250 copies of 3 us may be off by 0.35 %, and
        // the last figures of a step's break-down inherit what the first lost. Ours are exact.
        CHECK(near(us(step.time[role]), theirs[i][kRoles[role]], 0.004, 5.0));
        sum += step.time[role];
      }
      CHECK(sum == step.span.length());
    }
  }
}

TEST_CASE("utilization, SM efficiency, occupancy and kernel counts are the TensorBoard plugin's") {
  if (!has_shared("the TensorBoard plugin's GPU figures")) return;
  for (const char* name : kTraces) {
    INFO(std::string(name));
    const Case c(name, "tensorboard");
    const auto activity = gpu_activity(c.trace, c.ops, make_steps(c.trace, c.ops, "ProfilerStep#"));
    REQUIRE(activity.size() == 1);
    const GpuFigures& mine = activity[0].figures;
    const json& theirs = c.oracle["gpu"]["0"];
    CHECK(near(mine.utilization.value(), theirs["gpu_utilization"], 0.0002, 0));
    CHECK(near(mine.sm_efficiency.value(), theirs["est_sm_efficiency"], 0.0002, 0));
    CHECK(near(mine.achieved_occupancy_percent.value(), theirs["est_achieved_occupancy_pct"], 0.0002, 0));
    std::int64_t kernels = 0;
    Ns time = 0;
    for (const GpuOp& op : c.ops)
      if (op.is_kernel()) ++kernels, time += op.span.length();
    CHECK(kernels == c.oracle["kernel_count"].get<std::int64_t>());
    CHECK(near(us(time), c.oracle["kernel_total_us"], 0, 0.0005));
  }
}

TEST_CASE("idle, compute and class times are HTA's, once rounded as HTA rounds") {
  if (!has_shared("HTA's breakdowns")) return;
  for (const char* name : kTraces) {
    INFO(std::string(name));
    const Case c(name, "hta");
    const auto ops = as_hta_sees(c);
    const HtaBreakdown mine = gpu_activity(c.trace, ops, make_steps(c.trace, ops, "ProfilerStep#")).front().hta;
    const json& theirs = c.oracle["temporal_breakdown"][0];
    CHECK(near(us(mine.kernel_time), theirs["kernel_time(us)"], 0.002, 1));
    // HTA takes whatever states a stream as GPU work. In the B200 recording that is also an operator: Inductor gave
    // triton_poi_fused_add_bitwise_and_..., 73 whole microseconds on the CPU, an args.stream of 0.
    const double operator_us = std::string(name) == "tracelens_b200_vllm_moe" ? 73 : 0;
    INFO(us(mine.idle), " ", us(mine.compute), " ", us(mine.non_compute), " against ", theirs.dump());
    CHECK(near(us(mine.idle) - operator_us, theirs["idle_time(us)"], 0.002, 1));
    CHECK(near(us(mine.compute) + operator_us, theirs["compute_time(us)"], 0.002, 1));
    CHECK(near(us(mine.non_compute), theirs["non_compute_time(us)"], 0.002, 1));
    for (const json& type : c.oracle["gpu_kernel_breakdown"]["types"]) {
      const std::string word = type["kernel_type"];
      CAPTURE(word);
      std::size_t mask = 0;
      if (word.find("COMPUTATION") != word.npos) mask |= 1;
      if (word.find("COMMUNICATION") != word.npos) mask |= 2;
      if (word.find("MEMORY") != word.npos) mask |= 4;
      CHECK(near(us(mine.together[mask]) + (mask == 1 ? operator_us : 0), type["sum"], 0.002, 1));
    }
  }
}

// By how much operations of a stream begin before the one before has ended, in all.
Ns overlap_on(const std::vector<GpuOp>& ops, std::int32_t stream) {
  Ns overlap = 0;
  const GpuOp* before = nullptr;
  for (const GpuOp& op : ops) {
    if (op.stream != stream) continue;
    if (before) overlap += std::max<Ns>(0, before->span.end - op.span.begin);
    before = &op;
  }
  return overlap;
}

TEST_CASE("idle time by cause, and the depth of queues, are HTA's") {
  if (!has_shared("HTA's idle breakdown")) return;
  for (const char* name : kTraces) {
    INFO(std::string(name));
    const Case c(name, "hta");
    const auto ops = as_hta_sees(c);
    const auto streams = streams_of(ops);
    const auto idle = find_idle(c.trace, ops, streams).streams;
    for (const json& row : c.oracle["idle_time_breakdown"]) {
      for (const StreamIdle& stream : idle) {
        if (stream.stream != row["stream"].get<int>()) continue;
        for (std::size_t k = 0; k < kIdleClasses; ++k) {
          if (idle_class_name(static_cast<IdleClass>(k)) != row["idle_category"].get<std::string>()) continue;
          INFO(us(stream.time[k]), " against ", row.dump());
          // HTA counts overlapping kernels (programmatic dependent launch) as gaps of less than nothing.
          const double overlap_us =
              k == static_cast<std::size_t>(IdleClass::kernel_wait) ? us(overlap_on(ops, stream.stream)) : 0;
          CHECK(near(us(stream.time[k]) - overlap_us, row["idle_time"], 0, 0.001));
        }
      }
    }
    for (const json& row : c.oracle["queue_length_summary"]) {
      for (const StreamQueue& queue : stream_queues(ops, streams)) {
        if (queue.stream != row["('stream', '')"].get<int>()) continue;
        CHECK(queue.max_depth == row["('queue_length', 'max')"].get<std::int64_t>());
        CHECK(static_cast<double>(queue.points.size()) == row["('queue_length', 'count')"].get<double>());
      }
    }
  }
}
