// Iterations between the ends of optimizer steps, where no step is marked.
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/gpu/gpu_activity.h"
#include "core/analyze/steps.h"
#include "core/compare/comparison.h"
#include "core/load/load_trace.h"
#include "core/replay/replay.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string annotation(const std::string& name, int begin, int length, int thread = 1) {
  return fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"{}","pid":7,"tid":{},"ts":{},"dur":{}}},)", name, thread,
                     begin, length);
}

// An operator that launches a kernel of 10 us, 20 us after `begin`.
std::string launch(int begin) {
  return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":1,"ts":{0},"dur":8}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":1,"ts":{1},"dur":2,"args":{{"correlation":{0}}}}},
{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{2},"dur":10,"args":{{"correlation":{0},"device":0,"stream":7}}}},)",
                     begin, begin + 2, begin + 20);
}

// Four optimizer steps of 10 us, 100 us apart; a second optimizer steps twice.
std::string training() {
  std::string text;
  for (const int i : {0, 1, 2, 3}) text += launch(1000 + 100 * i) + annotation("Optimizer.step#AdamW.step", 1050 + 100 * i, 10);
  return text + annotation("Optimizer.step#SGD.step", 1065, 2) + annotation("Optimizer.step#SGD.step", 1265, 2);
}

struct Recorded {
  explicit Recorded(std::string text)
      : trace(load_text(events(text.erase(text.rfind(','))))),
        lanes(*trace),
        links(*trace, lanes),
        ops(gpu_ops(*trace, links)) {}
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  std::vector<GpuOp> ops;
};

}  // namespace

