#include "core/view/sql/sql_model.h"
#include "core/sql/virtual_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>

#include "core/analyze/op_table/op_table.h"
#include "core/view/sql/sql_examples.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

namespace {

std::shared_ptr<const SqlAnswer> run(const Document& document, const std::string& text,
                                     std::shared_ptr<sql::Database> database = nullptr) {
  return answer(document, SqlQuestion{text, 1, std::move(database)}, nullptr);
}

}  // namespace

TEST_CASE("a query gives its rows, its numbers sort as numbers and NULL comes last") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const auto rows = run(*doc, "select 9 as n union all select 10 union all select null union all select 'x'");
  REQUIRE(rows->error.empty());
  REQUIRE(rows->rows() == 4);
  CHECK_FALSE(rows->facts[0].numeric);
  const auto text = [&](bool descending) {
    std::string all;
    for (const std::uint32_t row : arrange_sql(*rows, 0, descending)) all += rows->text(row, 0) + " ";
    return all;
  };
  CHECK(text(false) == "9 10 x NULL ");
  CHECK(text(true) == "10 9 x NULL ");
  CHECK(sql_csv(*run(*doc, "select 'a,b' as \"x\", null as y")) == "x,y\n\"a,b\",\n");
}

TEST_CASE("an error says what is wrong, and the rows before it are there") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const auto rows = run(*doc, "select 1 as a; select x from nowhere");
  CHECK(rows->error.find("nowhere") != std::string::npos);
  CHECK(rows->rows() == 1);
}

TEST_CASE("more rows than can be shown are cut, and that is said and no error") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const auto rows =
      run(*doc, "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select i from n");
  CHECK(rows->rows() == kMostSqlRows);
  CHECK(rows->cut);
  CHECK(rows->error.empty());
}

TEST_CASE("a cancelled query ends and gives no answer") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const std::atomic<bool> cancel{true};
  CHECK_FALSE(answer(
      *doc, SqlQuestion{"with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n", 1}, &cancel));
}

TEST_CASE("what one query makes the next one finds") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const auto first = run(*doc, "create perfetto table mine as select 5 as x");
  REQUIRE(first->error.empty());
  const auto second = run(*doc, "select x from mine", first->database);
  REQUIRE(second->rows() == 1);
  CHECK(second->text(0, 0) == "5");
}

TEST_CASE("a row leads to its slice by id and begin or name, to a time by ts and dur, and nowhere by a bare number") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const auto slices = run(*doc, "select id, ts, dur, name from slice");
  REQUIRE(slices->rows() > 2);
  for (std::size_t row = 0; row < slices->rows(); ++row) {
    const auto place = slices->place(*doc, row);
    REQUIRE(place);
    REQUIRE(place->slice);
    CHECK(std::string(doc->trace.name(place->slice)) == slices->text(row, 3));
  }
  const auto times = run(*doc, "select ts, dur from slice");
  CHECK_FALSE(times->place(*doc, 0)->slice);
  CHECK(std::to_string(times->place(*doc, 0)->span.begin) == times->text(0, 0));
  CHECK_FALSE(run(*doc, "select 1 as id")->place(*doc, 0));
  CHECK_FALSE(run(*doc, "select 1 as id, 'another' as name")->place(*doc, 0));
  CHECK_FALSE(run(*doc, "select -9000000000000000000 as ts, 9223372036854775807 as dur")->place(*doc, 0));
}

TEST_CASE("words are completed by what tables and the language have") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  const auto ready = run(*doc, "");
  CHECK(ready->error.empty());
  CHECK(word_before("select laun", 11) == "laun");
  CHECK(word_before("select ", 7).empty());
  const auto of = [&](std::string_view text) { return completions(*ready, text, text.size(), 8); };
  CHECK(of("select launch_d") == std::vector<std::string>{"launch_dur", "launch_delay"});
  CHECK(of("").empty());
  CHECK(of("select 1 as launch_of_mine, launch_d").size() == 2);
  CHECK(of("with launch_difference as (select 1) select launch_d").front() == "launch_difference");
  // A word that is one already stays; behind FROM stand tables: kernel_ns is a column.
  CHECK(of("select name from kernel").empty());
  CHECK(of("select name from slice order by dur desc").empty());
  CHECK(of("select kern").size() > of("select 1 from kern").size());
  const auto tables = of("select 1 from kern");
  REQUIRE_FALSE(tables.empty());
  for (const std::string& name : tables)
    CHECK(std::any_of(ready->tables.begin(), ready->tables.end(), [&](const sql::Table* t) { return t->name() == name; }));
}

TEST_CASE("queries are remembered once, newest first") {
  std::vector<std::string> queries;
  for (int i = 0; i < 60; ++i) remember_query(queries, std::to_string(i));
  CHECK(queries.size() == kMostQueries);
  remember_query(queries, "30");
  CHECK(queries.front() == "30");
  CHECK(queries.size() == kMostQueries);
}

TEST_CASE("every example runs on a recording and gives rows") {
  const std::shared_ptr<const Trace> trace = test::load_once(test::recording("transformer_baseline"));
  const Document doc(trace);
  CHECK(sql_examples().size() == 12);
  for (const SqlExample& example : sql_examples()) {
    CAPTURE(example.title);
    const auto rows = run(doc, example.query);
    CHECK(rows->error.empty());
    CHECK((rows->rows() > 0 || std::string_view(example.title) == "Low occupancy"));
  }
}

TEST_CASE("the queries of the tabs give the rows of the tabs") {
  const std::shared_ptr<const Trace> trace = test::load_once(test::recording("transformer_baseline"));
  const Document doc(trace);
  doc.diagnose();
  const auto kernels = run(doc, kKernelsAsSql);
  std::map<std::pair<std::string, std::string>, std::int64_t> work, calls;
  for (const KernelRow& row : doc.analysis()->kernels().rows)
    work[{std::string(trace->strings[row.name]), std::to_string(row.total)}] = static_cast<std::int64_t>(row.count);
  CHECK(kernels->rows() == work.size());
  CHECK(kernels->rows() > 20);
  for (std::size_t row = 0; row < kernels->rows(); ++row) {
    const auto found = work.find({kernels->text(row, 0), kernels->text(row, 3)});
    REQUIRE(found != work.end());
    CHECK(kernels->text(row, 2) == std::to_string(found->second));
  }
  const auto table = run(doc, kOperatorsAsSql);
  for (const OpTableRow& row : make_op_table(*trace, doc.analysis()->op_events({})).rows)
    calls[{row.name, row.on_gpu ? "CUDA" : "CPU"}] = static_cast<std::int64_t>(row.count);
  CHECK(table->rows() == calls.size());
  for (std::size_t row = 0; row < table->rows(); ++row) {
    CAPTURE(table->text(row, 0));
    const auto found = calls.find({table->text(row, 0), table->text(row, 1)});
    REQUIRE(found != calls.end());
    CHECK(table->text(row, 2) == std::to_string(found->second));
  }
  CHECK(run(doc, kStepsAsSql)->rows() == doc.analysis()->steps().steps.size());
  CHECK(run(doc, kFindingsAsSql)->rows() == doc.diagnosis()->findings.size());
}
