#include "app/cli/said_doubts.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>

#include "app/cli/analyses.h"
#include "core/session/trace_session.h"
#include "core/trace/trace.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Work that begins `delay_us` after its launch; before it where the clocks differ.
std::shared_ptr<const Trace> launched_work(double delay_us) {
  KinetoText text;
  text.slice("user_annotation", "ProfilerStep#1", "1", "1", 0, 5000);
  for (int i = 0; i < 20; ++i) {
    text.slice("cpu_op", "aten::mm", "1", "1", 1000 + 100 * i, 50);
    text.launched(i + 1, 1010 + 100 * i, 1010 + 100 * i + delay_us, 20, "gemm", "1");
  }
  return load_text(text.text());
}

}  // namespace

TEST_CASE("each analysis says doubts in its JSON, and of a sound recording none") {
  constexpr std::array<std::pair<const char*, AnalysisText>, 6> kAnalyses = {{{"gpu", gpu_report},
                                                                              {"steps", steps_report},
                                                                              {"launches", launches_report},
                                                                              {"flops", flops_report},
                                                                              {"compile", compile_report},
                                                                              {"counters", counters_report}}};
  const auto doubted = launched_work(-200), sound = launched_work(10);
  REQUIRE(doubted->doubts.size() == 1);
  REQUIRE(sound->doubts.empty());
  const TraceSession of_doubted(doubted), of_sound(sound);
  CHECK(doubts_line(of_doubted) == doubted->doubts[0].said + "\n");
  CHECK(doubts_line(of_sound).empty());
  AnalysisOptions as_json;
  as_json.json = true;
  for (const auto& analysis : kAnalyses) {
    CAPTURE(std::string(analysis.first));
    const AnalysisText report = analysis.second;
    const auto parsed = nlohmann::json::parse(report(of_doubted, as_json));
    REQUIRE(parsed.contains("doubts"));
    CHECK(parsed["doubts"][0]["kind"] == "clock_offset");
    CHECK_FALSE(nlohmann::json::parse(report(of_sound, as_json)).contains("doubts"));
  }
}
