// The longest gaps of `gapscope gpu` are times in which the device did nothing at all.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "core/load/load_trace.h"

using namespace gapscope;

TEST_CASE("a gap of the device is one of all its streams, and ends on the stream of the work that came") {
  // Stream 7 is idle from 20 to 90, stream 9 from 0 to 15 and from 60 on: the device from 60 to 90.
  constexpr const char* kTwoStreams = R"([
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":0,"dur":20,"args":{"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":9,"ts":15,"dur":45,"args":{"device":0,"stream":9}},
    {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":90,"dur":10,"args":{"device":0,"stream":7}}])";
  const auto trace = load_trace_from_text(kTwoStreams, "text");
  REQUIRE(trace.ok());
  AnalysisOptions options;
  options.json = true;
  const auto answer = nlohmann::json::parse(gpu_report(TraceSession(*trace), options));
  const auto& gaps = answer["devices"][0]["gaps"];
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0]["begin_ns"] == 60'000);
  CHECK(gaps[0]["end_ns"] == 90'000);
  CHECK(gaps[0]["stream"] == 7);
}
