// What is among the events and is none, brackets that do not close and brackets left over: each costs itself and no
// more than the one event it damaged, whatever the batches; and it costs no time.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/load/args.h"
#include "core/load/event_bounds.h"
#include "tests/support/cpu_time.h"
#include "tests/support/load_text.h"
#include "tests/support/piecewise_load.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Loads in one piece, and proves that tiny ones give the same.
std::shared_ptr<const Trace> load_any(const std::string& text) {
  const auto whole = load_in_pieces(text, 1, kOneBatch);
  for (const std::size_t batch : {1u, 16u, 64u, 200u}) CHECK(outcome_of(load_in_pieces(text, 1, batch)) == outcome_of(whole));
  CHECK(outcome_of(load_in_pieces(text, 2, 64)) == outcome_of(whole));
  REQUIRE_MESSAGE(whole.ok(), text);
  return *whole;
}

std::string numbered(int i) {
  return slice(fmt::format("op {}", i), std::to_string(10 * i), "5", R"(, "args": {"Input Dims": [[8, 128], []]})");
}

std::string slices(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += (i > from ? ",\n" : "") + numbered(i);
  return text;
}

// The number of slices when `damaged` takes the place of the second of six.
std::size_t slices_around(const std::string& damaged) {
  return load_any(events(numbered(0) + ",\n" + damaged + ",\n" + slices(2, 6)))->slice_count();
}

