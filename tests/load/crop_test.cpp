#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "core/index/choose_crop.h"
#include "core/load/args.h"
#include "core/load/crop.h"
#include "core/load/load_trace.h"
#include "core/trace/crop_mark.h"
#include "tests/support/dump_trace.h"
#include "tests/support/gzip_text.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A slice as one would describe it, whatever its number.
using Described = std::tuple<std::string, std::string, Ns, Ns, std::string, std::string, std::uint64_t>;

Described describe(const Trace& t, SliceId s) {
  const Lane& lane = t.lane(s);
  return {t.processes[lane.process.index()].key,
          lane.key + (lane.is_async ? " async" : ""),
          t.begin(s),
          t.end(s),
          std::string(t.name(s)),
          std::string(t.category_name(s)),
          t.slices.external_id[s.index()]};
}

struct Contents {
  std::vector<Described> slices;
  std::vector<std::tuple<Described, Described, std::string>> flows;
  std::vector<std::tuple<Ns, std::string, std::string>> instants;
  std::vector<std::tuple<std::string, std::string, std::string, Ns, double>> counters;

  void sort() {
    std::sort(slices.begin(), slices.end());
    std::sort(flows.begin(), flows.end());
    std::sort(instants.begin(), instants.end());
    std::sort(counters.begin(), counters.end());
  }
};

// Times of the counter's events before a moment that the last value of one of its series comes from.
std::set<Ns> in_force(const Trace& t, const Counter& of, Ns begin) {
  std::set<Ns> times;
  for (const Counter& c : t.counters) {
    if (c.process != of.process || c.name != of.name) continue;
    std::optional<Ns> last;
    for (const CounterSample& v : c.samples)
      if (v.time <= begin) last = v.time;
    if (last) times.insert(*last);
  }
  return times;
}

// What of the trace is in `slices`, and in the window where it is no slice. Written without core/index and core/load/crop.
Contents contents(const Trace& t, const std::vector<bool>& slices, Span window) {
  Contents out;
  for (std::size_t s = 0; s < t.slice_count(); ++s)
    if (slices[s]) out.slices.push_back(describe(t, SliceId(s)));
  for (const Flow& f : t.flows)
    if (slices[f.from.index()] && slices[f.to.index()])
      out.flows.emplace_back(describe(t, f.from), describe(t, f.to), t.strings[f.category]);
  for (const Instant& i : t.instants) {
    if (i.time < window.begin || i.time >= window.end) continue;
    out.instants.emplace_back(i.time, i.lane ? t.lane(i.lane).key : "", std::string(t.strings[i.name]));
  }
  for (const Counter& c : t.counters) {
    const std::set<Ns> before = in_force(t, c, window.begin);
    for (const CounterSample& v : c.samples)
      if ((v.time >= window.begin && v.time < window.end) || before.contains(v.time))
        out.counters.emplace_back(t.processes[c.process.index()].key, t.strings[c.name], t.strings[c.series], v.time, v.value);
  }
  out.sort();
  return out;
}

Contents everything(const Trace& t) {
  return contents(t, std::vector<bool>(t.slice_count(), true),
                  {std::numeric_limits<Ns>::min(), std::numeric_limits<Ns>::max()});
}

// The rule once more, in the plainest words: what overlaps, and for GPU work its call and owner.
std::vector<bool> naive_choice(const Trace& t, Span window) {
  std::vector<bool> in(t.slice_count(), false);
  for (std::size_t s = 0; s < t.slice_count(); ++s) {
    const Ns begin = t.slices.begin[s], end = t.slices.end[s];
    in[s] = begin == end ? begin >= window.begin && begin < window.end : begin < window.end && end > window.begin;
  }
  return in;
}

void check_same(const Contents& got, const Contents& wanted) {
  CHECK(got.slices.size() == wanted.slices.size());
  CHECK(got.slices == wanted.slices);
  CHECK(got.flows.size() == wanted.flows.size());
  CHECK(got.flows == wanted.flows);
  CHECK(got.instants == wanted.instants);
  CHECK(got.counters == wanted.counters);
}

std::shared_ptr<const Trace> load_file(const std::string& path) {
  auto result = load_trace(path);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return *result;
}

struct Cropped {
  CropChoice choice;
  CropFigures figures;
  std::shared_ptr<const Trace> trace;
};

