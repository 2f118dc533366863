// The page and its HTML: nothing of a trace breaks out of it, and every tag is closed.
#include <algorithm>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/compiled/compile_use.h"
#include "core/view/document.h"
#include "core/view/overview/html.h"
#include "core/view/overview/overview_html.h"
#include "core/view/overview/timeline_svg.h"
#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// The first tag that is not closed in its place; empty where all are.
std::string unclosed(const std::string& html) {
  static const std::regex tag(R"(<(/?)([a-zA-Z0-9]+)[^>]*?(/?)>)");
  std::vector<std::string> open;
  for (std::sregex_iterator at(html.begin(), html.end(), tag), end; at != end; ++at) {
    const std::string name = (*at)[2];
    if (name == "meta" || (*at)[3].length() > 0) continue;
    if ((*at)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

OverviewPage overview_of(const Document& document) {
  document.diagnose();
  const std::vector<GpuOp> ops = gpu_ops(document.trace, document.links);
  const RunOverview overview = make_overview(document.session);
  return overview_page(document.trace, overview, *document.diagnosis(),
                       compile_use(document.trace, document.lanes, document.links, ops));
}

std::string page_of(const Document& document) {
  OverviewPage page = overview_of(document);
  HtmlReport report;
  report.title = page.file;
  report.lead = {page.verdict};
  report.sections = std::move(page.sections);
  report.pictures.push_back({"picture", timeline_svg(document.trace, document.lanes, document.trace.span)});
  return html_report(report);
}

}  // namespace

TEST_CASE("what a recording lacks is said once on its page") {
  bool lacks_any = false;
  for (const char* name : {"needless_sync", "transformer_baseline", "matmul_add_64_cold_eager"}) {
    CAPTURE(name);
    const Document document(load_once(recording(name)));
    std::vector<std::string> said;
    for (const PageSection& section : overview_of(document).sections)
      for (const std::string& note : section.notes) {
        CHECK_MESSAGE(std::find(said.begin(), said.end(), note) == said.end(), note);
        said.push_back(note);
      }
    for (const std::string& note : said) lacks_any |= note.find(" Add ") != note.npos;
  }
  CHECK(lacks_any);
}

TEST_CASE("in the picture of a timeline no label is wider than what it is on, whatever letters a browser has") {
  const Document document(load_once(recording("transformer_baseline")));
  document.diagnose();
  const std::string svg = timeline_svg(document.trace, document.lanes, document.trace.span);
  const std::regex box(
      R"x(<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"[^>]*/>(<svg x="([\d.]+)" y="(\d+)" width="([\d.]+)")?)x");
  std::size_t labels = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at) {
    const std::smatch& m = *at;
    if (!m[4].matched || m[5] == "0.0") continue;  // the next is the title of a lane
    ++labels;
    CHECK(m[2] == m[6]);
    CHECK(std::stod(m[5]) >= std::stod(m[1]));
    CHECK(std::stod(m[5]) + std::stod(m[7]) <= std::stod(m[1]) + std::stod(m[3]) + 0.11);  // of one decimal
  }
  CHECK(labels > 5);
  CHECK(svg.find("<title>ProfilerStep#3, ") != svg.npos);  // under the pointer
  // All other texts are the times of the axis and the lanes' titles, left of the plot.
  std::size_t texts = 0, titles = 0, ticks = 0;
  for (std::size_t at = svg.find("<text "); at != svg.npos; at = svg.find("<text ", at + 1)) ++texts;
  for (std::size_t at = svg.find("<svg x=\"0.0\""); at != svg.npos; at = svg.find("<svg x=\"0.0\"", at + 1)) ++titles;
  for (std::size_t at = svg.find(" y=\"12\""); at != svg.npos; at = svg.find(" y=\"12\"", at + 1)) ++ticks;
  CHECK(texts == labels + titles + ticks);
  CHECK(ticks == 6);
}

TEST_CASE("the page of a crop does not say what the profiler was asked for, nor that it is the whole recording") {
  const std::string inside = slice("ProfilerStep#1", "0", "900", "", "user_annotation") + "," + slice("aten::mm", "25", "9") +
                             "," + slice("gemm", "30", "20", ", \"args\": {\"device\": 0, \"stream\": 7}", "kernel", "7");
  const auto notes = [&](const std::string& header) {
    const Document document(load_text("{" + header + "\"traceEvents\": [" + inside + "]}"));
    std::string out;
    for (const PageSection& section : overview_of(document).sections) {
      for (const std::string& note : section.notes) out += note + "\n";
      for (const auto& line : section.lines) out += line.value + "\n";
    }
    return out;
  };
  const std::string crop =
      notes(R"("gapscopeCrop": {"from_ns": 20000, "to_ns": 60000, "of_begin_ns": 0, "of_end_ns": 900000}, )");
  CAPTURE(crop);
  CHECK(crop.find("This part has no complete step") != std::string::npos);
  CHECK(crop.find("set to record this") == std::string::npos);
  CHECK(crop.find("whole recording") == std::string::npos);
  CHECK(notes(R"("with_stack": 1, )").find("set to record this") != std::string::npos);
}

TEST_CASE("every heading of a page has something below it, and kernels of Inductor without their piece are reported") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Document& document = diagnosed_once(path).document;
    for (const PageSection& section : overview_of(document).sections) {
      CAPTURE(section.title);
      CHECK(section.lines.size() + section.bars.size() + section.table.rows.size() + section.notes.size() > 0);
    }
  }
  const Document alone(load_text(
      events(slice("triton_poi_fused_add_0", "1", "5", ", \"args\": {\"device\": 0, \"stream\": 7}", "kernel", "7"))));
  std::string notes;
  for (const PageSection& section : overview_of(alone).sections)
    if (section.key == "compile") notes = section.notes.empty() ? "" : section.notes.front();
  CHECK(notes.starts_with("1 run of 1 kernel that Inductor made: 5.00 "));
}

