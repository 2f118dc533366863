#include "app/serve/pages.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gapscope;

namespace {

const std::string kHostile = "a\"><script>alert(1)</script>\n\x1b[31m\xff\xe2\x80\xae&.json";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

void check_harmless(const std::string& html) {
  CHECK(count(html, "<script") == count(html, "<script src=\"/list.js\" defer></script>\n"));
  CHECK(count(html, "\x1b") == 0);
  CHECK(count(html, "\xe2\x80\xae") == 0);
  CHECK(count(html, "</body>") == 1);
}

}  // namespace

TEST_CASE("names of files are text and addresses, and nothing else") {
  const ListedRow row{{kHostile, false, 1234, 0}, ItemSummary{kHostile, 3, kHostile, false}};
  const std::string list = list_page("/" + kHostile, {row}, false, true);
  check_harmless(list);
  CHECK(count(list, "href=\"/view/a%22%3E%3Cscript%3Ealert%281%29%3C/script%3E%0A%1B%5B31m%FF%E2%80%AE%26.json\"") == 1);
  CHECK(count(list, "value=\"a%22%3E") == 1);
  check_harmless(ranks_page(kHostile, "<p>Rank 1</p>\n", {kHostile}, true));
  for (const TableKind& kind : kTableKinds) check_harmless(table_page(kind, "<p>rows</p>\n", kHostile));
  check_harmless(recording_page("<html><head></head>\n<body>\n<h1>x</h1></body>", kHostile, true));
  check_harmless(notice_page(kHostile, kHostile));
  check_harmless(entrance_page("/" + kHostile));
}

TEST_CASE("a row says what is known of its recording") {
  const std::string reading = list_page("/runs", {ListedRow{{"a.json", false, 1234, 0}, {}}}, false, false);
  CHECK(count(reading, "being read") == 1);
  CHECK(count(reading, "1.23 kB") == 1);
  const std::string read = list_page(
      "/runs", {ListedRow{{"a.json", false, 1234, 0}, ItemSummary{"H200", 3, "Host-bound", false, 42'700'000, 0.789}}}, false,
      false);
  CHECK(count(read, "data-v=\"42700000\">42.7 ms<") == 1);
  CHECK(count(read, "width:78.9%\"></i></span>78.9 %<") == 1);
  CHECK(count(read, "being read") == 0);
  CHECK(count(read, ">H200<") == 1);
  CHECK(count(read, ">3<") == 1);
  CHECK(count(read, "class=\"verdict\">Host-bound<") == 1);
  CHECK(count(read, "type=\"checkbox\"") == 1);
  const std::string failed =
      list_page("/runs", {ListedRow{{"a.json", false, 0, 0}, ItemSummary{{}, {}, "No JSON.", true}}}, false, false);
  CHECK(count(failed, "class=\"verdict bad\">No JSON.<") == 1);
}

TEST_CASE("a command's answer is a table whose names are text, whatever they are") {
  const std::string name = "a\\\"><script>alert(1)</script>\\u001b[31m{}%s";
  const std::string kernels = R"([{"name": ")" + name + R"(", "kind": "gemm", "count": 6, "total_ns": 59137, "share": 0.5141,
    "mean_ns": 9856.2, "median_ns": 9840, "max_ns": 9953, "operators": [{"name": ")" +
                              name + R"("}], "python": null}, 7, null])";
  const Result<std::string> html = table_html(*table_kind("kernels"), kernels);
  REQUIRE(html.ok());
  check_harmless(*html + "</body>");
  CHECK(count(*html, "a&quot;&gt;&lt;script&gt;") == 2);
  CHECK(count(*html, "data-v=\"59137\">59.1 \xC2\xB5s<") == 1);
  CHECK(count(*html, "style=\"width:51.4%\"></i></span>51.4 %<") == 1);
  CHECK(count(*html, "<tr><td") == 3);
  CHECK_FALSE(table_html(*table_kind("steps"), "no JSON").ok());
  for (const TableKind& kind : kTableKinds)  // what is no answer of the tool has no rows
    for (const char* odd :
         {"{}", "[]", "3", "\"x\"", "null", R"({"steps": 3, "findings": {"a": []}, "rows": [[1], {}], "modules": [null]})"})
      CHECK_MESSAGE(table_html(kind, odd).ok(), kind.name);
  CHECK(table_kind("") == nullptr);
}