Cropped crop(const Trace& t, Span window, const std::string& out, const std::vector<std::string>& lane_texts = {}) {
  const LaneIndex lanes(t);
  const LinkIndex links(t, lanes);
  Cropped done;
  done.choice = choose_crop(t, links, window, lane_texts);
  const auto figures = write_crop(t, done.choice, out);
  REQUIRE_MESSAGE(figures.ok(), (figures.ok() ? "" : figures.error().message));
  done.figures = *figures;
  done.trace = load_file(out);
  return done;
}

std::string sentence(const Trace& t, Span window, const std::string& out) {
  const LaneIndex lanes(t);
  const LinkIndex links(t, lanes);
  const auto figures = write_crop(t, choose_crop(t, links, window), out);
  REQUIRE(!figures.ok());
  return figures.error().message;
}

constexpr std::string_view kLaunchBefore = R"json({"schemaVersion": 1, "baseTimeNanoseconds": 1000, "trace_id": "AB",
"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 7, "ts": 0, "args": {"name": "python"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 1, "ts": 100, "dur": 30, "args": {"External id": 5}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 1, "ts": 110, "dur": 5, "args": {"External id": 5, "correlation": 9}},
{"ph": "s", "id": 9, "pid": 7, "tid": 1, "ts": 110, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 300, "dur": 50, "args": {"External id": 5, "correlation": 9}},
{"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 300, "cat": "ac2g", "name": "ac2g", "bp": "e"},
{"ph": "X", "cat": "cpu_op", "name": "aten::other", "pid": 7, "tid": 1, "ts": 150, "dur": 10},
{"ph": "i", "s": "t", "name": "mark", "pid": 7, "tid": 1, "ts": 310},
{"ph": "i", "s": "t", "name": "early mark", "pid": 7, "tid": 1, "ts": 90},
{"ph": "C", "name": "load", "pid": 7, "ts": 305, "args": {"a": 3}},
{"ph": "C", "name": "load", "pid": 7, "ts": 95, "args": {"a": 4}},
{"ph": "C", "name": "load", "pid": 7, "ts": 80, "args": {"a": 5}},
{"ph": "B", "cat": "cpu_op", "name": "half", "pid": 7, "tid": 2, "ts": 290},
{"ph": "E", "pid": 7, "tid": 2, "ts": 320},
{"ph": "B", "cat": "cpu_op", "name": "early half", "pid": 7, "tid": 2, "ts": 90},
{"ph": "E", "pid": 7, "tid": 2, "ts": 99}
], "traceName": "x.json"})json";

}  // namespace

TEST_CASE("a crop keeps what overlaps the window, whole, and the launch and operator of a kernel that was launched before it") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", kLaunchBefore));
  const Cropped c = crop(*t, {301'000, 312'000}, (folder.path() / "out.json").string());
  std::vector<std::string> names;
  for (std::size_t s = 0; s < c.trace->slice_count(); ++s) names.emplace_back(c.trace->name(SliceId(s)));
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"aten::mm", "cudaLaunchKernel", "gemm", "half"});
  CHECK(c.choice.partners == 2);
  CHECK(c.trace->flows.size() == 1);
  CHECK(c.trace->flow_counts.unbound_starts == 0);
  REQUIRE(c.trace->instants.size() == 1);
  CHECK(c.trace->strings[c.trace->instants[0].name] == "mark");
  REQUIRE(c.trace->counters.size() == 1);
  REQUIRE(c.trace->counters[0].samples.size() == 2);
  CHECK(c.trace->counters[0].samples[0].time == 95'000);  // holds where the window begins; the one before it does not
  CHECK(c.trace->header.find("traceName") == "\"x.json\"");
  CHECK(c.trace->header.find("trace_id") == "\"AB\"");
  CHECK(c.trace->header.base_time == 1000);
  CHECK(c.trace->processes.front().name == "python");
  CHECK(c.trace->figures.matched_begin_end == 1);
  CHECK(c.trace->report.entries().empty());
}

