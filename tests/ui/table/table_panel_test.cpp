#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/table_columns.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

// What the session does with the panel's wishes, but for the analysis.
void answer(const Requests& out) {
  for (const Request& request : out.list) {
    const auto* ask = std::get_if<Ask>(&request);
    if (ask && ask->question.as<TableQuestion>()) answer_now(*ask->document, ask->question);
  }
}

struct TablePanel {
  explicit TablePanel(std::string_view text = test::kOneLaunch, bool analyzed = true) : doc(test::document_from_text(text)) {
    if (analyzed) doc->analyze();
  }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  void draw() {
    draw_table(*doc, view.active(), view.window, out);
    answer(out);
    for (const Request& r : out.list) all.push_back(r);
    out.list.clear();
  }
  template <class Q>
  std::size_t count() const {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Request& r) {
      const auto* ask = std::get_if<Ask>(&r);
      return ask && ask->question.as<Q>();
    }));
  }

  // Shows what is hidden, and the other way round; the table has been drawn.
  void toggle(std::initializer_list<const char*> ids) {
    const OpTableRows rows = rows_of(doc->trace, *answer_to<TableQuestion>(*doc));
    for (const char* id : ids) view.active().table.look.toggled ^= std::uint64_t{1} << test::column_of(rows, id);
  }

  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  std::vector<Request> all;
  test::PanelHarness harness{{1600, 500}};
};

}  // namespace

TEST_CASE("before the analysis is there the table says that it is being worked out") {
  TablePanel panel(test::kOneLaunch, /*analyzed=*/false);
  CHECK(holds(panel.frame(), "Computing the table, 0 %"));
  CHECK(panel.count<AnalysisQuestion>() == 1);
  CHECK(panel.all.size() == 1);
}

TEST_CASE("a table that came to no answer says why, and is asked for again at a click") {
  TablePanel panel;
  asked<TableQuestion>(*panel.doc).question = panel.view.active().table.question;
  asked<TableQuestion>(*panel.doc).trouble = "Not enough memory to work out the table.";
  const std::string text = panel.frame();
  CHECK(holds(text, "Not enough memory to work out the table."));
  CHECK(holds(text, "Try again"));
  CHECK_FALSE(holds(text, "Computing"));
  CHECK(panel.count<TableQuestion>() == 0);
  CHECK(panel.harness.click_around([&] { panel.draw(); }, [&] { return panel.count<TableQuestion>() == 1; }));
  CHECK(asked<TableQuestion>(*panel.doc).trouble.empty());
  REQUIRE(answer_to<TableQuestion>(*panel.doc));
  panel.view.active().table.question.by_shape = false;
  panel.harness.point_at({1, 1});
  CHECK(holds(panel.frame(), "aten::add"));
}

TEST_CASE("another question takes the place of one that came to no answer") {
  TablePanel panel;
  panel.frame();
  asked<TableQuestion>(*panel.doc).trouble = "Not enough memory to work out the table.";
  panel.view.active().range = Span{panel.doc->trace.span.begin, panel.doc->trace.span.begin + 1};
  CHECK_FALSE(holds(panel.frame(), "Not enough memory"));
}

TEST_CASE("analyses that came to no end say why, and are asked for again at a click") {
  TablePanel panel(test::kOneLaunch, /*analyzed=*/false);
  asked<AnalysisQuestion>(*panel.doc).question = AnalysisQuestion{};
  asked<AnalysisQuestion>(*panel.doc).trouble = "Not enough memory to analyse the trace.";
  const std::string text = panel.frame();
  CHECK(holds(text, "Not enough memory to analyse the trace."));
  CHECK_FALSE(holds(text, "Computing"));
  CHECK(panel.harness.click_around([&] { panel.draw(); }, [&] { return panel.count<AnalysisQuestion>() == 1; }));
  CHECK(holds(panel.frame(), "Computing the table"));
}

TEST_CASE("what is copied is of the answer that came with this very frame") {
  TablePanel panel;
  panel.frame();
  const auto copied = [&]() -> const CopyText* {
    const auto at =
        std::find_if(panel.all.rbegin(), panel.all.rend(), [](const Request& r) { return std::get_if<CopyText>(&r); });
    return at == panel.all.rend() ? nullptr : std::get_if<CopyText>(&*at);
  };
  REQUIRE(panel.harness.click_around([&] { panel.draw(); }, [&] { return copied() != nullptr; }));
  const std::string whole = copied()->text;
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  REQUIRE(lines(whole) > 2);
  panel.all.clear();
  ImGui::GetIO().MouseDown[0] = true;
  panel.harness.frame([&] { panel.draw(); });
  ImGui::GetIO().MouseDown[0] = false;
  panel.view.active().range = Span{panel.doc->trace.span.begin, panel.doc->trace.span.begin + 1};
  TableQuestion narrow = panel.view.active().table.question;
  narrow.range = panel.view.active().range;
  answer_now(*panel.doc, narrow);
  panel.harness.frame([&] { panel.draw(); });
  REQUIRE(copied() != nullptr);
  CHECK(lines(copied()->text) == 1 + static_cast<std::ptrdiff_t>(answer_to<TableQuestion>(*panel.doc)->table.rows.size()));
}

