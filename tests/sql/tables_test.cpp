// What the tables say of small traces, where it can be counted by hand.
#include <cstring>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "core/sql/world.h"
#include "tests/sql/rows.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// An operator with two calls in it, a kernel, an instant of the thread, one of no thread, a counter; the file is not in order.
constexpr std::string_view kTrace = R"({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100.5, "dur": 2, "args": {"correlation": 5, "External id": 1, "stream": 7, "device": 0, "grid": [4, 2, 1], "block": [64, 1, 1], "shared memory": 0, "registers per thread": 9, "note": null, "list": [[1, null, 2], [], ["x"]], "on": true}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 42, "tid": 1, "ts": 12, "dur": 3, "args": {"correlation": 5}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 42, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 1, "Sequence number": 0}},
{"ph": "X", "cat": "python_function", "name": "same begin, longer", "pid": 42, "tid": 1, "ts": 10, "dur": 30},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 42, "tid": 1, "ts": 20, "dur": 1, "args": {}},
{"ph": "i", "s": "t", "name": "here", "pid": 42, "tid": 1, "ts": 13, "args": {"a": 1.5}},
{"ph": "i", "s": "g", "name": "everywhere", "pid": "", "tid": "", "ts": 500},
{"ph": "C", "name": "load", "pid": 42, "tid": 1, "ts": 11, "args": {"percent": 50}},
{"ph": "s", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": 42, "tid": 1, "ts": 12},
{"ph": "f", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 100.5, "bp": "e"},
{"ph": "M", "name": "thread_name", "pid": 42, "tid": 1, "args": {"name": "main"}},
{"ph": "X", "cat": "Trace", "name": "", "pid": "Spans", "tid": "Profiler", "ts": 5, "dur": 1}
]})";

struct Small {
  TempFolder folder;
  std::unique_ptr<sql::Database> database;
  Small() {
    const auto path = folder.path() / "small.json";
    std::ofstream(path, std::ios::binary) << kTrace;
    database = database_of(path);
  }
  std::string operator()(std::string_view query) { return rows(*database, query); }
};

}  // namespace

TEST_CASE("a slice that never ended has a duration of -1, and one that ended with the trace its own") {
  const auto database = database_of_text(R"({"traceEvents": [
{"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 1}, {"ph": "X", "name": "inner", "pid": 1, "tid": 1, "ts": 2, "dur": 3},
{"ph": "B", "name": "closed", "pid": 1, "tid": 2, "ts": 4}, {"ph": "E", "pid": 1, "tid": 2, "ts": 10},
{"ph": "b", "name": "async", "cat": "c", "id": 7, "pid": 1, "ts": 5}]})");
  CHECK(rows(*database, "select name, ts, dur, depth from slice") ==
        "open|1000|-1|0\ninner|2000|3000|1\nclosed|4000|6000|0\nasync|5000|-1|0");
  CHECK(rows(*database, "select name from slice where dur = -1 order by id") == "open\nasync");
  CHECK(one(*database, "select trace_dur()") == "9000");
}

// Looking at every depth for each would take minutes.
TEST_CASE("a hundred thousand slices that overlap have the parent that encloses them all, and so have instants") {
  constexpr int kStairs = 100'000;
  std::string text = R"({"traceEvents": [{"ph": "X", "name": "outer", "pid": 1, "tid": 1, "ts": 0, "dur": 300000})";
  for (int i = 1; i <= kStairs; ++i)
    text +=
        fmt::format(",\n{{\"ph\": \"X\", \"name\": \"stair\", \"pid\": 1, \"tid\": 1, \"ts\": {}, \"dur\": {}}}", i, kStairs);
  for (int i = 1; i <= kStairs; ++i)
    text += fmt::format(",\n{{\"ph\": \"i\", \"s\": \"t\", \"name\": \"now\", \"pid\": 1, \"tid\": 1, \"ts\": {}}}",
                        2 * kStairs + 1 + i / 2);
  const auto database = database_of_text(text + "]}");
  CHECK(rows(*database, "select name, depth, parent_id, count(*) from slice group by name, depth, parent_id") ==
        "now|1|0|100000\nouter|0|NULL|1\nstair|1|0|100000");
}

