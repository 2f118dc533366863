// The tables of Memory, Counters, Compile and Ranks: a click on a header orders them by that column, and CSV holds the rows in
// their order.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/analyze/counters/counter_columns.h"
#include "core/base/table/output.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "tests/support/table_columns.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

using Draw = void (*)(const Document&, TraceView&, WindowState&, Requests&);

struct Tab {
  Tab(const std::string& path, Draw d) : doc(std::make_shared<const Document>(test::load_once(path))), draws(d) {
    doc->diagnose();
  }
  void draw() {
    if (keep) keep();
    draws(*doc, view.active(), view.window, out);
    for (const Request& request : out.list) {
      if (const auto* asked = std::get_if<Ask>(&request)) answer_now(*asked->document, asked->question);
      if (const auto* copy = std::get_if<CopyText>(&request)) copied = copy->text;
    }
    out.list.clear();
  }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  // Clicks until the order changes; then until CSV is copied.
  void check(const std::function<std::size_t()>& order, const std::string& header) {
    frame();
    const std::size_t before = order();
    CHECK(harness.click_around([&] { draw(); }, [&] { return order() != before; }));
    copied.clear();
    CHECK(harness.click_around([&] { draw(); }, [&] { return holds(copied, header); }));
  }

  std::shared_ptr<const Document> doc;
  Draw draws;
  ViewState view;
  Requests out;
  std::string copied;
  std::function<void()> keep;  // what no click changes
  test::PanelHarness harness{{1600, 500}};
};

std::string first_cell(const std::string& csv) {
  const std::size_t line = csv.find('\n') + 1;
  return csv.substr(line, csv.find(',', line) - line);
}

}  // namespace

TEST_CASE("the operators of the tab Memory are ordered by a click and obey the marked range") {
  Tab tab(test::recording("transformer_baseline").string(), draw_memory);
  tab.keep = [&] { tab.view.active().memory.list = MemoryState::List::asked; };
  const auto order = [&] {
    const std::optional<RowOrder>& of = tab.view.active().memory.look.order;
    return of ? of->column * 2 + of->descending : 1000;
  };
  tab.check(order, "operator,where,allocations");
  tab.view.active().memory.look.order = RowOrder{};
  const MemoryUse& whole = tab.doc->analysis()->memory();
  const MemoryRows table = memory_rows(tab.doc->trace, whole);
  const std::string csv = csv_of(table, arrange(table, tab.view.active().memory.look));
  CHECK(first_cell(csv) < "aten::b");
  const Span span = tab.doc->trace.span;
  tab.view.active().range = Span{span.begin, span.begin + span.length() / 4};
  tab.frame();
  tab.harness.point_at({-1, -1});
  const std::string text = tab.frame();
  CHECK(holds(text, "Allocated in the range"));
  CHECK(holds(text, "in the range at most "));
  const auto& part = answer_to<MemoryQuestion>(*tab.doc);
  REQUIRE(part);
  CHECK(part->range == *tab.view.active().range);
  std::uint64_t of_part = 0, of_whole = 0;
  for (const MemoryOperator& op : part->use.operators) of_part += op.allocations;
  for (const MemoryOperator& op : whole.operators) of_whole += op.allocations;
  CHECK(of_part > 0);
  CHECK(of_part < of_whole);
}

TEST_CASE("the kernels of the tab Counters are ordered by a click, what is not known at the end of the largest first") {
  Tab tab(test::recording("recorded_geglu_counters").string(), draw_counters_panel);
  const MeasuredRows table = measured_rows(tab.doc->trace, tab.doc->analysis()->counters());
  const auto order = [&] { return order_of(table, tab.view.active().counters); };
  tab.check([&] { return order().column * 2 + order().descending; }, "name,device,bound_by,time_ns");
  for (const char* column : {"time", "sm_active_percent", "flop_per_s", "launches"}) {
    const std::size_t at = test::column_of(table, column);
    REQUIRE(at < table.columns());
    const auto rows = arrange(table, {.order = RowOrder{at, true}});
    REQUIRE(rows.size() == table.rows());
    for (std::size_t i = 1; i < rows.size(); ++i) CHECK_FALSE(table.value(rows[i - 1], at) < table.value(rows[i], at));
  }
}

TEST_CASE("the rows of the tab Compile are ordered by a click") {
  Tab tab(test::recording("graph_breaks").string(), draw_compile);
  const auto order = [&] {
    const std::optional<RowOrder>& of = tab.view.active().compile.look.order;
    return of ? of->column * 2 + of->descending + 1 : 0;
  };
  tab.keep = [&] { tab.view.active().compile.list = CompileList::regions; };
  tab.check(order, "calls,host_ns,GPU_ns");
  tab.keep = {};
  tab.view.active().compile.list = CompileList::regions;
  tab.view.active().compile.look.order = RowOrder{2, true};
  tab.frame();
  const auto use = answer_to<CompileQuestion>(*tab.doc);
  const auto table = compile_table(tab.doc->trace, *use, CompileList::regions);
  const std::vector<std::uint32_t>& rows = tab.view.active().compile.arranged.rows;
  REQUIRE(rows.size() == table->rows());
  REQUIRE(rows.size() > 1);
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK_FALSE(table->value(rows[i - 1], 2) < table->value(rows[i], 2));
  tab.view.active().compile.list = CompileList::breaks;
  tab.frame();
  CHECK_FALSE(tab.view.active().compile.look.order);
}

TEST_CASE("the ranks are ordered by a click, and by those that others waited for with the bands") {
  const auto file = [](const char* name) { return (test::recordings_folder() / "ranks" / name).string(); };
  Tab tab(file("ddp_delayed_rank0.json.gz"), draw_ranks);
  tab.view.window.ranks.paths = {file("ddp_delayed_rank0.json.gz"), file("ddp_delayed_rank1.json.gz")};
  tab.view.window.ranks.wanted = true;
  tab.frame();
  tab.frame();
  tab.check([&] { return tab.view.window.ranks.order.column * 2 + tab.view.window.ranks.order.descending; }, "rank,waited_ns");
  REQUIRE(tab.view.window.ranks.last);
  const RunReport& report = tab.view.window.ranks.last->report;
  const std::unique_ptr<TableRows> table = rank_rows(report);
  CHECK(first_cell(csv_of(*table, arrange(*table, {}))) == "0");
  const TableLook latest{{}, RowOrder{static_cast<std::size_t>(RanksColumn::cost), true}};
  CHECK(arrange(*table, latest) == order_of_ranks(report, true));
  CHECK(first_cell(csv_of(*table, arrange(*table, latest))) == "1");
}
