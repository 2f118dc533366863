// nsys.TABLE: the tables of an export of Nsight Systems as the file has them, whatever is in it. tests/cli/nsight_check.py
// compares real exports with Python's sqlite3.
#include <sqlite3.h>

#include <filesystem>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "core/sql/virtual_table.h"
#include "core/sql/world.h"
#include "tests/sql/rows.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr const char* kTables = R"(
PRAGMA page_size = 512;
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'poll');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
  globalPid INT, demangledName INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10000, i * 10000 + 5000, 0, 1, 7, i, 16777216000, 1 FROM n;
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 3000, start - 1000, 16777217000, correlationId, 2
  FROM CUPTI_ACTIVITY_KIND_KERNEL;
)";

struct Export {
  explicit Export(const std::string& more = {}) : path((folder.path() / "small.sqlite").string()) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    REQUIRE_MESSAGE(sqlite3_exec(db, (kTables + more).c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
  }
  std::unique_ptr<sql::Database> open(const sql::Options& options = {}) const {
    const auto trace = load_trace(path, {});
    REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
    return std::make_unique<sql::Database>(*trace, options);
  }
  TempFolder folder;
  std::string path;
};

bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("the tables of an export stand next to ours") {
  const Export file;
  const auto database = file.open();
  CHECK(rows(*database, "select * from nsys.StringIds") == "1|gemm\n2|cudaLaunchKernel_v7000\n3|poll");
  CHECK(one(*database, "select count(*) from NSYS.cupti_activity_kind_kernel") == "2000");
  CHECK(one(*database, "select count(*) from \"nsys\".\"StringIds\" where value like 'g%'") == "1");
  CHECK(one(*database,
            "select count(*) from kernel k join nsys.CUPTI_ACTIVITY_KIND_KERNEL n on n.start = k.ts and "
            "n.end = k.ts + k.dur") == "2000");
  CHECK(one(*database, "create perfetto table t as select * from nsys.StringIds; select count(*) from t") == "3");
  CHECK(one(*database, "select id from nsys.StringIds where value = 'poll' or id = 2 order by 1 limit 1") == "2");
  CHECK(says(database->tables_text(), "nsys.CUPTI_ACTIVITY_KIND_RUNTIME"));
  CHECK(says(database->schema_text("nsys.StringIds"), "value                    text"));
  CHECK(one(*database, "select count(*) from slice nsys where nsys.dur > 0") == "4000");  // a name of the statement's own
}

TEST_CASE("tables of an export are joined row by row, not each row with each") {
  const Export file;
  const auto database = file.open();
  // Each with each would be 4e6 rows three times over; the longest of these joins looks up 2,000 rows.
  CHECK(one(*database,
            "select count(*) || ' ' || sum(k.start - r.end) from nsys.CUPTI_ACTIVITY_KIND_KERNEL k join "
            "nsys.CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId join nsys.StringIds s on s.id = r.nameId "
            "where s.value like 'cuda%'") == "2000 2000000");
  CHECK(one(*database, "select group_concat(start) from nsys.CUPTI_ACTIVITY_KIND_KERNEL where correlationId = 5.0") == "50000");
  CHECK(one(*database, "select count(*) from nsys.CUPTI_ACTIVITY_KIND_KERNEL where correlationId = 5.5") == "0");
  CHECK(one(*database, "select count(*) from nsys.CUPTI_ACTIVITY_KIND_KERNEL where correlationId = '5'") == "1");
  CHECK(one(*database, "select count(*) from nsys.CUPTI_ACTIVITY_KIND_KERNEL where correlationId = null") == "0");
}

TEST_CASE("what is no table of the export is said") {
  const Export file("CREATE VIEW seen AS SELECT * FROM StringIds;");
  const auto database = file.open();
  CHECK(one(*database, "select 1 from nsys.NVTX_EVENTS") ==
        "nsys.NVTX_EVENTS is not in this export of Nsight Systems; .tables lists what is. (line 1, column 15)");
  CHECK(says(one(*database, "select * from nsys.seen"), "is not in this export"));
  CHECK(says(one(*database, "select * from nsys.slice"), "is not in this export"));
  for (const char* query :
       {"select * from slice, nsys.nothing", "select * from slice, nsys.kernel", "select 1, nsys.\"kernel\"",
        "select nsys.ts from slice nsys, nsys.kernel", "select * from (NSYS.nothing)"}) {
    INFO(std::string(query));
    CHECK(says(one(*database, query), "is not in this export of Nsight Systems; .tables lists what is. (line 1, column"));
  }
  CHECK(one(*database, "select count(*) from main.slice, other.slice") ==
        "no such table: other.slice: did you mean slice? (line 1, column 1)");
  const auto other = database_of(recording("linear_compile"));
  CHECK(one(*other, "select * from nsys.StringIds") ==
        "nsys.StringIds: only exports of Nsight Systems have such tables; PyTorch profiler wrote this trace. (line 1, column "
        "15)");
  CHECK(!says(other->tables_text(), "nsys"));
  for (const char* query : {"insert into nsys.StringIds values (9, 'x')", "drop table nsys.StringIds", "create table nsys.t(x)",
                            "delete from nsys.StringIds", "attach ':memory:' as other", "detach nsys",
                            "create virtual table nsys.t using fts5(x)"}) {
    INFO(std::string(query));
    CHECK(!ask(*database, query).error.empty());
  }
  CHECK(one(*database, "select count(*) from nsys.StringIds") == "3");
}

TEST_CASE("a name without a schema is never a table of the export") {
  const Export file("CREATE TABLE slice (x INT); INSERT INTO slice VALUES (77);");
  const auto database = file.open();
  constexpr const char* kUnknown = "no such table: StringIds: did you mean nsys.StringIds?";
  CHECK(says(one(*database, "select count(*) from StringIds"), kUnknown));
  CHECK(one(*database, "select (select x from nsys.slice) || ' ' || count(*) from slice") == "77 4000");
  CHECK(one(*database, "select count(*) from nsys.StringIds") == "3");
  for (const char* query :
       {"select count(*) from StringIds", "select value from stringids where id = 1",
        "select * from (select id from StringIds)", "with s as (select id from StringIds) select * from s"}) {
    INFO(std::string(query));
    CHECK(says(one(*database, query), "did you mean nsys.StringIds?"));
  }
  CHECK(one(*database, "select count(*) from slice") == "4000");
  CHECK(one(*database, "select count(*) from main.slice") == "4000");
  // What a script calls so comes first; a view keeps what it was made with.
  CHECK(one(*database, "create perfetto table StringIds as select 5 as id; select id from StringIds") == "5");
  CHECK(one(*database, "select count(*) from nsys.StringIds") == "3");
  CHECK(one(*database, "create perfetto view v as select x from nsys.slice; select x from v") == "77");
  CHECK(one(*database, "select x from v") == "77");
  // A statement that fails while it makes a table has SQLite forget what it knew of all tables.
  CHECK(!ask(*database, "create perfetto table w as select abs(-9223372036854775808) from nsys.slice").error.empty());
  CHECK(one(*database, "select x from nsys.slice") == "77");
  CHECK(one(*database, "select count(*) from slice") == "4000");
  CHECK(one(*database, "select count(*) from kernel") == "2000");
}

TEST_CASE("answers of a server have no environment variables of an export") {
  const Export file(
      "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT); INSERT INTO META_DATA_CAPTURE VALUES "
      "('PROCESS_0:ENVIRONMENT_VARIABLE', 'TOKEN=\"secret\"');");
  CHECK(one(*file.open(), "select value from nsys.META_DATA_CAPTURE") == "TOKEN=\"secret\"");
  sql::Options options;
  options.hides_environment = true;
  const auto database = file.open(options);
  for (const char* query : {"select * from nsys.META_DATA_CAPTURE", "select value from \"NSYS\" . [meta_data_capture]",
                            "select count(*) from slice nsys, nsys.META_DATA_CAPTURE", "select * from META_DATA_CAPTURE",
                            "create perfetto view v as select * from nsys.META_DATA_CAPTURE",
                            "create perfetto view w as select * from META_DATA_CAPTURE; select * from w",
                            "select nsys.META_DATA_CAPTURE.value from nsys.`META_DATA_CAPTURE`"}) {
    INFO(std::string(query));
    const Answer answer = ask(*database, query);
    CHECK(!answer.error.empty());
    CHECK(answer.rows.empty());
  }
  CHECK(one(*database, "select 1 from nsys.META_DATA_CAPTURE") ==
        "nsys.META_DATA_CAPTURE holds the recorded program's environment variables. Answers of mcp and serve leave it out, "
        "gapscope sql shows it. (line 1, column 15)");
  CHECK(one(*database, "select count(*) from nsys.StringIds") == "3");
}

TEST_CASE("values of an export are given as they are, wrong types too") {
  const Export file(R"(
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 'seven' WHERE correlationId = 1;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = x'00ff' WHERE correlationId = 2;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 1e300 WHERE correlationId = 3;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = NULL WHERE correlationId = 4;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = '7 ' WHERE correlationId = 5;
ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN made INT AS (length(printf('%.*c', 1000000000, 'x')));
CREATE TABLE odd ("a ""b" INT, rowid TEXT, oid, _rowid_, "it's; drop" BLOB);
INSERT INTO odd VALUES (1, 'r', 2, 3, x'41');
CREATE TABLE keyed (k TEXT PRIMARY KEY, v INT) WITHOUT ROWID;
INSERT INTO keyed VALUES ('b', 2), ('a', 1);
CREATE TABLE "slice" (x INT);
INSERT INTO "slice" VALUES (77);
CREATE VIRTUAL TABLE words USING fts5(text);
)");
  const auto database = file.open();
  CHECK(rows(*database, "select typeof(streamId), quote(streamId) from nsys.CUPTI_ACTIVITY_KIND_KERNEL limit 5") ==
        "text|'seven'\nblob|X'00FF'\nreal|1.0e+300\nnull|NULL\ninteger|7");  // as a column of numbers takes '7 '
  CHECK(one(*database, "select count(*) from nsys.CUPTI_ACTIVITY_KIND_KERNEL where streamId = 7") == "1996");
  CHECK(one(*database, "select count(*) from nsys.CUPTI_ACTIVITY_KIND_KERNEL where streamId = 'seven'") == "1");
  CHECK(says(one(*database, "select made from nsys.CUPTI_ACTIVITY_KIND_KERNEL"), "no such column: made"));
  CHECK(rows(*database, "select * from nsys.odd") == "1|r|2|3|A");
  CHECK(one(*database, "select \"it's; drop\" from nsys.odd where \"a \"\"b\" = 1") == "A");
  CHECK(rows(*database, "select * from nsys.keyed where v > 0 and (v = 1 or k = 'b')") == "a|1\nb|2");
  CHECK(one(*database, "select x from nsys.slice") == "77");
  CHECK(one(*database, "select count(*) from slice") == "4000");
  CHECK(says(one(*database, "select * from nsys.words"), "is not in this export"));
}

TEST_CASE("huge rows of an export end in a sentence") {
  const Export file("CREATE TABLE huge (a TEXT, b INT); INSERT INTO huge VALUES ('x', 1), (printf('%.*c', 20000000, 'y'), 2);");
  const auto database = file.open();
  CHECK(one(*database, "select a from nsys.huge where b = 1") == "x");
  CHECK(says(one(*database, "select sum(length(a)) from nsys.huge"), "has a row of more than 16.8 MB in its table huge."));
  CHECK(one(*database, "select count(*) from nsys.StringIds") == "3");
}

TEST_CASE("an export that is changed or gone is said to be") {
  const Export file;
  const auto database = file.open();
  std::filesystem::remove(file.path);
  CHECK(says(one(*database, "select * from nsys.StringIds"), "was not found"));
  file.folder.write("small.sqlite", "{\"traceEvents\": []}");
  CHECK(one(*database, "select * from nsys.StringIds") ==
        file.path + " has changed since it was opened. Reload it. (line 1, column 15)");
}

TEST_CASE("a damaged table of an export ends in rows or a sentence") {
  const Export file;
  std::string whole;
  {
    std::FILE* in = std::fopen(file.path.c_str(), "rb");
    char piece[65536];
    for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, in)) > 0;) whole.append(piece, got);
    std::fclose(in);
  }
  const auto database = file.open();
  std::mt19937 random(60);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::size_t read = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    for (std::size_t i = 0, n = 1 + below(8); i < n; ++i) {
      const std::size_t pages = bytes.size() / 512, at = below(4) == 0 ? below(2048) : below(bytes.size());
      if (below(3) == 0)
        bytes.replace(below(pages) * 512, 512, bytes.substr(below(pages) * 512, 512));
      else
        bytes[at] = static_cast<char>(below(256));
    }
    file.folder.write("small.sqlite", bytes);
    const sql::Options limited{{}, std::chrono::seconds(5)};
    const auto trace = load_trace(file.path, {});
    sql::Database damaged(trace ? *trace : database->world().session().owner(), limited);
    const Answer all = ask(damaged, "select * from nsys.CUPTI_ACTIVITY_KIND_KERNEL");
    const Answer joined = ask(damaged,
                              "select count(*) from nsys.CUPTI_ACTIVITY_KIND_KERNEL k join "
                              "nsys.CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId");
    read += all.error.empty() ? 1 : 0;
    CHECK((all.error.empty() || says(all.error, ".")));
    CHECK(!says(joined.error, "time limit"));
  }
  CHECK(read > 40);
}
