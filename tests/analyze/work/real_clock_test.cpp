#include "core/analyze/work/real_clock.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A kernel of 200 us at one clock, and before it idle time at another.
std::string clocked(const char* gpu, int major, int minor, int sms, bool with_counters = true) {
  std::string text = fmt::format(
      R"({{"deviceProperties":[{{"id":0,"name":"{}","computeMajor":{},"computeMinor":{},"numSms":{}}}],"traceEvents":[
{{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{{"labels":"GPU 0"}}}},
{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1000,"dur":200,"args":{{"device":0,"stream":7}}}})",
      gpu, major, minor, sms);
  const auto add = [&](int at, const char* name, const char* series, int value) {
    text +=
        fmt::format(",\n{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":0,\"ts\":{},\"args\":{{\"{}\":{}}}}}", name, at, series, value);
  };
  if (with_counters) {
    add(400, "Counter sampling", "interval us", 20);
    for (const auto& [at, mhz] : {std::pair(500, 300), std::pair(1000, 1464), std::pair(1200, 300)})
      add(at, "SM clock", "MHz", mhz);
    add(1600, "Counter sampling", "interval us", 0);
  }
  return text + "]}";
}

std::optional<RealClock> clock_of(const std::string& text, std::string* words = nullptr) {
  const auto trace = load_text(text);
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  if (words) *words = clock_words(*trace, links);
  return real_clock(*trace, links);
}

}  // namespace

TEST_CASE("the clock is that while kernels ran, and the peaks' is by what tensor cores do in a clock") {
  std::string words;
  const auto h100 = clock_of(clocked("NVIDIA H100 80GB HBM3", 9, 0, 132), &words);
  REQUIRE(h100);
  CHECK(h100->mhz == doctest::Approx(1464));
  CHECK(h100->peak_mhz == doctest::Approx(1830).epsilon(1e-3));
  CHECK(words == "GPU 0 ran at 1,464 MHz while kernels ran; peaks are of 1,830 MHz: bf16 792 TFLOP/s at its clock");
  CHECK(clock_of(clocked("NVIDIA A100-SXM4-80GB", 8, 0, 108))->peak_mhz == doctest::Approx(1410).epsilon(1e-3));
}

TEST_CASE("of a GPU that is not known so well, and without counters, nothing is said of its clock") {
  std::string words;
  CHECK_FALSE(clock_of(clocked("NVIDIA GeForce RTX 4090", 8, 9, 128), &words));
  CHECK(words.empty());
  CHECK_FALSE(clock_of(clocked("a GPU of tomorrow", 9, 0, 132)));
  CHECK_FALSE(clock_of(clocked("NVIDIA H100 80GB HBM3", 9, 0, 0)));
  CHECK_FALSE(clock_of(clocked("NVIDIA H100 80GB HBM3", 9, 0, 132, false)));
}
