// The overview's facts: small cases by hand, and sums that hold in every recording.
#include <map>
#include <memory>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/session/overview.h"
#include "core/session/trace_session.h"
#include "core/trace/crop_mark.h"
#include "tests/support/cpu_time.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Viewed {
  explicit Viewed(std::shared_ptr<const Trace> loaded)
      : trace(std::move(loaded)), session(trace), overview(make_overview(session)) {}
  std::set<std::string> missing() const {
    std::set<std::string> keys;
    for (const MissingPart& m : overview.recording.missing) keys.emplace(m.key);
    return keys;
  }
  std::shared_ptr<const Trace> trace;
  TraceSession session;
  RunOverview overview;
};

Steps steps_of(const std::vector<Ns>& lengths) {
  Steps steps;
  steps.annotated = true;
  Ns at = 0;
  for (const Ns length : lengths) {
    Step& step = steps.steps.emplace_back();
    step.span = {at, at + length};
    at += length;
  }
  return steps;
}

}  // namespace

TEST_CASE("the figures of steps are those of their lengths") {
  const StepFigures s = step_figures(steps_of({30, 10, 20, 24, 40}));
  CHECK(s.count == 5);
  CHECK(s.mean == 24);
  CHECK(s.median == 24);
  CHECK(s.min == 10);
  CHECK(s.max == 40);
  CHECK(s.first == 30);
  CHECK(s.deviation == 10);  // of 6, -14, -4, 0, 16: sqrt(504 / 5) = 10.04
  REQUIRE(s.trend.has_value());
  CHECK(*s.trend == doctest::Approx(32.0 / 20.0));
  CHECK(!step_figures(steps_of({1, 2, 3})).trend.has_value());
  CHECK(step_figures(steps_of({})).count == 0);
}

TEST_CASE("CUDA's versions are read as CUDA counts them") {
  CHECK(cuda_version_text("13000") == "13.0");
  CHECK(cuda_version_text("12080") == "12.8");
  CHECK(cuda_version_text("28") == "28");
  CHECK(cuda_version_text("\"12.4.1\"") == "12.4.1");
  CHECK(cuda_version_text("").empty());
}

TEST_CASE("what was asked for and is not there is missing, and no one is advised to ask for it") {
  const auto how = [](const std::string& header) {
    const Viewed viewed(load_text("{" + header + "\"traceEvents\": [" + slice("aten::mm", "0", "10") + "]}"));
    std::map<std::string, std::string> out;
    for (const MissingPart& m : viewed.overview.recording.missing) out[std::string(m.key)] = m.how;
    return out;
  };
  auto asked = how("\"profile_memory\": 1, \"with_stack\": 1, ");
  CHECK(asked.at("memory").empty());
  CHECK(asked.at("stacks").empty());
  CHECK(asked.at("modules") == "with_stack=True, with_modules=True");
  CHECK(how("").at("memory") == "profile_memory=True");
  CHECK(how("").at("steps") == "prof.step()");
  const auto part =
      how(fmt::format("\"{}\": {}, ", kCropKey, crop_mark_text({{0, 10'000}, {0, 35'000}})));  // of the whole it says nothing
  CHECK(part.at("memory").empty());
  CHECK(part.at("steps").empty());
  CHECK(how("").at("gpu") == "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  const Viewed called(
      load_text(events(slice("fat_kernel", "1", "9", "", "user_annotation") + "," +
                       slice("cudaDeviceSynchronize", "2", "1", ", \"args\": {\"correlation\": 1}", "cuda_runtime"))));
  for (const MissingPart& m : called.overview.recording.missing)
    if (m.key == "gpu" || m.key == "operators") CHECK(m.how.empty());
  CHECK(called.missing().count("operators") == 1);
}

TEST_CASE("what is missing in a recording is reported, and what is there is not") {
  const Viewed bare(load_text(events(slice("aten::add", "1", "1"))));
  CHECK(bare.missing() == std::set<std::string>{"gpu", "steps", "shapes", "stacks", "modules", "memory"});
  CHECK(!bare.overview.steps.has_value());
  CHECK(bare.overview.devices.empty());
  CHECK(!bare.overview.rates.has_value());

  const Viewed whole(load_once(recording("transformer_baseline")));
  CHECK(whole.missing().empty());
  CHECK(whole.overview.recording.recorder == "torch.profiler");
  REQUIRE(whole.overview.steps.has_value());
  CHECK(whole.overview.steps->count == 3);
  REQUIRE(whole.overview.devices.size() == 1);
  CHECK(whole.overview.devices[0].peak_bytes.has_value());
}

TEST_CASE("rank, world and backend are read where the file says them") {
  const Viewed v(load_text(R"({"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.28.9"},)" +
                           events(slice("aten::add", "1", "1")).substr(1)));
  CHECK(v.overview.recording.rank == 3);
  CHECK(v.overview.recording.world_size == 8);
  const Viewed odd(load_text(R"({"distributedInfo": {"rank": "x", "world_size":)"
                             "-4}," +
                             events(slice("aten::add", "1", "1")).substr(1)));
  CHECK(odd.overview.recording.rank == -1);
  CHECK(odd.overview.recording.world_size == -1);
}

TEST_CASE("in every recording kinds add up to all GPU work, and rates to the operations that they are made of") {
  std::size_t with_rates = 0;
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Viewed v(load_once(path));
    const RunOverview& o = v.overview;
    Ns all = 0, kernels = 0, kinds = 0;
    std::uint64_t count = 0;
    for (const GpuOp& op : v.session.ops()) all += op.span.length();
    for (const GpuOp& op : v.session.ops()) kernels += op.is_kernel() ? op.span.length() : 0;
    for (const KindTime& k : o.kinds) kinds += k.time, count += k.count;
    CHECK(kinds == all);
    CHECK(count == v.session.ops().size());
    CHECK(o.gpu_time == all);
    CHECK(o.kernel_time == kernels);
    CHECK(o.tensor_core_time <= o.kernel_time);
    CHECK(o.matrix_unknown_time <= o.matrix_time);
    CHECK(o.hottest.size() <= kHotKernels);
    for (std::size_t i = 1; i < o.hottest.size(); ++i) CHECK(o.hottest[i].time <= o.hottest[i - 1].time);
    if (!o.rates) continue;
    ++with_rates;
    CHECK(o.rates->gpu_time <= o.rates->kernel_time);
    CHECK(o.rates->per_second == doctest::Approx(o.rates->operations * 1e9 / static_cast<double>(o.rates->gpu_time)));
    CHECK(o.rates->per_second_of_window <= o.rates->per_second);
    CHECK(o.rates->peak_share.value_or(0) < 1.05);
  }
  CHECK(with_rates >= 3);
}

TEST_CASE("the overview's time grows with the number of devices, not with its square") {
  const auto seconds = [](int devices) {
    std::string inside;
    for (int i = 0; i < devices; ++i)
      inside +=
          fmt::format(R"({}{{"ph":"X","cat":"kernel","name":"k","pid":{},"tid":7,"ts":{},"dur":1,"args":{{"device":{}}}}})",
                      i == 0 ? "" : ",\n", i, 2 * i, i);
    const Viewed v(load_text("[" + inside + "]"));
    CHECK(v.overview.devices.size() == static_cast<std::size_t>(devices));
    return cpu_seconds([&] { make_overview(v.session); });
  };
  // 64 where each is looked for among all.
  CHECK(seconds(40'000) < 24 * seconds(5'000) + 0.02);
}