TEST_CASE("an iteration reaches from the end of an optimizer step to the end of the next, of the optimizer that steps most") {
  const Recorded r(training());
  const Steps steps = make_steps(*r.trace, r.ops);
  CHECK(steps.annotated);
  CHECK_FALSE(steps.are_marked());
  CHECK(steps.iterations_of == "Optimizer.step#AdamW.step");
  REQUIRE(steps.steps.size() == 3);  // what is before the first mark is none
  for (std::size_t i = 0; i < 3; ++i) {
    const Ns begin = r.trace->begin(steps.steps[i].slice) + 10'000 - 100'000;
    CHECK(steps.steps[i].name == iteration_name(i));
    CHECK(steps.steps[i].cpu.begin == begin);
    CHECK(steps.steps[i].cpu.length() == 100'000);
    CHECK(steps.steps[i].kernels == 1);
  }
}

TEST_CASE("a gain is stated of iterations where no step is marked, by their part of the run") {
  const Recorded r(training());
  const StepMarks marks = step_marks(*r.trace);
  CHECK_FALSE(marks.by_profiler);
  REQUIRE(marks.steps.size() == 3);
  CHECK(step_name(*r.trace, marks.steps[1].slice, 1) == "iteration 2");
  const auto model = ReplayModel::make(*r.trace, NameIndex(*r.trace), r.ops);
  CHECK(model->run() == Span{1'002'000, 1'330'000});  // from the first call: what is before the first iteration is of the run
  REQUIRE(model->steps().size() == 3);
  CHECK(model->step_parts().size() == 4);
  // The iterations have 1060 to 1330 of the run's 1002 to 1330.
  CHECK(model->step_share().each(model->run().length()) == 90'000);
  const Recorded late(launch(100) + training());  // what is before the first is more than the rest of one
  CHECK(ReplayModel::make(*late.trace, NameIndex(*late.trace), late.ops)->step_share().steps == 0);
  const ReplayResult same = replay(*model, {});
  CHECK(same.before == same.after);
  for (const ReplayedStep& s : same.steps) CHECK(s.before == s.after);

  const Recorded marked(annotation("ProfilerStep#3", 990, 200) + training());
  const auto whole = ReplayModel::make(*marked.trace, NameIndex(*marked.trace), marked.ops);
  CHECK(whole->has_whole_steps());
  CHECK(whole->run() == Span{990'000, 1'330'000});
  CHECK(whole->step_share().each(whole->run().length()) == 200'000);  // what is launched behind it is none of its
}

TEST_CASE("passes of a serving engine are the steps of a replay where none is marked") {
  const Recorded r(launch(1000) + annotation("execute_context_0(0)_generation_3(3)", 990, 50) + launch(1100) +
                   annotation("execute_context_0(0)_generation_4(4)", 1090, 50));
  const StepMarks marks = step_marks(*r.trace);
  REQUIRE(marks.steps.size() == 2);
  CHECK_FALSE(marks.by_profiler);
  CHECK(step_name(*r.trace, marks.steps[1].slice, 1) == "decode of 4 requests, 4 tokens");
}

TEST_CASE("a step of a replay is as long as the tab Steps says") {
  // A host that is ahead, and one that is behind.
  for (const int host_us : {8, 200}) {
    const Recorded r(launch(1000) + annotation("execute_context_0(0)_generation_3(3)", 1000, host_us));
    const auto model = ReplayModel::make(*r.trace, NameIndex(*r.trace), r.ops);
    const Steps steps = make_steps(*r.trace, r.ops);
    REQUIRE(steps.steps.size() == 1);
    CHECK(model->step_share().length(model->run().length()) == steps.span().length());
  }
}

TEST_CASE("work of before that continues when the first step is marked is none of the steps'") {
  const std::string before =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":980,"dur":35,"args":{"device":0,"stream":7}},)";
  const Recorded r(before + annotation("ProfilerStep#3", 990, 50) + launch(1000) + annotation("ProfilerStep#4", 1040, 50) +
                   launch(1060));
  const auto model = ReplayModel::make(*r.trace, NameIndex(*r.trace), r.ops);
  CHECK(model->run() == Span{990'000, 1'090'000});
  const StepShare share = model->step_share();
  CHECK(share.steps == 2);
  CHECK(share.stepped == 75'000);  // from the end of that work
  CHECK(share.stepped == make_steps(*r.trace, r.ops).span().length());
}

TEST_CASE("between steps is what is in none of them and none of their work") {
  const auto between = [](int second, int gpu_us) {
    const std::string work =
        R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":1,"ts":1000,"dur":5,)"
        R"("args":{"correlation":900}},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1010,"dur":)" +
        std::to_string(gpu_us) + R"(,"args":{"device":0,"stream":7,"correlation":900}},)";
    const Recorded r(work + annotation("ProfilerStep#3", 990, 50) + annotation("ProfilerStep#4", second, 50) +
                     launch(second + 10));
    return ReplayModel::make(*r.trace, NameIndex(*r.trace), r.ops)->step_share().between;
  };
  CHECK(between(1040, 5) == 0);
  CHECK(between(1060, 5) == 20'000);
  CHECK(between(1060, 45) == 5'000);  // 15 of them are work of the first
  CHECK(between(1060, 100) == 0);
}

TEST_CASE("no iterations where steps are marked, asked for, or of two threads one mark each") {
  const Recorded marked(annotation("ProfilerStep#3", 990, 200) + training());
  CHECK(make_steps(*marked.trace, marked.ops).are_marked());
  const Recorded r(training());
  CHECK_FALSE(make_steps(*r.trace, r.ops, "ProfilerStep#").annotated);
  const Recorded threads(launch(1000) + annotation("Optimizer.step#A.step", 1050, 10) +
                         annotation("Optimizer.step#A.step", 1150, 10, 2));
  CHECK(iterations(*threads.trace).empty());
}

TEST_CASE("figures that the plugin makes of its steps stay those of the recording") {
  const Recorded r(training());
  const auto activity = gpu_activity(*r.trace, r.ops, make_steps(*r.trace, r.ops));
  REQUIRE(activity.size() == 1);
  CHECK(activity.front().over == activity.front().all.span);
}

TEST_CASE("recordings of different length are compared by their iterations") {
  const Recorded a(training()), b(training() + launch(1400) + annotation("Optimizer.step#AdamW.step", 1450, 10));
  const auto compared = compare(ComparedTrace{TraceSession(a.trace)}, ComparedTrace{TraceSession(b.trace)});
  REQUIRE(compared.ok());
  const Comparison& c = *compared;
  CHECK(c.a.steps == 3);
  CHECK(c.b.steps == 4);
  CHECK(c.a.of(StepFigure::cpu).median == 100'000);
  CHECK(c.b.of(StepFigure::cpu).median == 100'000);
  CHECK(c.b.steps_of == "Optimizer.step#AdamW.step");
}