TEST_CASE("a crop says that it is a part, and of what; a crop of a crop says it of the whole") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", kLaunchBefore));
  const Span all{t->span.begin, t->span.end + 1};
  CHECK_FALSE(crop_mark(*t));
  CHECK(with_crop_sentence(*t, "As it was.") == "As it was.");
  const Cropped c = crop(*t, {105'000, 330'000}, (folder.path() / "part.json").string());
  CHECK(crop_mark(*c.trace) == CropMark{{105'000, 330'000}, all});
  CHECK(with_crop_sentence(*c.trace, "") ==
        "This is 225 \xC2\xB5s of a recording of 260 \xC2\xB5s: steps that it cuts are not counted.");
  const Cropped again = crop(*c.trace, {301'000, 312'000}, (folder.path() / "less.json").string());
  CHECK(crop_mark(*again.trace) == CropMark{{301'000, 312'000}, all});
  CHECK(again.trace->report.entries().empty());  // the key is there once
  CHECK(again.trace->header.find("traceName") == "\"x.json\"");
  const Cropped lanes = crop(*t, all, (folder.path() / "lanes.json").string(), {"stream"});
  REQUIRE(crop_mark(*lanes.trace));
  CHECK(crop_words(*crop_mark(*lanes.trace)).starts_with("a part of"));
}

TEST_CASE("what another tool wrote under the key of a crop is no mark of one") {
  for (const char* written : {"1", "{}", "{\"from_ns\": 5, \"to_ns\": 4, \"of_begin_ns\": 0, \"of_end_ns\": 9}",
                              "{\"from_ns\": 1, \"to_ns\": 99, \"of_begin_ns\": 0, \"of_end_ns\": 9}",
                              "{\"from_ns\": 1e400, \"to_ns\": \"x\", \"of_begin_ns\": , \"of_end_ns\""}) {
    CAPTURE(written);
    Trace trace;
    trace.header.metadata.emplace_back(kCropKey, written);
    CHECK_FALSE(crop_mark(trace));
  }
}

TEST_CASE("what another tool wrote under the key of a crop stays as it is in a crop") {
  const TempFolder folder;
  std::string text(kLaunchBefore);
  const std::string foreign =
      "\"gapscopeCrop\": {\"a\": {\"b\": 1}, \"from_ns\": 0, \"to_ns\": 900000, \"of_begin_ns\": 0, \"of_end_ns\": 900000}, ";
  text.insert(text.find('{') + 1, foreign);
  const auto t = load_file(folder.write("t.json", text));
  REQUIRE(crop_mark(*t));
  const Cropped c = crop(*t, {105'000, 330'000}, (folder.path() / "part.json").string());
  CHECK(c.trace->report.entries().empty());
  CHECK(c.trace->header.find(kCropKey) == t->header.find(kCropKey));
}

TEST_CASE("a crop without a flow's other end does not keep the flow's event") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", kLaunchBefore));
  const Cropped c = crop(*t, {105'000, 120'000}, (folder.path() / "out.json").string());
  CHECK(c.trace->slice_count() == 2);
  CHECK(c.trace->flow_counts.starts == 0);
}

TEST_CASE("a crop of some lanes keeps the kernels in the window that their calls launched") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", kLaunchBefore));
  const Cropped cpu = crop(*t, {100'000, 340'000}, (folder.path() / "cpu.json").string(), {"python"});
  CHECK(cpu.trace->gpu.size() == 1);
  const Cropped before = crop(*t, {100'000, 200'000}, (folder.path() / "before.json").string(), {"python"});
  CHECK(before.trace->gpu.empty());
}

TEST_CASE("the args of an event that is kept are the same text, byte by byte") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", kLaunchBefore));
  const Cropped c = crop(*t, {301'000, 312'000}, (folder.path() / "out.json.gz").string());
  REQUIRE(c.trace->gpu.size() == 1);
  const auto was = read_event_text(*t, t->slices.offset[t->gpu[0].slice.index()]);
  const auto is = read_event_text(*c.trace, c.trace->slices.offset[c.trace->gpu[0].slice.index()]);
  REQUIRE((was.ok() && is.ok()));
  CHECK(*is == *was);
}

TEST_CASE("where not one event can be written no file is, and the sentence says why") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", R"json([{"ph": "i", "name": "a", "ts": 1, "x": {:}}])json"));
  const std::string out = (folder.path() / "out.json").string();
  const std::string said = sentence(*t, {-1'000'000, 1'000'000}, out);
  CHECK_MESSAGE(said.find("can be saved: its only event in that window is damaged") != said.npos, said);
  CHECK(!std::filesystem::exists(out));
}