TEST_CASE("findings stand in the order of the plan, with their places in the program") {
  const Result<std::string> html = table_html(*table_kind("findings"), R"({"verdict": "Host-bound", "findings": [
    {"rule": "a", "title": "First as it comes", "cost_ns": 9, "where": null},
    {"rule": "b", "title": "First to do", "cost_ns": 0, "where": {"file": "/x/train.py", "line": 54, "function": "<i>", "module": "Linear_0"}}],
    "plan": {"items": [{"rule": "b"}]}})");
  REQUIRE(html.ok());
  CHECK(html->find("First to do") < html->find("First as it comes"));
  CHECK(count(*html, ">&lt;i&gt; (train.py:54), in Linear_0<") == 1);
  CHECK(count(*html, ">0 ns<") == 0);
}

TEST_CASE("the account of a recording is a table with shares, its gaps with what the host was in") {
  const Result<std::string> html =
      table_html(*table_kind("why"), R"({"devices": [{"device": 0, "window": [100, 1100], "compute": 250,
    "exposed_copies": 0, "idle": {"data_loading": 500, "starting": 9}, "longest": [{"begin_ns": 10, "end_ns": 410, "ended_by": "<k>", "host":
    [{"cause": "python", "ns": 300, "name": "<h>", "python": "train.py(7): f"}]}],
    "steps": [{"step": "<s>", "window": [0, 200], "compute": 50, "idle": {"python": 70, "operator": 30}}]}], "trust": "<t>"})");
  REQUIRE(html.ok());
  for (const char* part :
       {"25.0 %</td></tr>", "<bdi>idle: data loading</bdi>", "<bdi>idle: launch latency</bdi>", "50.0 %</td></tr>", ">400 ns<",
        ">Python<", ">300 ns &lt;h&gt; in train.py(7): f<", "<bdi>&lt;k&gt;</bdi>", "<bdi>&lt;s&gt;</bdi>"})
    CHECK_MESSAGE(count(*html, part) > 0, part);
  CHECK(count(*html, "exposed copies") == 0);
}

TEST_CASE("what-ifs are a table of the plan and one of each remedy") {
  const Result<std::string> html =
      table_html(*table_kind("whatif"), R"({"plan": {"before_ns": 400, "steps": 4, "step_before_ns": 100,
    "items": [{"title": "<p>", "saved_ns": 120, "step_after_ns": 70, "kind": "about", "code": "x = <c>", "where": {"file": "/x/a.py", "line": 3}}]},
    "plain": {"step_ns": 100}, "findings": [{"title": "<f>", "gain": {"per_step_ns": 40, "share": 0.4, "step_after_ns": 60, "kind": "up to"}}]})");
  REQUIRE(html.ok());
  for (const char* part :
       {"A step takes 100 ns without the profiler.", "<bdi>&lt;p&gt;</bdi>", ">x = &lt;c&gt;<", ">a.py:3<", ">30 ns<",
        ">70 ns<", ">about<", "<bdi>&lt;f&gt;</bdi>", ">40 ns<", "40.0 %</td>", ">60 ns<", ">up to<"})
    CHECK_MESSAGE(count(*html, part) == 1, part);
}

TEST_CASE("the profiler's table and the roofline are tables") {
  const Result<std::string> table =
      table_html(*table_kind("table"),
                 R"([{"name": "aten::<mm>", "device": "CPU", "count": 6, "self_cpu_ns": 7000, "cuda_avg_ns": 1166.7}])");
  REQUIRE(table.ok());
  for (const char* part : {"<bdi>aten::&lt;mm&gt;</bdi>", ">CPU<", ">6<", "data-v=\"7000\"", "data-v=\"1166.7\""})
    CHECK_MESSAGE(count(*table, part) == 1, part);
  const Result<std::string> roofline = table_html(*table_kind("roofline"), R"({"coverage": 0.75, "rows": [{"operator": "<mm>",
    "input_dims": [[4, 4], []], "count": 2, "kernel_ns": 900, "floor_ns": 450.2, "reached": 0.5, "headroom_ns": 450, "bound": "memory",
    "flops": 1.25e9, "bytes": 2048}]})");
  REQUIRE(roofline.ok());
  for (const char* part :
       {"Counted: 75.0 % of", "<bdi>&lt;mm&gt;</bdi>", ">[[4,4],[]]<", "50.0 %</td>", ">memory<", ">2.05 kB<"})
    CHECK_MESSAGE(count(*roofline, part) == 1, part);
}

