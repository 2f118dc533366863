// A list of columns as CSV, text and JSON: all hold the same values.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/table/csv.h"
#include "core/base/table/output.h"

using namespace gapscope;

namespace {

struct Item {
  std::string name;
  std::int64_t time = 0;
  std::optional<std::int64_t> memory;
  double share = 0;
};
struct Whole {
  double scale = 1;
};

constexpr ColumnOf<Item, Whole> kColumns[] = {
    {"name", "Name", "What it is called.", Quantity::text, &field<&Item::name>, {.text = 8}},
    {"time", "Time", "How long.", Quantity::ns, &field<&Item::time>, {.text = 9}},
    {"memory", "Memory", "How much.", Quantity::bytes, &field<&Item::memory>, {.text = 8}},
    {"share",
     "Share",
     "Of all.",
     Quantity::share,
     [](const Whole& of, const Item& row) -> CellValue { return row.share * of.scale; },
     {.csv = "Part of all"}},
    {"nested",
     "Nested",
     "Only JSON has it.",
     Quantity::count,
     [](const Whole&, const Item&) -> CellValue { return 3; },
     {.in = kInJson},
     nullptr,
     [](const Whole&, const Item& row, nlohmann::ordered_json& out) {
       out = {{"of", row.name}};
     }},
    {"words", "Words", "At the end of a line.", Quantity::text, &field<&Item::name>, {.in = kInText, .text = -5}},
};
const std::vector<Item> kRows = {{"b, c", 1'500'000, {}, 0.25}, {"=a()", 20, 4096, 0.5}};

ListRows<Item, Whole> table() { return table_of(kColumns, {2}, kRows); }
const std::vector<std::uint32_t> kOrder = {1, 0};

}  // namespace

TEST_CASE("rows come as CSV, as text and as JSON, in the order asked for") {
  CHECK(csv_of(table(), kOrder) == "name,time_ns,memory_bytes,Part of all\n'=a(),20,4096,1\n\"b, c\",1500000,,0.5\n");
  CHECK(csv_of(table(), {}, CsvHeads::titles) == "Name,Time,Memory,Part of all\n");
  CHECK(text_of(table(), kOrder) ==
        "name          time   memory  words\n"
        "=a()         20 ns  4.10 kB  =a()\n"
        "b, c       1.50 ms        -  b, c\n");
  const nlohmann::ordered_json list = json_of(table(), kOrder);
  CHECK(list[0].dump() ==
        "{\"name\":\"=a()\",\"time_ns\":20,\"memory_bytes\":4096,\"share\":1.0,\"nested\":{\"of\":\"=a()\"}}");
  CHECK(list[1]["memory_bytes"].is_null());
  CHECK(list.size() == 2);
}

TEST_CASE("a column that a table has nothing for is in none of them") {
  ListRows<Item, Whole> short_one = table();
  short_one.leave_out("memory");
  CHECK(csv_of(short_one, {}) == "name,time_ns,Part of all\n");
  CHECK(json_of(short_one, kOrder)[0].contains("memory_bytes") == false);
  CHECK(text_of(short_one, {}) == "name          time  words\n");
  CHECK(column_at(kColumns, "share") == 3);
  CHECK(column_at(kColumns, "none") == std::size(kColumns));
}

TEST_CASE("values are ordered: absent, numbers by size, texts by their bytes") {
  CHECK(CellValue() < CellValue(-5));
  CHECK_FALSE(CellValue(-5) < CellValue());
  CHECK_FALSE(CellValue() < CellValue());
  CHECK(CellValue(2) < CellValue(10));
  CHECK(CellValue(9'007'199'254'740'993) < CellValue(9'007'199'254'740'994));
  CHECK(CellValue(1.5) < CellValue(2));
  CHECK(CellValue("B") < CellValue(std::string("a")));
}

TEST_CASE("a real number is read in three digits, above a million by powers of 1000") {
  CHECK(display(0.12345, Quantity::real) == "0.123");
  CHECK(display(12'345.0, Quantity::real) == "12345");
  CHECK(display(999'499.0, Quantity::real) == "999499");
  CHECK(display(999'500.0, Quantity::real) == "1 M");
  CHECK(display(-137'438'953'472.0, Quantity::real) == "-137 G");
  CHECK(plain(137'438'953'472.0, Quantity::real) == "137438953472");
}

TEST_CASE("a spreadsheet takes no cell of CSV for a formula, and no terminal for a command") {
  CHECK(csv_cell("plain") == "plain");
  CHECK(csv_cell("") == "");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_cell("=1+2") == "'=1+2");
  CHECK(csv_cell("@sum(a)") == "'@sum(a)");
  CHECK(csv_cell("-x") == "'-x");
  CHECK(csv_cell("+x, y") == "\"'+x, y\"");
  for (const char* number : {"-5", "+5", "-1.5e9", "-0", "5", "-inf"}) CHECK(csv_cell(number) == number);
  CHECK(csv_cell("a\nb\tc") == "\"a\nb\tc\"");
  CHECK(csv_cell("a\r\nb") == "\"a\nb\"");
  CHECK(csv_cell("a\rb") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(csv_cell("a\r") == "a\xEF\xBF\xBD");
  CHECK(csv_cell("\r=1") == "'\xEF\xBF\xBD=1");
  CHECK(csv_cell("a\x1b[0m\x7f") == "a\xEF\xBF\xBD[0m\xEF\xBF\xBD");
}