TEST_CASE("averages are shown once they are asked for") {
  TablePanel panel;
  const std::string usual = panel.frame();
  CHECK_FALSE(holds(usual, "CUDA avg"));
  CHECK(holds(usual, "Self CUDA"));
  panel.toggle({"self_cuda", "cuda_avg"});
  const std::string text = panel.frame();
  CHECK(holds(text, "CUDA avg"));
  CHECK_FALSE(holds(text, "Self CUDA"));
}

TEST_CASE("the table is asked for once and shows every row and column") {
  TablePanel panel;
  panel.frame();
  panel.toggle({"cpu_avg", "cuda_avg"});
  const std::string text = panel.frame();
  CHECK(panel.count<TableQuestion>() == 1);
  for (const char* part : {"Name", "Device", "Calls", "Self CPU", "CUDA avg", "aten::add", "cudaGraphLaunch", "40.0",
                           "Each GPU operation counts once"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  CHECK_FALSE(holds(text, "CUDA mem"));
}

TEST_CASE("another mode, shape switch or range asks again") {
  TablePanel panel;
  panel.frame();
  panel.view.active().table.question.mode = TableMode::exact;
  CHECK(holds(panel.frame(), "key_averages()"));
  CHECK(panel.count<TableQuestion>() == 2);
  panel.view.active().range = Span{105'000, 130'000};
  const std::string text = panel.frame();
  CHECK(panel.count<TableQuestion>() == 3);
  CHECK(holds(text, "aten::add"));
  CHECK_FALSE(holds(text, "cudaGraphLaunch"));
}

TEST_CASE("a range with nothing in it says so") {
  TablePanel panel;
  panel.view.active().range = Span{500'000, 500'001};
  CHECK(holds(panel.frame(), "No operator, call or GPU work begins in this range."));
}

TEST_CASE("a trace without GPU work says how to record it") {
  TablePanel panel(R"([{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1}])");
  CHECK(holds(panel.frame(), "ProfilerActivity.CUDA"));
}

TEST_CASE("a trace of other tools' events says what the table needs") {
  TablePanel panel(R"([{"ph":"X","name":"x","cat":"whatever","pid":1,"tid":1,"ts":1,"dur":1}])");
  CHECK(holds(panel.frame(), "No operator, call or GPU work in this trace"));
}

TEST_CASE("a click on a row selects its slice, and once more the next") {
  TablePanel panel;
  panel.frame();
  CHECK(panel.harness.click_around([&] { panel.draw(); }, [&] { return panel.view.active().selection.valid(); }));
  CHECK(panel.view.active().signals.reveal_selection);
  REQUIRE(panel.view.active().table.selected >= 0);
  const OpTableRow& row =
      answer_to<TableQuestion>(*panel.doc)->table.rows[static_cast<std::size_t>(panel.view.active().table.selected)];
  CHECK(panel.view.active().cycle.title == row.name);
  CHECK(panel.view.active().cycle.position(panel.view.active().selection) == 1);
}

TEST_CASE("a click on a header sorts by it") {
  TablePanel panel;
  panel.frame();
  const std::optional<RowOrder> before = panel.view.active().table.look.order;
  CHECK(panel.harness.click_around([&] { panel.draw(); }, [&] { return panel.view.active().table.look.order != before; }));
}

TEST_CASE("Enter and Shift+Enter walk through the slices of the row") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  test::HeadlessUi h(doc.get());
  const SliceId first = test::slice_named(*doc, "first");
  const SliceId second = test::slice_named(*doc, "second");
  walk_cycle(h.ui.view().active(), {"kernels", {first, second}});
  CHECK(h.ui.view().active().selection == first);
  h.press(Key::enter);
  CHECK(h.ui.view().active().selection == second);
  h.press(Key::enter, kShift);
  CHECK(h.ui.view().active().selection == first);
}

TEST_CASE("a name with percent signs is in the table as it is") {
  TablePanel panel(R"([{"ph":"X","name":"%s%n%d 100 %","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1}])");
  CHECK(holds(panel.frame(), "%s%n%d 100 %"));
}