TEST_CASE("text of a trace cannot become markup") {
  CHECK(html_text("<script>alert('x')&\"</script>") == "&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;&lt;/script&gt;");
  CHECK(html_text("\x1b[31m").find('\x1b') == std::string::npos);
  const std::string name = "</title><script>alert(1)</script>\\\" onload=\\\"x";
  const std::string args = ", \"args\": {\"correlation\": 5, \"device\": 0, \"stream\": 7}";
  const Document document(
      load_text(events(slice(name, "1", "900") + "," + slice("cudaLaunchKernel", "5", "1", args, "cuda_runtime") + "," +
                       slice(name, "20", "800", args, "kernel", "7"))));
  const std::string html = page_of(document);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find("onload=\"") == std::string::npos);
  CHECK(unclosed(html) == "");
}

TEST_CASE("notes stand on the page between its verdict and all else") {
  const auto document = document_from_text(kOneLaunch);
  const std::string html = overview_html(*document, {{{120'000, 130'000}, "look here", 0}});
  const std::size_t note = html.find("look here");
  REQUIRE(note != std::string::npos);
  CHECK(note > html.find("class=\"lead\""));
  CHECK(note < html.find("id=\"account\""));
  CHECK(note < html.find("<svg"));
  CHECK(unclosed(html) == "");
  CHECK(overview_html(*document, {}).find("id=\"notes\"") == std::string::npos);
}

TEST_CASE("a recording in the page, and its name, cannot become markup") {
  const auto count = [](const std::string& html, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = html.find(what); at != std::string::npos; at = html.find(what, at + 1)) ++n;
    return n;
  };
  HtmlReport report;
  report.recording = {.name = "\"></script><img src=x onerror=alert(1)>.json.gz",
                      .packed = "</script><script>alert(1)</script>",
                      .about = "All <b>of</b> it",
                      .viewer = "javascript:\"><script>"};
  const std::string html = html_report(report);
  CHECK(unclosed(html) == "");
  CHECK(count(html, "<script") == 2);  // what holds it, and what opens it
  CHECK(count(html, "</script") == 2);
  CHECK(count(html, "<img") == 0);
  CHECK(count(html, "<b>") == 0);
  CHECK(count(html, ">PC9zY3JpcHQ+PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==</script>") == 1);
  CHECK(count(html, "data-viewer=\"javascript:&quot;&gt;&lt;script&gt;\"") == 1);
  CHECK(count(html_report(HtmlReport{}), "<script") == 0);
}

