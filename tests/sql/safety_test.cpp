// What a query may not do, and what is said of one that is wrong.
#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "core/sql/rewrite.h"
#include "core/sql/tokens.h"
#include "tests/sql/rows.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {
std::unique_ptr<sql::Database> some() { return database_of(recording("linear_compile")); }
bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }
}  // namespace

TEST_CASE("nothing is written, opened or configured") {
  const auto database = some();
  for (const char* query : {"insert into slice values (1)",
                            "delete from slice",
                            "update slice set dur = 0",
                            "drop table slice",
                            "create table t(x)",
                            "create table t as select 1",
                            "create view v as select 1",
                            "create index i on slice(ts)",
                            "attach ':memory:' as other",
                            "attach '/tmp/x.db' as other",
                            "detach main",
                            "vacuum into '/tmp/gapscope-x.db'",
                            "pragma writable_schema = 1",
                            "pragma database_list",
                            "pragma journal_mode = wal",
                            "select load_extension('/tmp/x.so')",
                            "select readfile('/etc/passwd')",
                            "select writefile('/tmp/x', 'a')",
                            "create virtual table t using fts5(x)",
                            "create virtual table t using span_join(a, b)",
                            "create temp table t as select 1",
                            "create trigger t after insert on slice begin select 1; end",
                            "analyze",
                            "begin",
                            "savepoint s",
                            "select * from pragma_database_list",
                            "insert into sqlite_temp_master values (1)",
                            "create perfetto table t as select 1; insert into t values (2)",
                            "create perfetto table sqlite_x as select 1",
                            "create perfetto table slice as select 1 as id",
                            "create or replace perfetto view \"Kernel\" as select 1 as id",
                            "create perfetto table t as select readfile('/etc/passwd')",
                            "delete from sqlite_temp_master"}) {
    INFO(std::string(query));
    CHECK(!ask(*database, query).error.empty());
  }
  CHECK(one(*database, "select count(*) > 0 from slice") == "1");
}

TEST_CASE("a mistake is said with its place, and what may have been meant") {
  const auto database = some();
  CHECK(one(*database, "select name\nfrom slice wherex dur > 1") == "near \"dur\": syntax error (line 2, column 19)");
  CHECK(one(*database, "select 1; select * from slices") == "no such table: slices: did you mean slice? (line 1, column 25)");
  CHECK(says(one(*database, "select nam from slice"), "no such column: nam: did you mean name? (line 1, column 8)"));
  CHECK(says(one(*database, "select * from slice where name = \"aten::mm\""), "write a text in single quotes"));
  CHECK(says(one(*database, "create perfetto table t as\nselect x from slice"), "(line 2, column 8)"));
  CHECK(one(*database, "select name, frm slice") == "no such column: name; is a FROM missing? (line 1, column 8)");
  CHECK(says(one(*database, "select * from slice where name = \"x\""), "no such column: x; write a text in single quotes"));
  CHECK(says(one(*database, "select rank from ranks"), "did you mean rank?"));
  // Columns of other tables than those of the query are not meant: arch is one of device.
  CHECK_FALSE(says(one(*database, "select args from slice"), "did you mean"));
  CHECK(says(one(*database, "select * from ancestor_slice"), "is a function"));
  CHECK(one(*database, "select '") != "");
  CHECK(one(*database, "-- nothing\n;;") == "0 rows");
}

TEST_CASE("a query without an end is cancelled soon, and ends at its time limit") {
  const auto database = some();
  constexpr const char* kEndless = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c";
  std::chrono::steady_clock::time_point asked;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    asked = std::chrono::steady_clock::now();
    database->cancel();
  });
  CHECK(one(*database, kEndless) == "Cancelled.");
  other.join();
  CHECK(one(*database, "select 7") == "7");
  const auto limited = database_of(recording("linear_compile"), {{}, std::chrono::milliseconds(60)});
  CHECK(one(*limited, kEndless) == "The query was ended after its time limit of 0.06 s.");
  CHECK(one(*limited, "select 8") == "8");
}

