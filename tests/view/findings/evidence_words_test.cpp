// The evidence of findings as people read it.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/findings/evidence_words.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"

using namespace gapscope;

namespace {

std::string value(std::string_view key, EvidenceValue v) {
  return evidence_lines("", Evidence({{std::string(key), std::move(v)}}))[0].value;
}
std::string what(std::string_view key) { return evidence_lines("", Evidence({{std::string(key), 1.0}}))[0].what; }

}  // namespace

TEST_CASE("values are said in their units, names with how often") {
  CHECK(value("share", 0.6446586) == "64.5 %");
  CHECK(value("gpu_util", 0.0857) == "8.6 %");
  CHECK(value("longest_us", 1364.357) == "1.36 ms");
  CHECK(value("ratio", 15.846) == "15.8x");
  CHECK(value("bytes", 805306368) == "805 MB");
  CHECK(value("kernels", 1263) == "1,263");
  CHECK(value("host_late", true) == "yes");
  CHECK(value("ops", EvidenceMap{{"aten::addmm", 3}, {"aten::pow", 1}}) == "aten::addmm 3 times, aten::pow once");
  CHECK(value("kinds", EvidenceList{"a", "b"}) == "a, b");
}

TEST_CASE("keys are said in words, those without words too") {
  CHECK(what("gpu_util") == "GPU busy");
  CHECK(what("share_of_step") == "share of step");
  CHECK(what("some_gpu_thing_us") == "some GPU thing");
  CHECK(evidence_lines("overhead_bound", Evidence({{"ratio", 2.0}}))[0].what == "host time against GPU time");
}

TEST_CASE("no finding of any recording shows a bare key, or a share as a fraction") {
  std::size_t lines = 0;
  for (const auto& path : test::real_traces()) {
    for (const RankedFinding& ranked : test::diagnosed_once(path).diagnosis.findings) {
      for (const EvidenceLine& line : evidence_lines(ranked.finding.rule->id, ranked.finding.evidence)) {
        CAPTURE(ranked.finding.rule->id);
        CAPTURE(line.what);
        CHECK(line.what.find_first_of("_=") == std::string::npos);
        const bool is_share = line.what.starts_with("share of") || line.what == "GPU busy";
        if (is_share) CHECK(line.value.find_first_of("%s") != std::string::npos);  // a percentage, or a time
        ++lines;
      }
    }
  }
  CHECK(lines > 0);
}