TEST_CASE("a damaged event is mended in the crop, and counted; numbers that are none become texts") {
  const TempFolder folder;
  const std::string text = events(slice("a \"quoted\" name", "1", "2") + "," +
                                  slice("n", "1", "1", ", \"args\": {\"x\": NaN, \"y\": -Infinity, \"z\": [1, 2.5e3]}") + "," +
                                  slice("fine", "2", "1"));
  const auto t = load_file(folder.write("t.json", text));
  REQUIRE(t->slice_count() == 3);
  const Cropped c = crop(*t, {0, 1'000'000}, (folder.path() / "out.json").string());
  CHECK(c.figures.events == 3);
  CHECK(c.figures.mended == 2);
  CHECK(c.trace->slice_count() == 3);
  CHECK(c.trace->report.entries().empty());
}

TEST_CASE("a file that stops in the middle of an event gives a crop that is whole") {
  const TempFolder folder;
  const std::string text = events(slice("a", "1", "2") + "," + slice("b", "4", "2"));
  const auto t = load_file(folder.write("t.json", text.substr(0, text.size() - 20)));
  const Cropped c = crop(*t, {0, 1'000'000}, (folder.path() / "out.json").string());
  CHECK(c.trace->slice_count() == 1);
  CHECK(c.trace->report.entries().empty());
}