// `event` with the first `what` in it replaced.
std::string with(std::string event, const std::string& what, const std::string& by) {
  return event.replace(event.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("an array that opens among the events and never closes costs itself alone") {
  const auto t = load_any(events(numbered(0) + ",\n[1  " + slices(1, 5)));
  CHECK(t->slice_count() == 5);
  const auto entries = t->report.entries();
  REQUIRE(entries.size() == 2);
  CHECK(import_issue_sentence(entries[0]) == "1 comma is missing between two events. No event is lost.");
  CHECK(import_issue_sentence(entries[1]) == "1 element of traceEvents is not an event and was left out.");
  CHECK(entries[1].first.at(0).text == "[1");
  CHECK(load_any(events("[[[[[[[[" + slices(0, 5)))->slice_count() == 5);
  CHECK(load_any(events(slices(0, 3) + ",\n[\"abc, " + slices(3, 5)))->slice_count() == 5);
}

TEST_CASE("values among the events that are none take no event with them") {
  for (const char* value : {"17", "null", "[1, [2]]", "\"text\"", "[]", "[[], \"]\"]", "\"a, b ] {\""})
    CHECK(slices_around(value) == 5);
  for (const char* value : {"[[", "\"never closed", "17 \"", "}", "]", "}]}", ":", "]]]"})
    CHECK_MESSAGE(slices_around(value) == 5, value);
}

TEST_CASE("arrays of events within the events are read") {
  CHECK(load_any(events("[" + slices(0, 2) + "],\n" + slices(2, 4)))->slice_count() == 4);
  CHECK(load_any("[" + slices(0, 2) + "]\n[" + slices(2, 4) + "]")->slice_count() == 4);
}

TEST_CASE("a bracket too many or too few costs its event and no other") {
  const std::string e = numbered(1);
  CHECK(slices_around(with(e, "10", "{10")) == 5);
  CHECK(slices_around(with(e, "10", "[10")) == 5);
  CHECK(slices_around(with(e, "[[", "[[[")) == 5);
  CHECK(slices_around(with(e, "[[", "[")) == 5);
  CHECK(slices_around(with(e, "{\"Input", "\"Input")) == 5);
  CHECK(slices_around(e.substr(0, e.size() - 1)) == 5);
  CHECK(slices_around(with(e, "}}", "]")) == 5);
  CHECK(slices_around(e.substr(1)) == 5);
}

TEST_CASE("a damaged event is not followed by a comma that is missing") {
  const auto t = load_any(events(numbered(0) + ",\n" + with(numbered(1), "10", "{10") + ",\n" + slices(2, 6)));
  CHECK(t->report.count(ImportIssue::bad_event) == 1);
  CHECK(t->report.count(ImportIssue::missing_comma) == 0);
}

TEST_CASE("a backslash outside strings hides quotes alone, in any batches") {
  CHECK(slices_around(with(numbered(1), "[]]", "[]\\]")) == 6);
  load_any(events(R"({"ph":\", "ce": "x", "pid": 4, "args": {"External id": 7}},)" + slices(2, 4)));
}

TEST_CASE("a header after the events may hold what looks like events") {
  for (const std::size_t entries : {2u, 4000u}) {  // more than one looks ahead, too
    std::string header;
    for (std::size_t i = 0; i < entries; ++i) header += fmt::format("{}{{\"id\": {}, \"name\": \"H200\"}}", i ? ", " : "", i);
    const auto t = load_any("{\"traceEvents\": [" + slices(0, 4) + "],\n \"deviceProperties\": [" + header + "]}");
    CHECK(t->slice_count() == 4);
    CHECK(t->header.devices.size() == entries);
    CHECK(t->report.count(ImportIssue::bad_event) == 0);
  }
}

TEST_CASE("a comma before the last bracket is counted in any batches") {
  const auto t = load_any("{\"traceEvents\": [" + slices(0, 4) + ",\n\n] }");
  CHECK(t->report.count(ImportIssue::trailing_comma) == 1);
  CHECK(load_any("[" + slices(0, 4) + ",,\n" + slices(4, 5) + "]")->report.count(ImportIssue::trailing_comma) == 1);
}

TEST_CASE("a large event that closes is one event, and one that does not costs no more than itself") {
  std::string big = "[1";
  while (big.size() < 3 * kTrustedBytes) big += ", {\"a\": [1, 2]}";
  for (const bool closes : {true, false}) {
    const std::string event = slice("big", "10", "5", ", \"args\": {\"x\": " + big + (closes ? "]" : "") + "}");
    const std::string text = events(numbered(0) + ",\n" + event + ",\n" + slices(2, 6));
    for (const std::size_t batch : {std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 23}) {
      const auto t = load_text(text, 2, batch);
      CHECK(t->slice_count() == (closes ? 6 : 5));
      CHECK(t->report.count(ImportIssue::bad_event) == (closes ? 0 : 1));
    }
  }
}

TEST_CASE("a bracket that never closes costs time in proportion to the file") {
  const std::string sound = events(slices(0, 60'000));
  const auto seconds = [](const std::string& text) { return cpu_seconds([&] { load_text(text, 1, 64 * 1024); }); };
  const double sound_seconds = seconds(sound);
  for (const char* open : {"{10", "[10", "[[[10"}) {
    const std::string damaged = with(sound, "10", open);
    // Where each of the 128 batches is read again with all before it, it takes 60 times as long.
    CHECK(seconds(damaged) < 5 * sound_seconds + 0.02);
    CHECK(load_text(damaged)->slice_count() >= 59'998);
  }
}

TEST_CASE("the args of an event that had to be mended can be read") {
  const TempFolder folder;
  for (const char* name : {"tab\\there", "raw\there", "say \"hello\" twice", "C:\\Users\\me"}) {
    const std::string text =
        events(numbered(0) + ",\n" + slice(name, "10", "5", R"(, "args": {"number": 41})") + ",\n" + numbered(2));
    LoadOptions options;
    const auto t = load_trace(folder.write("t.json", text), options);
    REQUIRE(t.ok());
    REQUIRE((*t)->slice_count() == 3);
    const auto args = read_args(**t, (*t)->slices.offset[1]);
    REQUIRE_MESSAGE(args.ok(), name);
    REQUIRE(args->size() == 1);
    CHECK((*args)[0].value == "41");
  }
}

TEST_CASE("one wrong byte costs at most one event, wherever it is") {
  const std::string in_args = "\"args\":{\"n\":[[8],[]],\"x\":\"a\"}";
  const std::string styles[] = {
      "{\"ph\":\"X\",\"name\":\"op #\",\"pid\":7,\"tid\":1,\"ts\":#0.25,\"dur\":4," + in_args + "}",
      "{\n  \"ph\": \"X\", \"name\": \"op #\", \"pid\": 7, \"tid\": 1,\n  \"ts\": #0.25, \"dur\": 4,\n  " + in_args + "\n}",
      "{\"name\":\"op #\",\"ph\":\"X\",\"ts\":#0,\"dur\":4,\"tid\":1,\"pid\":7}"};
  constexpr std::string_view kBytes = "\"{}[],:\\\n x\xFF";
  for (const std::string& style : styles) {
    std::vector<std::string> parts;
    for (const char* number : {"1", "2", "3", "4", "5"}) parts.push_back(with(with(style, "#", number), "#", number) + ",");
    for (std::size_t at = 0; at < parts[2].size(); ++at) {
      for (std::size_t how = 0; how <= 2 * kBytes.size(); ++how) {
        std::string damaged = parts[2];
        if (how == 0)
          damaged.erase(at, 1);
        else if (how % 2 == 0)
          damaged.insert(at, 1, kBytes[how / 2 - 1]);
        else
          damaged[at] = kBytes[how / 2];
        const std::string text = "{\"traceEvents\": [" + parts[0] + parts[1] + damaged + parts[3] + parts[4];
        const auto t = load_in_pieces(text, 1, kOneBatch);
        REQUIRE(t.ok());
        std::size_t whole = 0;
        for (std::size_t i = 0; i < (*t)->slice_count(); ++i) {
          const std::string_view name = (*t)->name(SliceId(i));
          whole += name.size() == 4 && name.substr(0, 3) == "op " && (*t)->slices.end[i] - (*t)->slices.begin[i] == 4000;
        }
        CAPTURE(damaged);
        REQUIRE(whole >= 4);
        if (how % 8 == 0) REQUIRE(outcome_of(load_in_pieces(text, 1, 64)) == outcome_of(t));
      }
    }
  }
}
