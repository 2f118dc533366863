#include "app/sampler/event_writer.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "core/load/load_trace.h"
#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"

using namespace gapscope::sampler;
using gapscope::RecordingOptions;

namespace {

constexpr Ns kSecond = 1'000'000'000;
constexpr Ns kBegin = 1'735'700'000 * kSecond;

EventWriter::World world() {
  return {[] {
            TraceInfo info;
            info.process = 415;
            info.program = "a.out";
            info.base = base_time(kBegin);
            return info;
          },
          [](std::uint32_t) { return std::string("worker"); }};
}

void launch_at(EventWriter& writer, Ns time, std::uint32_t correlation) {
  writer.add(Call{{time, time + 4'000}, "cudaLaunchKernel", false, 211, 20, correlation});
  Kernel kernel;
  kernel.times = {time + 10'000, time + 12'000};
  kernel.place = {0, 1, 7, correlation, 0, 0};
  kernel.name = "k";
  kernel.grid = kernel.block = {1, 1, 1};
  writer.add(kernel);
}

std::size_t count(const gapscope::Trace& trace, std::string_view name) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < trace.slice_count(); ++i) n += trace.name(gapscope::SliceId(i)) == name;
  return n;
}

std::shared_ptr<const gapscope::Trace> opened(const std::string& path) {
  const auto trace = gapscope::load_trace(path);
  REQUIRE_MESSAGE(trace.ok(), path);
  return *trace;
}

// Where a test's recording goes.
struct Target {
  explicit Target(const char* name = "r.json") { options.out = (folder.path() / name).string(); }
  gapscope::test::TempFolder folder;
  RecordingOptions options;
};

}  // namespace

TEST_CASE("a recording holds its calls, kernels and ranges, and opens without a complaint") {
  Target target("r.json.gz");
  EventWriter writer(target.options, world());
  writer.add(Marker{Marker::What::begin, kBegin, 1, 20, "step", ""});
  launch_at(writer, kBegin + 1'000, 5);
  writer.add(Marker{Marker::What::end, kBegin + 9'000, 1, 20, "", ""});
  writer.flush(kBegin + kSecond);
  launch_at(writer, kBegin + 3 * kSecond, 6);
  writer.finish(kBegin + 4 * kSecond);
  CHECK(writer.trouble().empty());
  const auto trace = opened(target.options.out);
  CHECK(trace->report.entries().empty());
  CHECK(count(*trace, "k") == 2);
  CHECK(count(*trace, "step") == 2);  // on the thread and on the stream
  CHECK(trace->flow_counts.bound == 2);
}

TEST_CASE("a program without CUDA leaves no file, even when it has ranges") {
  Target target;
  EventWriter writer(target.options, world());
  writer.add(Marker{Marker::What::begin, kBegin, 1, 20, "step", ""});
  writer.add(Marker{Marker::What::end, kBegin + 9'000, 1, 20, "", ""});
  writer.finish(kBegin + kSecond);
  CHECK(std::filesystem::is_empty(target.folder.path()));
}

TEST_CASE("of a range asked for, what was launched in it is kept, whenever it is heard of, and nothing else") {
  Target target;
  target.options.range = "wanted";
  EventWriter writer(target.options, world());
  launch_at(writer, kBegin, 4);
  launch_at(writer, kBegin + 100'000, 5);  // heard of before its range
  writer.add(Marker{Marker::What::begin, kBegin + 90'000, 1, 20, "wanted", ""});
  writer.flush(kBegin + 200'000);
  writer.add(Marker{Marker::What::end, kBegin + 150'000, 1, 20, "", ""});
  launch_at(writer, kBegin + 160'000, 6);
  writer.flush(kBegin + 5 * kSecond);
  launch_at(writer, kBegin + 6 * kSecond, 7);
  writer.finish(kBegin + 7 * kSecond);
  const auto trace = opened(target.options.out);
  CHECK(count(*trace, "k") == 1);
  CHECK(count(*trace, "cudaLaunchKernel") == 1);
  CHECK(count(*trace, "wanted") == 2);
}

TEST_CASE("a part that was asked for and never came leaves no file, and a sentence") {
  Target target;
  target.options.range = "wanted";
  EventWriter writer(target.options, world());
  launch_at(writer, kBegin, 4);
  writer.finish(kBegin + kSecond);
  CHECK(writer.trouble() == "Nothing was recorded: there was no NVTX range called \"wanted\".");
  CHECK(std::filesystem::is_empty(target.folder.path()));
}

TEST_CASE("work that was launched before the part asked for and runs in it is kept") {
  Target target;
  target.options.profiler_api = true;
  EventWriter writer(target.options, world());
  launch_at(writer, kBegin, 4);  // its kernel begins 10 us later
  writer.add(Call{{kBegin + 5'000, kBegin + 6'000}, "cudaProfilerStart", false, 1, 20, 90});
  writer.finish(kBegin + kSecond);
  const auto trace = opened(target.options.out);
  CHECK(count(*trace, "k") == 1);
  CHECK(count(*trace, "cudaLaunchKernel") == 0);
}

TEST_CASE("between cudaProfilerStart and cudaProfilerStop is what a program wants recorded, when it is asked for") {
  Target target;
  target.options.profiler_api = true;
  EventWriter writer(target.options, world());
  launch_at(writer, kBegin, 4);
  writer.add(Call{{kBegin + 50'000, kBegin + 60'000}, "cudaProfilerStart", false, 1, 20, 90});
  writer.add(Marker{Marker::What::begin, kBegin + 90'000, 1, 20, "step", ""});
  launch_at(writer, kBegin + 100'000, 5);
  writer.add(Marker{Marker::What::end, kBegin + 110'000, 1, 20, "", ""});
  writer.add(Call{{kBegin + 150'000, kBegin + 151'000}, "cudaProfilerStop", false, 2, 20, 91});
  launch_at(writer, kBegin + 160'000, 6);
  writer.finish(kBegin + kSecond);
  const auto trace = opened(target.options.out);
  CHECK(count(*trace, "k") == 1);
  CHECK(count(*trace, "step") == 2);
}

TEST_CASE("the second process of a program writes a file of its own") {
  Target target;
  EventWriter first(target.options, world()), second(target.options, world());
  launch_at(first, kBegin, 4);
  launch_at(second, kBegin, 4);
  first.finish(kBegin + kSecond);
  second.finish(kBegin + kSecond);
  CHECK(first.path() == (target.folder.path() / "r.json").string());
  CHECK(second.path() == (target.folder.path() / "r-2.json").string());
  CHECK(count(*opened(second.path()), "k") == 1);
}

TEST_CASE("80,000 ranges asked for are each recorded, and of those that are over nothing is remembered") {
  constexpr std::uint32_t kMany = 80'000;
  Target target("r.json.gz");
  target.options.range = "wanted";
  EventWriter writer(target.options, world());
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const Ns at = kBegin + i * kSecond;
    writer.add(Marker{Marker::What::begin, at, i, 20, "wanted", ""});
    launch_at(writer, at + 1'000, i + 1);
    writer.add(Marker{Marker::What::end, at + 500'000'000, i, 20, "", ""});
    if (i % 10 == 0) writer.flush(at);
    most = std::max(most, writer.remembered());
  }
  writer.finish(kBegin + kMany * kSecond);
  CHECK(writer.events() == kMany * 4);  // range, call, kernel, the range's GPU side
  CHECK(most < 3'000);                  // half an hour of them
}

TEST_CASE("a range that began in the part asked for belongs to it, however long it lasts") {
  Target target;
  target.options.range = "wanted";
  EventWriter writer(target.options, world());
  writer.add(Marker{Marker::What::begin, kBegin, 1, 20, "wanted", ""});
  writer.add(Marker{Marker::What::begin, kBegin + 1'000, 2, 21, "long", ""});
  launch_at(writer, kBegin + 2'000, 1);
  writer.add(Marker{Marker::What::end, kBegin + kSecond, 1, 20, "", ""});
  for (int minutes = 1; minutes < 120; ++minutes) writer.flush(kBegin + minutes * 60 * kSecond);
  writer.add(Marker{Marker::What::end, kBegin + 7'200 * kSecond, 2, 21, "", ""});
  writer.finish(kBegin + 7'201 * kSecond);
  CHECK(count(*opened(target.options.out), "long") == 1);
}

TEST_CASE("a recording without memory for more ends with what was written") {
  Target target;
  EventWriter writer(target.options, world());
  launch_at(writer, kBegin, 4);
  writer.flush(kBegin + kSecond);
  launch_at(writer, kBegin + 2 * kSecond, 5);
  writer.finish_short();
  CHECK(writer.trouble().empty());
  const auto trace = opened(target.options.out);
  CHECK(trace->report.entries().empty());
  CHECK(count(*trace, "k") == 1);
}

TEST_CASE("a folder that cannot be written to is one sentence, and nothing more is tried") {
  Target target;
  target.options.out = "/nonexistent/r.json";
  EventWriter writer(target.options, world());
  for (std::uint32_t i = 0; i < 10; ++i) launch_at(writer, kBegin + i * kSecond, i + 1);
  writer.flush(kBegin + kSecond);
  writer.finish(kBegin + 20 * kSecond);
  CHECK(writer.trouble().starts_with("/nonexistent/r.json: cannot be written (No such file or directory)"));
  CHECK(writer.path().empty());
}

TEST_CASE("a file that has grown too large says so") {
  Target target;
  target.options.max_mb = 1;
  EventWriter writer(target.options, world());
  for (int i = 0; i < 1'000; ++i) launch_at(writer, kBegin + i * 20'000, static_cast<std::uint32_t>(i + 1));
  writer.flush(kBegin + kSecond);
  CHECK_FALSE(writer.full());
  for (int i = 0; i < 1'000; ++i) launch_at(writer, kBegin + i * 20'000, static_cast<std::uint32_t>(i + 1));
  writer.flush(kBegin + 2 * kSecond);
  CHECK(writer.full());
}

TEST_CASE("a rank's recording has its rank in the name and says its place in the job") {
  const gapscope::test::SetVariable rank("RANK", "3"), size("WORLD_SIZE", "8");
  Target target;
  EventWriter::World ranked = world();
  ranked.facts = [] {
    TraceInfo info = world().facts();
    info.rank = 3;
    info.world_size = 8;
    return info;
  };
  EventWriter writer(target.options, ranked);
  launch_at(writer, kBegin, 1);
  writer.finish(kBegin + kSecond);
  CHECK(writer.path() == (target.folder.path() / "r_rank3.json").string());
  CHECK(opened(writer.path())->header.find("distributedInfo").find("\"world_size\": 8") != std::string_view::npos);
}
