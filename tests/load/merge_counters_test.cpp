#include "core/load/merge_counters.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/load/load_trace.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {

std::shared_ptr<const Trace> load_file(const std::string& path) {
  auto trace = load_trace(path);
  REQUIRE_MESSAGE(trace.ok(), path);
  return *trace;
}

// A kernel from 100 to 200 us after the time 0 of PyTorch's file.
std::string torch_file(const std::string& head = R"("schemaVersion": 1, "baseTimeNanoseconds": 5000000, )") {
  return "{" + head + R"("traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100.000, "dur": 100.000, "args": {"device": 0, "stream": 7}}
]})";
}

// 1 ms earlier in its time 0; samples at 50, 120 and 350 us of the other axis.
std::string counters_file(const std::string& base = R"("baseTimeNanoseconds": 4000000, )") {
  return "{" + base + R"("traceEvents": [
{"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
{"ph": "C", "cat": "hardware_counters", "name": "SM", "pid": 0, "ts": 1020.000, "args": {"active %": 1, "issue %": 2.5}},
{"ph": "C", "cat": "hardware_counters", "name": "SM", "pid": 0, "ts": 1050.000, "args": {"active %": 3, "issue %": 2.5}},
{"ph": "C", "cat": "hardware_counters", "name": "SM", "pid": 0, "ts": 1120.000, "args": {"active %": 90, "issue %": 7}},
{"ph": "C", "cat": "hardware_counters", "name": "SM", "pid": 0, "ts": 1350.000, "args": {"active %": 0, "issue %": 0}}
]})";
}

struct Files {
  test::TempFolder folder;
  std::string out = (folder.path() / "both.json.gz").string();
  std::string trouble(const std::string& trace, const std::string& counters) {
    const auto merged =
        merge_counters(*load_file(folder.write("t.json", trace)), *load_file(folder.write("c.json", counters)), out);
    CHECK_FALSE(std::filesystem::exists(out));
    return merged.ok() ? "" : merged.error().message;
  }
};

}  // namespace

TEST_CASE("the counters of the trace's time come onto its axis, with what is in force where it begins") {
  Files files;
  const auto trace = load_file(files.folder.write("t.json", torch_file()));
  const auto counters = load_file(files.folder.write("c.json", counters_file()));
  const auto merged = merge_counters(*trace, *counters, files.out);
  REQUIRE(merged.ok());
  CHECK(merged->events == 2);
  const auto both = load_file(files.out);
  CHECK(both->slice_count() == 1);
  CHECK(both->span == trace->span);
  CHECK(both->header.find("schemaVersion") == "1");
  REQUIRE(both->counters.size() == 2);
  for (const Counter& counter : both->counters) {
    CHECK(both->processes[counter.process.index()].is_gpu);
    REQUIRE(counter.samples.size() == 2);
    CHECK(counter.samples[0].time == 50'000);
    CHECK(counter.samples[1].time == 120'000);
    CHECK(counter.samples[1].value == (both->strings[counter.series] == "active %" ? 90 : 7));
  }
  CHECK(both->report.entries().empty());
}

TEST_CASE("what cannot be joined is said, and no file is left") {
  Files files;
  CHECK(files.trouble(torch_file(""), counters_file()).find("baseTimeNanoseconds") != std::string::npos);
  CHECK(files.trouble(torch_file(), counters_file("")).find("c.json does not say") != std::string::npos);
  CHECK(files.trouble(torch_file(), counters_file(R"("baseTimeNanoseconds": 900000000000, )")).find("not of the same time") !=
        std::string::npos);
  CHECK(files.trouble(torch_file(), torch_file()).find("has no counters of a GPU") != std::string::npos);
  std::string other = counters_file();
  for (std::size_t at = 0; (at = other.find("\"pid\": 0", at)) != std::string::npos;) other[at + 7] = '3';
  other.replace(other.find("GPU 0"), 5, "GPU 3");
  CHECK(files.trouble(torch_file(), other).find("did any work") != std::string::npos);
  std::string longer = torch_file();
  longer.replace(longer.find("\"dur\": 100"), 10, "\"dur\": 9900");
  std::string still = counters_file();
  still.replace(still.find("\"active %\": 90"), 14, "\"active %\": 0.5");
  CHECK(files.trouble(longer, still).find("is idle: it is a different one") != std::string::npos);
  CHECK(files.trouble(torch_file(), counters_file(R"("baseTimeNanoseconds": 9223372036854775807, )")) != "");
}

TEST_CASE("counters are not put in twice, nor written over themselves") {
  Files files;
  const auto counters = load_file(files.folder.write("c.json", counters_file()));
  const auto trace = load_file(files.folder.write("t.json", torch_file()));
  REQUIRE(merge_counters(*trace, *counters, files.out).ok());
  const auto twice = merge_counters(*load_file(files.out), *counters, (files.folder.path() / "twice.json").string());
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().message.find("has the counter \"SM\" of a GPU already") != std::string::npos);
  CHECK_FALSE(merge_counters(*trace, *counters, counters->path).ok());
  CHECK(std::filesystem::file_size(counters->path) == counters_file().size());
}