TEST_CASE("the page of every recording is whole, loads nothing and does not grow with the trace") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Document& document = diagnosed_once(path).document;
    const std::string html = page_of(document);
    CHECK(unclosed(html) == "");
    CHECK(html.find("http") == std::string::npos);
    CHECK(html.size() < 1'500'000);
    CHECK(html.find("nan") == std::string::npos);
  }
}

namespace {
std::string page_of_recording(const std::string& name) { return page_of(diagnosed_once(recording_or_none(name)).document); }
}  // namespace

TEST_CASE("figures that rest on a part of the kernels say so") {
  // half of its products were launched before the recording
  CHECK(page_of_recording("recorded_matmul_add_4096.json.gz").find("at least 314 TFLOP/s") != std::string::npos);
  const std::regex at_least("at least [0-9.]+ [A-Z]FLOP");
  CHECK_FALSE(std::regex_search(page_of_recording("recorded_gemm_counters.json.gz"), at_least));
  // its only kernel has more shared memory than Kineto asks about
  CHECK(page_of_recording("matmul_add_4096_warm_compile.json.gz").find("kernels of 100.0 % of the kernel time count as 0 %") !=
        std::string::npos);
  CHECK(page_of_recording("recorded_add_counters.json.gz").find("count as 0 %") == std::string::npos);
}

TEST_CASE("what the roofline counts says of how much of the GPU's work it is") {
  // without the capture of its graphs, only the copies before them have an operator
  CHECK(page_of_recording("mlp_geglu_reduce_overhead.json.gz").find("18.3 % of the time of all GPU work") != std::string::npos);
}

TEST_CASE("a recording of a start is to be recorded again, before anything else") {
  const std::string page = page_of_recording("cold_process_64.json.gz");
  CHECK(page.find("This start-up cost occurs once, not in every step.") != std::string::npos);
  CHECK(page.find("Expected gain") == std::string::npos);
}

TEST_CASE("where nothing shows why the GPU waited, the first line says what to record") {
  const auto first_line = [](const std::string& text) {
    const auto trace = load_text(text);
    const Diagnosed diagnosed(trace);
    return instead_of_findings(*trace, diagnosed.diagnosis);
  };
  const std::string kernel = R"("cat":"kernel","pid":0,"tid":7,"ts":100,"dur":50,"name":"gemm")";
  CHECK(first_line(fmt::format(R"({{"schemaVersion":1,"traceEvents":[{{"ph":"X",{}}}]}})", kernel)) ==
        "Record again, and add ProfilerActivity.CPU.");
  CHECK(first_line(fmt::format(R"({{"displayTimeUnit":"us","traceEvents":[{{"ph":"X",{}}}]}})", kernel)) ==
        "Record again, and add proton.scope around the host's parts, in a newer Proton.");
  // Operators and launches, and mostly nothing in between.
  std::string events;
  for (int i = 0; i < 6; ++i)
    events += fmt::format(
        R"({}{{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":{},"dur":9,"name":"aten::mm"}},)"
        R"({{"ph":"X","cat":"cuda_runtime","pid":1,"tid":1,"ts":{},"dur":5,"name":"cudaLaunchKernel","args":{{"correlation":{}}}}},)"
        R"({{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":{},"dur":50,"name":"gemm","args":{{"device":0,"stream":7,"correlation":{}}}}})",
        i > 0 ? "," : "", 1000 * i, 1000 * i + 2, i + 1, 1000 * i + 10, i + 1);
  CHECK(first_line(fmt::format(R"({{"schemaVersion":1,"traceEvents":[{}]}})", events)) ==
        "Record again, and add with_stack=True.");
}