TEST_CASE("json_each and json_tree read texts of JSON") {
  const auto database = database_of(recording("linear_compile"), {{}, std::chrono::seconds(60)});
  CHECK(rows(*database, "select key, value from json_each('{\"a\": 1, \"b\": [2]}')") == "a|1\nb|[2]");
  CHECK(one(*database, "select group_concat(fullkey) from json_tree('{\"a\": [1, {\"b\": 2}]}')") ==
        "$,$.a,$.a[0],$.a[1],$.a[1].b");
  CHECK(one(*database, "select count(*) from pragma_table_info('slice') where name = 'dur'") == "1");
  // Whatever is in the text, they are done or end with the time limit.
  const std::string long_array = "printf('[%s1]', replace(printf('%.*c', 100000, 'x'), 'x', '1,'))";
  CHECK(one(*database, "select count(*) from json_each(" + long_array + ")") == "100001");
  CHECK(one(*database, "select max(length(path)) from json_tree(" + long_array + ")") == "1");
  CHECK(says(one(*database, "select count(*) from json_tree(printf('%.*c', 8000000, '['))"), "malformed JSON"));
  const auto limited = database_of(recording("linear_compile"), {{}, std::chrono::seconds(1)});
  CHECK(one(*limited, "with j as (select " + long_array + " t) select count(*) from j, json_each(t) a, json_each(t) b") ==
        "The query was ended after its time limit of 1 s.");
}

TEST_CASE("a function of long texts does not outlast the time limit") {
  // Quadratic, each of these takes hours, and SQLite looks at the limit before and behind a function alone.
  const auto database = database_of(recording("linear_compile"), {{}, std::chrono::seconds(300)});
  CHECK(one(*database, "select instr(printf('%.*c', 16000000, 'a'), printf('%.*cb', 8000000, 'a'))") == "0");
  CHECK(one(*database, "select length(replace(printf('%.*c', 16000000, 'a'), printf('%.*cb', 8000000, 'a'), ''))") ==
        "16000000");
  CHECK(one(*database, "select length(trim(printf('%.*c', 8000000, 'a'), printf('%.*ca', 8000000, 'b')))") == "0");
  const std::string pattern = "printf('%%%.*cb%%', 4000, 'a')";
  CHECK(says(one(*database, "select printf('%.*c', 16000000, 'a') like " + pattern), "is too long for LIKE or GLOB"));
  CHECK(one(*database,
            "select str_split(printf('%.*c', 16000000, 'a'), printf('%.*cb', 8000000, 'a'), 0) = printf('%.*c', 16000000, "
            "'a')") == "1");
  for (const char* call : {"json_patch('{}', '{}')", "json_set('{}', '$.a', 1)", "json_insert('{}', '$.a', 1)"})
    CHECK(says(one(*database, std::string("select ") + call), "is refused"));
  CHECK(says(one(*database, "select regexp('[0-9].{900}x', hex(randomblob(8000000)))"), "is too long for this regular"));
  // For each a it is looked for a b.
  const auto limited = database_of(recording("linear_compile"), {{}, std::chrono::seconds(1)});
  CHECK(one(*limited, "select length(regexp_replace_simple(printf('%.*c', 8000000, 'a'), 'a.*b|a', 'x'))") ==
        "The query was ended after its time limit of 1 s.");
}

