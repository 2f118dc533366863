#include "core/view/table/table_model.h"

#include <doctest/doctest.h>

#include "core/base/table/output.h"
#include "tests/support/table_columns.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

namespace {

// Three calls of one operator, two of them of one shape, and a step around the first two.
constexpr std::string_view kCalls = R"json([
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 50, "args": {"External id": 9}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"External id": 1, "Input Dims": [[2, 2], [2, 2]]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 20, "dur": 7, "args": {"External id": 2, "Input Dims": [[4, 4], [4, 4]]}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 60, "dur": 30, "args": {"External id": 10}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 70, "dur": 11, "args": {"External id": 3, "Input Dims": [[2, 2], [2, 2]]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::a, \"b\"", "pid": 1, "tid": 1, "ts": 85, "dur": 1, "args": {"External id": 4}}
])json";

struct Tables {
  std::shared_ptr<const Document> doc = test::document_from_text(kCalls);
  Tables() { doc->analyze(); }
  const OpEvents& events() const { return doc->analysis()->op_events(TableMode::corrected); }
  OpTable table(const TableQuestion& q = {}) const { return make_op_table(doc->trace, events(), {q.range, q.by_shape}); }
  std::vector<std::string> names(const OpTable& table, const std::vector<std::uint32_t>& rows) const {
    std::vector<std::string> out;
    for (const std::uint32_t i : rows) out.push_back(table.rows[i].name);
    return out;
  }
  const OpTableRow& row(const OpTable& table, std::string_view name) const {
    for (const OpTableRow& r : table.rows)
      if (r.name == name) return r;
    FAIL("no such row");
    return table.rows.front();
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("rows are ordered by the column, either way, and filtered without regard to case") {
  const Tables t;
  const OpTable table = t.table();
  const OpTableRows rows = op_table_rows(t.doc->trace, table, false);
  const auto ordered = [&](const char* column, bool descending, const char* filter = "") {
    return t.names(table, arrange(rows, {filter, test::by(rows, column, descending)}));
  };
  CHECK(ordered("cpu", true) == Names{"ProfilerStep*", "aten::mm", "aten::a, \"b\""});
  CHECK(ordered("cpu", false) == Names{"aten::a, \"b\"", "aten::mm", "ProfilerStep*"});
  CHECK(ordered("name", false) == Names{"ProfilerStep*", "aten::a, \"b\"", "aten::mm"});
  CHECK(ordered("count", true, "ATEN") == Names{"aten::mm", "aten::a, \"b\""});
  CHECK(ordered("count", true, "no such").empty());
  CHECK(ordered("count", true, "CPU").empty());  // the device is no name
}

TEST_CASE("a row's slices are as many as it counts, in order") {
  const Tables t;
  for (const bool by_shape : {false, true}) {
    for (const std::optional<Span> range : {std::optional<Span>{}, std::optional<Span>{{15'000, 75'000}}}) {
      const TableQuestion question{TableMode::corrected, by_shape, range};
      const OpTable table = t.table(question);
      for (const OpTableRow& row : table.rows) {
        const auto slices = slices_of_row(t.doc->trace, t.events(), question, row);
        CHECK(slices.size() == row.count);
        for (std::size_t i = 1; i < slices.size(); ++i)
          CHECK(t.doc->trace.begin(slices[i - 1]) <= t.doc->trace.begin(slices[i]));
      }
    }
  }
  CHECK(t.table({TableMode::corrected, true, {}}).rows.size() == 4);
}

TEST_CASE("the total adds what adds up and leaves nested time out") {
  const Tables t;
  const OpTable table = t.table();
  const OpTableRows rows = op_table_rows(t.doc->trace, table, false);
  const auto total = [&](const char* id) { return total_of(rows, arrange(rows, {}), test::column_of(rows, id), "rows").text; };
  CHECK(total("name") == "3 rows");
  CHECK(total("count") == "6");
  CHECK(total("self_cpu") == "80.0 µs");  // the two steps: every operator is in one
  CHECK(total("cpu").empty());
}

TEST_CASE("CSV quotes what needs it and states its units") {
  const Tables t;
  const OpTable table = t.table();
  const OpTableRows rows = op_table_rows(t.doc->trace, table, false);
  const std::string csv = csv_of(rows, arrange(rows, {"aten::a"}), CsvHeads::titles_with_units);
  CHECK(csv ==
        "Name,Device,Calls,Self CPU (ns),CPU total (ns),CPU avg (ns),Self CUDA (ns),CUDA total (ns),CUDA avg (ns)\n"
        "\"aten::a, \"\"b\"\"\",CPU,1,1000,1000,1000,0,0,0\n");
}

TEST_CASE("the rows are arranged anew only when something changed") {
  const Tables t;
  TableState state;
  const auto answer = std::make_shared<const TableAnswer>(TableAnswer{{}, t.table()});
  CHECK(arrange_table(t.doc->trace, answer, state));
  CHECK_FALSE(arrange_table(t.doc->trace, answer, state));
  state.look.filter = "mm";
  CHECK(arrange_table(t.doc->trace, answer, state));
  CHECK(state.arranged.rows.size() == 1);
  state.look.order = RowOrder{};
  CHECK(arrange_table(t.doc->trace, answer, state));
}

TEST_CASE("a cycle goes round both ways, and begins at an end from elsewhere") {
  const SliceCycle cycle{"x", {SliceId(3u), SliceId(5u), SliceId(9u)}};
  CHECK(cycle.next(SliceId(3u)) == SliceId(5u));
  CHECK(cycle.next(SliceId(9u)) == SliceId(3u));
  CHECK(cycle.previous(SliceId(3u)) == SliceId(9u));
  CHECK(cycle.next({}) == SliceId(3u));
  CHECK(cycle.previous({}) == SliceId(9u));
  CHECK_FALSE(SliceCycle{}.next(SliceId(1u)).valid());
}