TEST_CASE("slices are numbered by begin, the longer first, instants among them") {
  Small ask_for;
  CHECK(ask_for("select id, ts, dur, depth, parent_id, name from slice") ==
        "0|5000|1000|0|NULL|[No name]\n"
        "1|10000|30000|0|NULL|same begin, longer\n"
        "2|10000|20000|1|1|aten::mm\n"
        "3|12000|3000|2|2|cudaLaunchKernel\n"
        "4|13000|0|3|3|here\n"
        "5|20000|1000|2|2|cudaFree\n"
        "6|100500|2000|0|NULL|k\n"
        "7|500000|0|0|NULL|everywhere");
  CHECK(ask_for("select start_ts, end_ts, trace_start(), trace_end(), trace_dur() from trace_bounds") ==
        "5000|500000|5000|500000|495000");
  CHECK(ask_for("select id, ts, name, category from instant") == "4|13000|here|NULL\n7|500000|everywhere|NULL");
  CHECK(ask_for("select count(category), count(*) from slice") == "6|8");
}

TEST_CASE("tracks, threads and processes are numbered by first appearance; words are names, not numbers") {
  Small ask_for;
  CHECK(ask_for("select utid, tid, thread.name, upid, pid, process.name from thread join process using (upid)") ==
        "1|NULL|Profiler|1|NULL|Spans\n2|1|main|2|42|NULL\n3|7|NULL|3|0|NULL");
  CHECK(ask_for("select distinct track_id, utid from slice left join thread_track on track_id = thread_track.id order by 1") ==
        "0|1\n1|2\n3|3\n4|NULL");
  CHECK(ask_for("select id, type, name from track") ==
        "0|thread_execution|NULL\n1|thread_execution|NULL\n2|counter|load "
        "percent\n3|thread_execution|NULL\n4|global_instants|NULL");
  CHECK(ask_for("select ts, value, name from counter join counter_track on track_id = counter_track.id") ==
        "11000|50.000000|load percent");
}

TEST_CASE("args are flattened as Perfetto does, and NULL where an event has none") {
  Small ask_for;
  CHECK(
      ask_for("select key, value_type, display_value from args where arg_set_id = 6 and key glob 'args.[a-z]*' order by key") ==
      "args.block[0]|int|64\nargs.block[1]|int|1\nargs.block[2]|int|1\nargs.correlation|int|5\nargs.device|int|0\n"
      "args.grid[0]|int|4\nargs.grid[1]|int|2\nargs.grid[2]|int|1\nargs.list[0][0]|int|1\nargs.list[0][1]|int|2\nargs.list[2]["
      "0]|string|x\n"
      "args.on|bool|true\nargs.registers per thread|int|9\nargs.shared memory|int|0\nargs.stream|int|7");
  CHECK(ask_for("select id, arg_set_id is null from slice where arg_set_id is null") == "0|1\n1|1\n5|1\n7|1");
  CHECK(ask_for("select extract_arg(arg_set_id, 'args.list[0][1]'), extract_arg(arg_set_id, 'args.list'), "
                "extract_arg(arg_set_id, 'args.on'), "
                "extract_arg(arg_set_id, 'args.grid[1]'), extract_arg(arg_set_id, 'args.bytes'), "
                "typeof(extract_arg(arg_set_id, 'args.shared memory')) "
                "from slice where name = 'k'") == "2|NULL|1|2|NULL|integer");
  CHECK(ask_for("select extract_arg(arg_set_id, 'args.a') from slice where name = 'here'") == "1.500000");
  CHECK(ask_for("select extract_arg(arg_set_id, 'args.Sequence number') from slice where name = 'aten::mm'") == "0");
  CHECK(ask_for("select count(*), count(distinct arg_set_id) from args") == "20|4");
  CHECK(ask_for("select arg_set_id, string_value from args where value_type = 'string'") == "6|x");
}