TEST_CASE("ranks are tables") {
  const Result<std::string> html =
      ranks_html(R"({"sentence": "Rank 0 is late <b>.", "ranks": [{"rank": 1, "file": "<i>", "times_last": 2,
    "total_wait_ns": 3000000, "offset_ns": 5, "account": {"window_ns": 1000, "compute": 250, "waiting_for": {"0": 400, "2": 50},
    "unsplit": 50, "idle": {"python": 100}}}], "late": [{"step": "<s>", "rank": 0, "lost_ns": 1000, "doing": [{"name": "<d>", "ns": 7}]}],
    "collectives": [{"name": "allreduce", "bus_gb_per_s": 159.2}], "findings": [{"text": "<f>"}], "problems": ["<p>"]})");
  REQUIRE(html.ok());
  for (const char* part :
       {"class=\"lead\">Rank 0 is late &lt;b&gt;.", "25.0 %", "50.0 %", "10.0 %", "&lt;d&gt; 7 ns", ">159<", "&lt;p&gt;"})
    CHECK_MESSAGE(count(*html, part) == 1, part);
  for (const char* bad : {"<b>", "<s>", "<d>", "<f>"}) CHECK_MESSAGE(count(*html, bad) == 0, bad);
  CHECK(ranks_html("{}").ok());
}

TEST_CASE("a run of ranks has a page of its own and no tick") {
  const std::string list = list_page(
      "/runs", {ListedRow{{"ddp", true, 0, 0, std::vector<std::string>(8)}, {}}, ListedRow{{"", true, 0, 0, {"a", "b"}}, {}}},
      true, true);
  CHECK(count(list, "href=\"/ranks/ddp\"") == 1);
  CHECK(count(list, "href=\"/ranks/\"") == 1);
  CHECK(count(list, "8 traces of ranks") == 1);
  CHECK(count(list, "type=\"checkbox\"") == 0);
  CHECK(count(list, "There are more") == 1);
  CHECK(count(list_page("/runs", {}, false, false), "There is no recording") == 1);
}

TEST_CASE("where the window was built for browsers, recordings have a link that opens them in it") {
  const ListedRow one{{"runs/a b.json", false, 1234, 0}, {}}, ranks{{"ddp", true, 0, 0, {"ddp/0.json", "ddp/1.json"}}, {}};
  const std::string link = "href=\"/window/#file=/file/runs/a%2520b.json\"";
  CHECK(count(list_page("/runs", {one, ranks}, false, true), link) == 1);
  const std::string both = "href=\"/window/#file=/file/ddp/0.json&amp;file=/file/ddp/1.json\"";
  CHECK(count(list_page("/runs", {one, ranks}, false, true), both) == 1);
  CHECK(count(list_page("/runs", {one, ranks}, false, true), "/window/") == 2);
  CHECK(count(ranks_page("ddp", "Rank 1\n", {"ddp/0.json", "ddp/1.json"}, true), both) == 1);
  CHECK(count(list_page("/runs", {one, ranks}, false, false), "/window/") == 0);
  const std::string body = "<head></head>\n<body>\n<h1>x</h1>\n</body>";
  CHECK(count(recording_page(body, "runs/a b.json", true), link) == 1);
  CHECK(count(recording_page(body, "runs/a b.json", false), "/window/") == 0);
}

TEST_CASE("a recording's page has links to the rest, and what is no page of ours stays as it is") {
  const std::string page = recording_page("<head></head>\n<body>\n<h1>x</h1>\n</body>", "runs/a b.json", false);
  for (const char* link : {"/table/findings/runs/a%20b.json", "/table/gaps/runs/a%20b.json", "/table/table/runs/a%20b.json",
                           "/table/roofline/runs/a%20b.json", "/table/whatif/runs/a%20b.json", "/table/why/runs/a%20b.json",
                           "/api/screenshot?trace=runs/a%20b.json&amp;size=1600x900", "/file/runs/a%20b.json"})
    CHECK_MESSAGE(count(page, std::string("href=\"") + link + "\"") == 1, link);
  CHECK(recording_page("text", "a.json", true) == "text");
}