TEST_CASE("what cannot be cropped is said in a sentence, and leaves no file behind") {
  const TempFolder folder;
  const std::string path = folder.write("t.json", kLaunchBefore);
  const auto t = load_file(path);
  const Span window{100'000, 200'000};
  CHECK(sentence(*t, window, path) == path + " is the trace itself, which is still being read. Write to another file.");
  const std::string nowhere = (folder.path() / "no" / "out.json").string();
  CHECK(sentence(*t, window, nowhere) ==
        nowhere + " cannot be written: No such file or directory. Name a place where you may write and where there is room.");
  const std::string out = (folder.path() / "out.json").string();
  CHECK(sentence(*t, {500'000, 600'000}, out) ==
        "No event of " + path +
            " is in that window: the trace goes from 90000 to 350000 ns. Choose a window inside, or other lanes.");
  CHECK(sentence(*t, window, out + ".xz") ==
        out + ".xz: crops are written plain or as gzip. Choose a name that ends in .json or .json.gz.");
  folder.write("t.json", "{\"traceEvents\": []}");
  CHECK(sentence(*t, window, out).find("has changed since it was opened") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that has changed since it was loaded gives no crop, be it of a window or of all") {
  const TempFolder folder;
  const std::string out = folder.write("out.json", "old");
  const std::string path = folder.write("t.json", kLaunchBefore);
  const auto stamp = stamp_of(path);
  const auto t = load_file(path);
  const LaneIndex lanes(*t);
  const LinkIndex links(*t, lanes);
  std::string other(kLaunchBefore);  // as long, with as many events at the same places
  other.replace(other.find("gemm"), 4, "copy");
  std::string fewer(kLaunchBefore);
  const std::size_t mark = fewer.find("{\"ph\": \"i\"");
  fewer.erase(mark, fewer.find('\n', mark) - mark);
  for (const std::string& now : {other, fewer}) {
    folder.write("t.json", now);
    for (const Span window : {Span{301'000, 312'000}, t->span}) {
      const auto figures = write_crop(*t, choose_crop(*t, links, window), out, {.stamp = now == fewer ? std::nullopt : stamp});
      REQUIRE(!figures.ok());
      CHECK(figures.error().message == path + " has changed since it was opened, so the selected part has moved. Reload it.");
    }
  }
  std::ifstream file(out);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("names with lone surrogates, and a header with some, are in the crop as they are in the trace") {
  const TempFolder folder;
  const std::string text = R"({"note \udc80": "\ud83d\ude00 \ud83d", "traceEvents": [)" + slice(R"(a\ud800b)", "1", "2") + "," +
                           slice(R"(\\ud800 \\\udfff)", "4", "2") + "," + slice(R"(\ud83d\ude00\uD83D)", "8", "2") + "," +
                           slice("fine", "16", "2") + R"(], "end": "\udbff"})";
  const auto t = load_file(folder.write("t.json", text));
  REQUIRE(t->slice_count() == 4);
  for (const Span window : {t->span, Span{0, 12'000}}) {
    const Cropped c = crop(*t, window, (folder.path() / "out.json").string());
    CHECK(c.figures.left_out == 0);
    CHECK(c.figures.mended == 3);
    CHECK(!c.figures.header_lost);
    REQUIRE(c.trace->slice_count() == (window == t->span ? 4 : 3));
    for (std::size_t s = 0; s < c.trace->slice_count(); ++s) CHECK(c.trace->name(SliceId(s)) == t->name(SliceId(s)));
    CHECK(c.trace->header.metadata.size() == t->header.metadata.size() + (crop_mark(*c.trace) ? 1 : 0));
  }
  CHECK(t->name(SliceId(1)) == "\\ud800 \\\xEF\xBF\xBD");
}

TEST_CASE("a damaged header that ends before the events is left out, and said") {
  const TempFolder folder;
  const std::string header = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "warpSize0, "args": {"device": 0}}
]}
": 32, "numSms": 108}], "displayTimeUnit": "ms", "traceEvents": [)";
  const auto t = load_file(folder.write("t.json", header + slice("a", "1", "2") + "," + slice("b", "4", "2") + "]}"));
  REQUIRE(t->slice_count() == 2);
  const Cropped c = crop(*t, t->span, (folder.path() / "out.json").string());
  CHECK(c.figures.header_lost);
  CHECK(c.trace->slice_count() == 2);
}

TEST_CASE("what of the file is no event that can be read is counted, and said") {
  const TempFolder folder;
  const std::string text =
      events(slice("a", "1", "2") + R"(,{"ph": "X", "name" "b" "c"},)" + slice("d", "4", "2") + ", 5, " + slice("e", "8", "2"));
  const auto t = load_file(folder.write("t.json", text));
  REQUIRE(t->slice_count() == 3);
  for (const Span window : {t->span, Span{0, 2'500}}) {
    const Cropped c = crop(*t, window, (folder.path() / "out.json").string());
    CHECK(c.figures.unreadable == 2);
    CHECK(c.figures.remarks() == std::vector<std::string>{"2 parts of the file are not readable events and are left out"});
    CHECK(c.trace->report.entries().empty());
  }
}

TEST_CASE("a crop that is cancelled ends with an Error and leaves no file behind") {
  const TempFolder folder;
  const auto t = load_file(folder.write("t.json", kLaunchBefore));
  const LaneIndex lanes(*t);
  const LinkIndex links(*t, lanes);
  std::atomic<bool> cancel{true};
  const auto figures = write_crop(*t, choose_crop(*t, links, {100'000, 200'000}), (folder.path() / "out.json").string(),
                                  {.stamp = {}, .cancel = &cancel});
  REQUIRE(!figures.ok());
  CHECK(figures.error().message == "Cancelled.");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("crops of every real recording hold exactly what the recording has in their window") {
  const TempFolder folder;
  const std::string out = (folder.path() / "out.json.gz").string();
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const auto t = load_file(path.string());
    const Ns length = t->span.length();
    for (const auto& [first, last] : {std::pair(10, 11), std::pair(40, 60), std::pair(70, 100)}) {
      const Span window{t->span.begin + length / 100 * first, t->span.begin + length / 100 * last};
      const LaneIndex lanes(*t);
      const LinkIndex links(*t, lanes);
      std::vector<bool> wanted = naive_choice(*t, window);
      const std::vector<bool> overlapping = wanted;
      for (const GpuRow& row : t->gpu) {
        if (!overlapping[row.slice.index()]) continue;
        if (const SliceId call = links.call_of(row)) wanted[call.index()] = true;
        if (const SliceId op = links.owner_op(row)) wanted[op.index()] = true;
      }
      if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) continue;
      const Cropped c = crop(*t, window, out);
      CHECK(c.figures.left_out == 0);
      check_same(everything(*c.trace), contents(*t, wanted, window));
      auto others = c.trace->header.metadata;
      std::erase_if(others, [](const auto& entry) { return entry.first == kCropKey; });
      CHECK(others == t->header.metadata);
      CHECK(crop_mark(*c.trace).has_value() == (c.choice.slice_count < t->slice_count()));
    }
  }
}

TEST_CASE("a crop of the whole window is the recording itself") {
  const TempFolder folder;
  const std::string out = (folder.path() / "out.json").string();
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const auto t = load_file(path.string());
    const Cropped c = crop(*t, t->span, out);
    const bool same = dump_trace(*c.trace, false) == dump_trace(*t, false);  // not the texts: megabytes to print
    CHECK(same);
    CHECK(c.trace->header.metadata == t->header.metadata);
  }
}
