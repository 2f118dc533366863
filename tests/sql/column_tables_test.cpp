// What SQL has of a table of columns is what JSON and CSV have.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/analyze/gpu/kernel_columns.h"
#include "core/analyze/step_columns.h"
#include "core/analyze/work/roofline_rows.h"
#include "core/base/table/output.h"
#include "core/index/link_index.h"
#include "core/load/arg_texts.h"
#include "tests/sql/rows.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string text_of_value(const CellValue& value) {
  if (value.absent()) return "NULL";
  if (const auto* real = value.get<double>()) return std::to_string(*real);
  if (const auto* flag = value.get<bool>()) return *flag ? "1" : "0";
  return value.is_text() ? std::string(value.text()) : plain(value, Quantity::count);
}

// Each value of the columns that SQL has, against the table of SQL.
void check_same(const TableRows& table, sql::Database& database, const std::string& name) {
  const Answer answer = ask(database, "select * from " + name);
  REQUIRE(answer.error.empty());
  REQUIRE(answer.rows.size() == table.rows());
  REQUIRE(table.rows() > 0);
  std::size_t place = 0;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (!table.head(c).is_in(kInSql)) continue;
    CAPTURE(table.head(c).id);
    REQUIRE(place < answer.columns.size());
    CHECK(answer.columns[place] == table.head(c).id);
    for (std::size_t row = 0; row < table.rows(); ++row) CHECK(answer.rows[row][place] == text_of_value(table.value(row, c)));
    ++place;
  }
  CHECK(place == answer.columns.size());
}

// What JSON says of a column that is not nested is its value.
void check_json(const TableRows& table) {
  const nlohmann::ordered_json list = json_of(table, first_rows(table, table.rows()));
  for (std::size_t c = 0; c < table.columns(); ++c)
    for (std::size_t row = 0; row < table.rows() && table.is_in(c, kInJson); ++row) {
      const nlohmann::ordered_json& told = list[row].at(key_of(table.head(c)));
      nlohmann::ordered_json value;
      put_json(table.value(row, c), value);
      if (!told.is_structured()) CHECK(told == value);
    }
}

}  // namespace

TEST_CASE("kernels by name are the same in SQL, JSON and the table") {
  const auto trace = load_once(recording("transformer_baseline"));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const KernelTable table = kernel_table(*trace, links);
  const KernelRows rows = kernel_rows(table, {*trace, &links});
  sql::Database database(trace, {});
  check_same(rows, database, "kernel_summary");
  check_json(rows);
  CHECK(one(database,
            "select count(*) from kernel_summary s where total <> (select sum(dur) from slice k where k.name = s.name)") ==
        "0");
}

TEST_CASE("steps are the same in SQL, JSON, CSV and the table") {
  const auto trace = load_once(recording("transformer_baseline"));
  const LaneIndex lanes(*trace);
  const Steps steps = make_steps(*trace, gpu_ops(*trace, LinkIndex(*trace, lanes)));
  sql::Database database(trace, {});
  const StepRows rows =
      step_rows(steps.steps,
                {*trace, [&](SliceId slice) {
                   return CellValue(one(database, "select id from slice where dur = " + std::to_string(trace->duration(slice)) +
                                                      " and name = '" + std::string(trace->name(slice)) + "'"));
                 }});
  check_same(rows, database, "step");
  check_json(rows);
  const std::string csv = csv_of(rows, first_rows(rows, 1));
  CHECK(csv.starts_with("step,begin_ns,step_ns,cpu_ns,gpu_ns,kernels,launches,kernel_ns,memcpy_ns,memset_ns,"));
  CHECK(csv.ends_with("," + std::to_string(steps.steps.front().time.back()) + "\n"));
}

TEST_CASE("rows of work are the same in SQL and the table, and slices and kernels sum to them") {
  const auto trace = load_once(recording("transformer_baseline"));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const WorkTable table = work_table(*trace, lanes, links, concrete_inputs());
  const std::vector<RooflineRow> work = roofline_rows(*trace, table);
  const RooflineTable rows = roofline_table(*trace, work);
  sql::Database database(trace, {});
  check_same(rows, database, "roofline");
  CHECK(one(database, "select count(*) from roofline where reached > 1") == "0");
  CHECK(one(database, "select (select sum(flops) from slice) = (select sum(flops * count) from roofline)") == "1");
  // Copies have floors, too, and are no kernels: products have none. Each share is rounded.
  CHECK(one(database,
            "select abs((select sum(floor_ns) from kernel where operator like 'aten::%mm') - (select sum(floor) from roofline "
            "where operator like 'aten::%mm')) < (select count(*) from kernel)") == "1");
  CHECK(one(database, "select count(*) from kernel where floor_ns > dur") == "0");
}
