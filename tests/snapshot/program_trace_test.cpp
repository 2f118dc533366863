// A memory snapshot and the trace of the same run.
#include "core/snapshot/program_trace.h"

#include <string>

#include <doctest/doctest.h>

#include "core/snapshot/opened_snapshot.h"
#include "tests/support/load_text.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::int64_t kBegin = 1'700'000'000'000'000;  // of tiny_snapshot(), us

std::string trace_text(const std::string& epoch) {
  return "{" + epoch + R"("traceEvents":[
{"ph":"X","cat":"user_annotation","name":"step 0","pid":1,"tid":1,"ts":50,"dur":4450},
{"ph":"X","cat":"user_annotation","name":"forward","pid":1,"tid":1,"ts":60,"dur":4100},
{"ph":"X","cat":"user_annotation","name":"step 1","pid":1,"tid":1,"ts":4500,"dur":1000},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":70,"dur":10}]})";
}

}  // namespace

TEST_CASE("a snapshot has the annotations of the trace of the same run, and each moment of one is one of the other") {
  const TempFolder folder;
  const std::string path = folder.write("a.pickle", tiny_snapshot());
  const auto trace = load_text(trace_text(R"("baseTimeNanoseconds":1700000000000000000,)"));
  const auto opened = open_snapshot(path, {}, {}, trace.get());
  REQUIRE(opened.ok());
  const Snapshot& snapshot = (*opened)->snapshot;
  CHECK(snapshot.annotations.size() == 6);
  const auto at = [&](std::int64_t us) {
    std::string out;
    for (const StringId name : program_at(snapshot, 0, kBegin + us)) out += std::string(snapshot.texts[name]) + ";";
    return out;
  };
  CHECK(at(4096) == "step 0;forward;");
  CHECK(at(4300) == "step 0;");
  CHECK(at(5120) == "step 1;");
  REQUIRE((*opened)->program);
  CHECK((*opened)->program->time_of(kBegin + 4096) == 4'096'000);
  CHECK_FALSE((*opened)->program->time_of(kBegin + 9000));
  CHECK_FALSE((*opened)->program->time_of(INT64_MAX));
}

TEST_CASE("a trace of another run, or without a clock, is refused in a sentence") {
  const TempFolder folder;
  const std::string path = folder.write("a.pickle", tiny_snapshot());
  const auto said = [&](const std::string& epoch) {
    const auto trace = load_text(trace_text(epoch));
    const auto opened = open_snapshot(path, {}, {}, trace.get());
    return opened.ok() ? std::string() : opened.error().message;
  };
  CHECK(said(R"("baseTimeNanoseconds":1800000000000000000,)").find("not of one run") != std::string::npos);
  CHECK(said("").find("does not say when it was recorded") != std::string::npos);
}