TEST_CASE("functions of texts give what SQLite's give") {
  const auto database = some();
  const auto value = [&](const char* expression) { return one(*database, std::string("select ") + expression); };
  CHECK(value("instr('häuser', 'user')") == "3");
  CHECK(value("instr('abc', 'd')") == "0");
  CHECK(value("instr('abc', '')") == "1");
  CHECK(value("instr(null, 'd')") == "NULL");
  CHECK(value("instr('ä', cast(x'a4' as text))") == "0");
  CHECK(value("instr(x'c3a4ff', x'ff')") == "3");
  CHECK(value("instr(1234, 34)") == "3");
  CHECK(value("replace('abcabc', 'bc', 'x')") == "axax");
  CHECK(value("replace('aaa', 'aa', 'b')") == "ba");
  CHECK(value("replace('abc', '', 'x')") == "abc");
  CHECK(value("replace('abc', 'abc', '') = ''") == "1");
  CHECK(value("replace('abc', 'b', null)") == "NULL");
  CHECK(says(value("replace(printf('%.*c', 100000, 'a'), 'a', printf('%.*c', 1000, 'b'))"), "longer than"));
  CHECK(value("trim('  a ')") == "a");
  CHECK(value("trim('äxbä', 'äx')") == "b");
  CHECK(value("ltrim('xxaxx', 'x')") == "axx");
  CHECK(value("rtrim('xxaxx', 'x')") == "xxa");
  CHECK(value("rtrim('abc', '')") == "abc");
  CHECK(value("trim(null, 'x')") == "NULL");
  CHECK(value("regexp_replace_simple('a1b22c', '[0-9]+', '\\1')") == "a\\1b\\1c");
  CHECK(value("regexp_replace_simple('abc', 'x*', '-')") == "-a-b-c-");
  CHECK(value("regexp_replace_simple('baac', 'a*', '-')") == "-b-c-");
  CHECK(value("regexp_replace_simple('häß', '', '-')") == "-h-ä-ß-");
  CHECK(value("regexp_replace_simple('', 'x*', '-')") == "-");
  CHECK(value("regexp_replace_simple('', 'x', '-') = ''") == "1");
  CHECK(value("'Aten::MM' like 'aten::_m'") == "1");
  CHECK(value("'a%c' like 'a!%c' escape '!'") == "1");
  CHECK(value("'abc' like 'a!%c' escape '!'") == "0");
  CHECK(value("null like 'a'") == "NULL");
  CHECK(says(value("'a' like 'a' escape '!!'"), "a single character"));
  CHECK(value("'abc' glob 'a[a-c]?'") == "1");
  CHECK(value("'ABC' glob 'a*'") == "0");
}

TEST_CASE("rows stream, and whoever takes them may stop") {
  const auto database = some();
  struct Few final : sql::RowSink {
    std::size_t rows = 0;
    bool begin(const std::vector<std::string>&) override { return true; }
    bool row(std::span<const sql::Cell>) override { return ++rows < 1000; }
  } few;
  CHECK(!database->run("with recursive c(x) as (select 1 union all select x + 1 from c) select x from c", few));
  CHECK(few.rows == 1000);
}

TEST_CASE("statements are parted outside of texts and comments") {
  const auto texts = [](std::string_view script) {
    std::string out;
    for (const auto& s : sql::statements_of(script)) out += '<' + std::string(s.text) + '>';
    return out;
  };
  CHECK(texts("select ';'; -- ; \n select /* ; */ \"a;b\" ;; ") == "<select ';'><select /* ; */ \"a;b\">");
  CHECK(texts(" \n-- x") == "");
  CHECK(sql::is_unfinished("select 1"));
  CHECK(!sql::is_unfinished("select 1;"));
  CHECK(sql::is_unfinished("select 'a;"));
}

TEST_CASE("an arg of slice becomes a column only where it is surely slice's") {
  using sql::rewritten;
  CHECK(rewritten("select name from slice") == "");
  CHECK(rewritten("select extract_arg(arg_set_id, 'args.correlation') from slice where dur > 1") ==
        "select _args_correlation from slice where dur > 1");
  CHECK(rewritten("select 1 from slice a join slice b on extract_arg(a.arg_set_id, 'args.External id') = "
                  "extract_arg(b.arg_set_id, 'args.External id')") ==
        "select 1 from slice a join slice b on a._args_external_id = b._args_external_id");
  CHECK(rewritten("select extract_arg(arg_set_id, 'args.correlation') from slice, flow") == "");
  CHECK(rewritten("select extract_arg(x.arg_set_id, 'args.correlation') from other x") == "");
  CHECK(rewritten("with g as (select extract_arg(arg_set_id, 'args.x') c from slice) select * from g") ==
        "with g as materialized (select extract_arg(arg_set_id, 'args.x') c from slice) select * from g");
  CHECK(rewritten("select (select extract_arg(arg_set_id, 'args.correlation') from args) from slice") == "");
}