TEST_CASE("flows, ancestors and what can be reached") {
  Small ask_for;
  CHECK(ask_for("select id, slice_out, slice_in, category from flow") == "0|3|6|ac2g");
  CHECK(ask_for("select count(*) from flow where slice_in = 6") == "1");
  CHECK(ask_for("select count(*) from flow where slice_out = 6") == "0");
  CHECK(ask_for("select name from ancestor_slice(4)") == "same begin, longer\naten::mm\ncudaLaunchKernel");
  CHECK(ask_for("select name from descendant_slice(2)") == "cudaLaunchKernel\nhere\ncudaFree");
  CHECK(ask_for("select slice_in from following_flow(1)") == "6");  // from what is in it too
  CHECK(ask_for("select slice_in from directly_connected_flow(1)") == "");
  CHECK(ask_for("select slice_out from preceding_flow(6)") == "3");
  CHECK(ask_for("select slice_is_ancestor(1, 4), slice_is_ancestor(4, 1), slice_is_ancestor(1, 6), slice_is_ancestor(1, 99)") ==
        "1|0|0|NULL");
}

TEST_CASE("every plan gives the rows that a scan gives") {
  Small ask_for;
  for (const char* where : {"id = 2",
                            "id >= 3 and id < 5",
                            "id > 2.5",
                            "id <= 2.5",
                            "ts = 10000",
                            "ts > 10000",
                            "ts >= 10000.5",
                            "ts < 12000",
                            "ts between 12000 and 20000",
                            "name = 'k'",
                            "name in ('k', 'cudaFree')",
                            "name like '%CUDA%'",
                            "name glob 'cuda*'",
                            "name regexp '^(k|a)'",
                            "name = '[No name]'",
                            "category = 'cpu_op'",
                            "category is null",
                            "track_id = 1",
                            "track_id = 1 and ts > 12000",
                            "parent_id = 2",
                            "parent_id is null",
                            "arg_set_id = 3",
                            "id = 'x'",
                            "ts = null",
                            "name like null",
                            "category in ('kernel', 'cuda_runtime') and name like 'c%'",
                            "_args_correlation = 5",
                            "category = 'kernel' and _args_correlation = 5",
                            "_args_external_id = 1",
                            "track_id = 1 and name = 'aten::mm' and id = 2"}) {
    // A sign of + keeps a column from being looked up by.
    std::string slow = where;
    for (const char* column :
         {"arg_set_id", "track_id", "parent_id", "category", "name", "ts", "_args_correlation", "_args_external_id", "id"}) {
      std::string with;
      for (std::size_t at = 0; at < slow.size(); ++at) {
        const bool here = slow.compare(at, std::strlen(column), column) == 0 && (at == 0 || slow[at - 1] == ' ') &&
                          slow[at + std::strlen(column)] == ' ';
        if (here) with += '+';
        with += slow[at];
      }
      slow = with;
    }
    INFO(std::string(where));
    CHECK(slow != where);
    CHECK(ask_for(std::string("select id from slice where ") + where + " order by id") ==
          ask_for("select id from slice where " + slow + " order by id"));
  }
  CHECK(ask_for("select name, count(*) from slice group by name") ==
        ask_for("select +name, count(*) from slice group by +name"));
  CHECK(ask_for("select name from slice order by name") == ask_for("select +name from slice order by +name"));
  // Group by group, without a sort, in whichever order the rows are shown; "+" keeps the table from doing so.
  for (const std::string column : {"name", "category", "cat", "track_id"}) {
    CAPTURE(column);
    for (const std::string order : {"sum(dur) desc, 1", "1", "1 desc", "count(*), 1 desc"}) {
      CAPTURE(order);
      const auto grouped = [&](const std::string& by) {
        return ask_for("select " + column + ", count(*), sum(dur) from slice group by " + by + " order by " + order);
      };
      CHECK(grouped(column) == grouped("+" + column));
    }
    CHECK(ask_for("select distinct " + column + " from slice order by 1 desc") ==
          ask_for("select distinct +" + column + " from slice order by 1 desc"));
    if (column != "name")  // one slice has none
      CHECK(ask_for("explain query plan select " + column + ", count(*) from slice group by 1 order by sum(dur) desc")
                .find("USE TEMP B-TREE FOR GROUP BY") == std::string::npos);
  }
}

