#include "ui/widgets/table_file.h"

#include <doctest/doctest.h>

#include "core/view/overview/overview_html.h"
#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/widgets/controls.h"

using namespace gapscope;

TEST_CASE("the table of the open tab is saved once where it is wanted, and known to be there while it is drawn") {
  test::PanelHarness harness;
  Requests out;
  const auto draw = [&] {
    draw_csv_buttons(
        ".kernels.csv", [] { return std::string("name\n"); }, out);
  };
  harness.settle([] {});
  CHECK_FALSE(shows_table());
  harness.settle(draw);
  CHECK(shows_table());
  CHECK_FALSE(out.has<SaveText>());
  want_table_saved();
  harness.settle(draw);
  REQUIRE(out.list.size() == 1);
  CHECK(std::get<SaveText>(out.list.front()).ending == ".kernels.csv");
  harness.settle([] {});
  CHECK_FALSE(shows_table());
}

TEST_CASE("the page that is sent holds the notes, with nothing that a browser would take for markup") {
  const auto document = test::document_from_text(test::kOneLaunch);
  Note note;
  note.span = {document->trace.span.begin + 1000, document->trace.span.begin + 3000};
  note.text = "slow <b>here</b>";
  const std::string html = overview_html(*document, {note});
  CHECK(html.find("slow &lt;b&gt;here&lt;/b&gt;") != html.npos);
  CHECK(html.find("1.00 \xC2\xB5s, 2.00 \xC2\xB5s") != html.npos);
  CHECK(overview_html(*document, {}).find("<h2>Notes</h2>") == std::string::npos);
}