TEST_CASE("figures of another time than the account's window say of which") {
  const std::string note =
      "Utilization, SM efficiency and occupancy are of 22.6 ms, the steps as the TensorBoard plugin bounds";
  CHECK(page_of_recording("pp_rank1.json.gz").find(note) != std::string::npos);
  CHECK(page_of_recording("recorded_gemm_counters.json.gz").find("SM efficiency and occupancy are of") == std::string::npos);
}

TEST_CASE("of a single step the page says its length, of several the median and the mean") {
  const auto steps = [](int count) {
    std::string events = "[";
    for (int i = 0; i < count; ++i) {
      const auto at = [&](int us) { return std::to_string(1000 * i + us); };
      events += std::string(i > 0 ? "," : "") + R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
                std::to_string(i) + R"(", "pid": 1, "tid": 1, "ts": )" + at(0) +
                R"(, "dur": 900}, {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": )" +
                at(100) + R"(, "dur": 10, "args": {"correlation": )" + std::to_string(i + 1) +
                R"(}}, {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": )" + at(200) +
                R"(, "dur": 300, "args": {"device": 0, "stream": 7, "correlation": )" + std::to_string(i + 1) + "}}";
    }
    const Document document(load_text(events + "]"));
    std::string lines;
    for (const PageSection& section : overview_of(document).sections)
      if (section.key == "steps")
        for (const PageLine& line : section.lines) lines += line.label + ": " + line.value + "\n";
    return lines;
  };
  CHECK(steps(1) == "steps: 1\nlength: 900 \u00B5s\n");
  CHECK(steps(3).starts_with("steps: 3\nmedian, mean: "));
}

TEST_CASE("the page of an AMD GPU speaks of compute units and matrix cores") {
  const auto said = [](const std::string& name, const std::string& launch) {
    const std::string args = ", \"args\": {\"correlation\": 1";
    const Document d(load_text(R"({"deviceProperties": [{"id": 0, "name": ")" + name +
                               R"(", "numSms": 304, "totalGlobalMem": 206000000000}], "traceEvents": [)" +
                               slice("aten::mm", "0", "50") + "," + slice(launch, "5", "5", args + "}", "cuda_runtime") + "," +
                               slice("gemm", "15", "20", args + ", \"device\": 0, \"stream\": 7}", "kernel", "70") + "]}"));
    std::string text;
    for (const PageSection& section : overview_of(d).sections)
      for (const PageLine& line : section.lines) text += line.label + ' ' + line.value + '\n';
    return text;
  };
  const std::string amd = said("AMD Instinct MI300X", "hipLaunchKernel");
  CHECK(amd.find("304 CUs") != std::string::npos);
  CHECK(amd.find("est. CU efficiency") != std::string::npos);
  CHECK(amd.find("in matrix-core kernels") != std::string::npos);
  CHECK(amd.find("SM") == std::string::npos);
  CHECK(said("NVIDIA H200", "cudaLaunchKernel").find("304 SMs") != std::string::npos);
}

TEST_CASE("rates read in steps of a thousand") {
  CHECK(rate_text(1.41e14) == "141 TFLOP/s");
  CHECK(rate_text(2.5e15) == "2.50 PFLOP/s");
  CHECK(rate_text(3e9) == "3.00 GFLOP/s");
}

TEST_CASE("the base of the utilization is what it is worked out of") {
  const auto line = [](const std::string& list) {
    const Document document(load_text(events(list)));
    for (const PageSection& section : overview_of(document).sections)
      if (section.key == "use") return section.lines.front().value;
    return std::string();
  };
  const std::string args = ", \"args\": {\"correlation\": 5, \"device\": 0, \"stream\": 7}";
  const std::string work =
      slice("cudaLaunchKernel", "5", "1", args, "cuda_runtime") + "," + slice("k", "500", "100", args, "kernel", "7");
  CHECK(line(slice("aten::mm", "0", "1000") + "," + work) == "10.0 %, kernels alone, of the whole recording");
  CHECK(line(slice("ProfilerStep#1", "0", "1000", "", "user_annotation") + "," +
             slice("ProfilerStep#2", "1000", "1000", "", "user_annotation") + "," + work)
            .ends_with("kernels alone, of the steps"));
}