TEST_CASE("functions") {
  Small ask_for;
  CHECK(ask_for("select time_to_ms(1999999), time_from_us(3), time_to_s(null)") == "1|3000|NULL");
  CHECK(
      ask_for(
          "select regexp('a+', 'baab'), 'xyz' regexp '^y', regexp('A', 'a', 'i'), regexp_extract('sm90_tile', 'sm([0-9]+)')") ==
      "1|0|1|90");
  CHECK(ask_for("select str_split('a::b::c', '::', 1), str_split('a', ':', 3), regexp_replace_simple('a1b2', '[0-9]', '#'), "
                "reverse('abc')") == "b|NULL|a#b#|cba");
  CHECK(ask_for("select percentile(x, 50), percentile(x, 100), median(x) from (select 1 as x union all select 2 union all "
                "select 4 union all select 5)") == "3.000000|5.000000|3.000000");
  CHECK(ask_for("select median(null), percentile(x, 90) from (select -7 as x)") == "NULL|-7.000000");
  CHECK(ask_for("select 'a' regexp '('").find("is not a regular expression") != std::string::npos);
}

TEST_CASE("what a median holds counts towards SQLite's limit of memory") {
  Small ask_for;
  const sqlite3_int64 limit = sqlite3_hard_heap_limit64(sqlite3_memory_used() + (8 << 20));
  const std::string said =
      ask_for("with recursive t(x) as (select 1 union all select x + 1 from t where x < 2000000) select median(x) from t");
  sqlite3_hard_heap_limit64(limit);
  CHECK(said.find("Not enough memory for this query") != std::string::npos);
  CHECK(ask_for("select median(1)") == "1.000000");
}

TEST_CASE("Perfetto's statements are put into SQLite's words, or a sentence says what to write") {
  Small ask_for;
  CHECK(ask_for("INCLUDE PERFETTO MODULE slices.with_context; select thread_name, tid, pid, name from thread_slice where depth "
                "= 2") == "main|1|42|cudaLaunchKernel\nmain|1|42|cudaFree");
  CHECK(ask_for("CREATE PERFETTO TABLE long AS SELECT id, dur FROM slice WHERE dur > 10000; select count(*) from long") == "2");
  CHECK(ask_for("CREATE OR REPLACE PERFETTO TABLE long AS SELECT id FROM slice; select count(*) from long") == "8");
  CHECK(
      ask_for("CREATE PERFETTO VIEW v(id LONG, d LONG) AS SELECT id, dur as d FROM slice; select max(d) from v; drop view v") ==
      "30000");
  CHECK(ask_for("CREATE PERFETTO FUNCTION f(x INT) RETURNS INT AS SELECT 1").find("has no translation") != std::string::npos);
  CHECK(ask_for("INCLUDE PERFETTO MODULE android.startup.startups").find("There is no module") != std::string::npos);
}

TEST_CASE("a query reads the file once, however many args it asks for that no column has") {
  const auto database = database_of(recording("transformer_baseline"));
  sql::ArgStore& args = database->world().args();
  const auto passes_of = [&](std::string_view query) {
    const std::size_t before = args.passes();
    CHECK(ask(*database, query).error.empty());
    return args.passes() - before;
  };
  CHECK(passes_of("select name, dur, extract_arg(arg_set_id, 'args.correlation') from slice where category = 'kernel'") == 0);
  CHECK(passes_of("select extract_arg(arg_set_id, 'args.Ev Idx'), extract_arg(arg_set_id, 'args.Python id') from slice") == 1);
  CHECK(passes_of("select count(arg_set_id) from slice") == 0);  // known since
  CHECK(passes_of(
            "select count(*) from slice s join args a on a.arg_set_id = s.arg_set_id and a.key = 'args.Python module id'") <=
        1);
  CHECK(passes_of("select max(extract_arg(arg_set_id, 'args.Ev Idx')) from slice where name glob 'aten::*'") == 1);
  CHECK(one(*database, "select count(extract_arg(arg_set_id, 'args.Ev Idx')) from slice") ==
        one(*database, "select count(*) from args where key = 'args.Ev Idx'"));
  CHECK(one(*database,
            "select group_concat(v) from (select distinct extract_arg(arg_set_id, 'args.Input type[0]') v from slice "
            "where v is not null order by 1 limit 3)") ==
        one(*database,
            "select group_concat(v) from (select distinct display_value v from args where key = 'args.Input type[0]' "
            "order by 1 limit 3)"));
}
