#include <doctest/doctest.h>

#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

std::string report_of(std::string_view text) {
  const auto doc = test::document_from_text(text);
  ViewState view;
  Requests out;
  test::PanelHarness harness;
  return harness.settle([&] { draw_report(*doc, view.active(), view.window, out); });
}

}  // namespace

TEST_CASE("the report of a sound file says that nothing is odd") {
  CHECK(holds(report_of(test::kOneLaunch), "This file has no problems"));
}

TEST_CASE("the report has what Nsight Systems says of its recording") {
  const std::string events = R"("traceEvents":[{"ph":"X","name":"n","pid":1,"tid":1,"ts":5,"dur":1}]})";
  const std::string said = R"("nsight_systems_diagnostics":["Not all \u001b[31mevents were collected.",7],)";
  const std::string report = report_of(R"({"recorder":"nsight_systems",)" + said + events);
  CHECK(holds(report, "Nsight Systems reports: Not all "));
  CHECK(holds(report, "events were collected."));
  CHECK(!holds(report, "Nothing odd"));
  CHECK(report.find('\x1b') == std::string::npos);
  CHECK(holds(report_of("{" + said + events), "This file has no problems"));  // another profiler's file
}

TEST_CASE("the report names each oddity with its count, sentence and place") {
  const std::string_view text = R"([{"ph":"X","name":"n","pid":1,"tid":1,"ts":5,"dur":-1}])";
  const auto doc = test::document_from_text(text);
  const ImportIssueEntry entry = doc->trace.report.entries().at(0);
  const std::string report = report_of(text);
  CHECK(holds(report, std::string(import_issue_word(entry.kind))));
  CHECK(holds(report, import_issue_sentence(entry)));
  CHECK(holds(report, "at byte 1"));
}
