// What one step did that the median one did not.
#include "core/compare/step_difference.h"

#include <doctest/doctest.h>

#include "core/view/steps/steps_model.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_steps.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Steps of 50 us with one operator of 40 us that launches 10 us of GPU work; the first is cold. The last one has another
// operator, of 100 us, that launches 60 us more.
std::string run_with_slow_last_step() {
  std::string text;
  const auto add = [&](const std::string& event) { text += (text.empty() ? "" : ",\n") + event; };
  const auto launch = [&](const char* op, int begin, int dur, const char* kernel, int gpu, int correlation) {
    add(tiny_event("cpu_op", op, 1, begin, dur, ""));
    add(tiny_event("cuda_runtime", "cudaLaunchKernel", 1, begin + 2, 5, fmt::format(R"("correlation": {})", correlation)));
    add(tiny_event("kernel", kernel, 7, begin + 8, gpu,
                   fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation)));
  };
  for (int step = 0; step < 4; ++step) {
    const int begin = 1000 * (step + 1);
    add(tiny_event("user_annotation", fmt::format("ProfilerStep#{}", step), 1, begin, step == 3 ? 160 : 50, ""));
    launch("aten::mm", begin + 1, 40, "gemm", 10, 10 * step + 1);
    if (step == 3) launch("aten::slow", begin + 50, 100, "slow_kernel", 60, 10 * step + 2);
  }
  return "{\"traceEvents\": [" + text + "]}";
}

const StepDifference* row_of(const StepDifferences& found, StepDifference::Of of, std::string_view name) {
  for (const StepDifference& row : found.rows)
    if (row.of == of && row.name == name) return &row;
  return nullptr;
}

}  // namespace

TEST_CASE("a step is held against the median one by what it did") {
  const auto doc = document_from_text(run_with_slow_last_step());
  const auto out = step_differences(compared(*doc), nullptr, slice_named(*doc, "ProfilerStep#3"), "");
  REQUIRE(out.ok());
  CHECK(out->step == "ProfilerStep#3");
  CHECK(out->median == "ProfilerStep#2");
  CHECK(out->step_cpu == 160'000);
  CHECK(out->median_cpu == 50'000);
  CHECK(difference_headline(*out).starts_with("ProfilerStep#3 is 110"));
  const StepDifference* slow = row_of(*out, StepDifference::Of::host, "aten::slow");
  REQUIRE(slow);
  CHECK(slow->count_median == 0);
  CHECK(slow->count_step == 1);
  CHECK(slow->delta() == 95'000);  // without the 5 us of its launch
  const StepDifference* kernel = row_of(*out, StepDifference::Of::gpu_work, "slow_kernel");
  REQUIRE(kernel);
  CHECK(kernel->delta() == 60'000);
  CHECK(&out->rows[0] == slow);
  CHECK_FALSE(row_of(*out, StepDifference::Of::gpu_work, "gemm"));  // the same in both
}

TEST_CASE("the median step has no difference from itself, and a slice that marks no step is refused") {
  const auto doc = document_from_text(run_with_slow_last_step());
  const auto out = step_differences(compared(*doc), nullptr, slice_named(*doc, "ProfilerStep#2"), "");
  REQUIRE(out.ok());
  CHECK(out->is_median());
  CHECK(out->rows.empty());
  CHECK_FALSE(step_differences(compared(*doc), nullptr, slice_named(*doc, "aten::slow"), "").ok());
  const auto one = document_from_text(tiny_run({{{"aten::mm", "gemm", 5}}, 1}));
  CHECK_FALSE(step_differences(compared(*one), nullptr, slice_named(*one, "ProfilerStep#0"), "").ok());
}

TEST_CASE("idle time by cause comes from the account of the two steps") {
  const auto doc = document_from_text(run_with_slow_last_step());
  doc->analyze();
  const TimeAccount& account = doc->analysis()->account();
  const SliceId slow = slice_named(*doc, "ProfilerStep#3");
  const auto out = step_differences(compared(*doc), &account, slow, "");
  REQUIRE(out.ok());
  std::array<AccountTimes, 2> times;
  for (const TimeAccount::StepWindow& window : account.steps())
    for (std::size_t side = 0; side < 2; ++side)
      if (window.step == (side == 0 ? out->median_slice : slow))
        times[side] = account.times_in(*account.busiest(), window.span);
  std::size_t idle_rows = 0;
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    const StepDifference* row =
        row_of(*out, StepDifference::Of::idle, idle_cause_title(static_cast<IdleCause>(c), ProgramKind::python));
    const Ns delta = times[1].idle[c] - times[0].idle[c];
    if (std::abs(delta) < 1600) continue;  // a hundredth of the longer step
    REQUIRE(row);
    CHECK(row->delta() == delta);
    ++idle_rows;
  }
  CHECK(idle_rows > 0);
}

TEST_CASE("the average step is the mean of the steps shown") {
  Step a, b;
  a.cpu = {100, 130};
  b.cpu = {200, 251};
  a.kernels = 3, b.kernels = 5;
  a.time[0] = 7, b.time[0] = 8;
  const Step mean = average_step({&a, &b});
  CHECK(mean.name == "average of 2");
  CHECK(mean.cpu.length() == 40);
  CHECK(mean.kernels == 4);
  CHECK(mean.time[0] == 7);
}
