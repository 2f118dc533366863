// Every oddity as a tiny file with its whole report: one sentence, and nothing else to complain about.
#include <algorithm>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct OddFile {
  ImportIssue kind;
  std::string text;
  std::string_view sentence;
};

std::string around(std::string_view odd) {
  return events(slice("before", "1", "1") + ",\n" + std::string(odd) + ",\n" + slice("after", "9", "1"));
}

std::string flow(std::string_view phase, std::string_view ts) {
  return R"({"cat":"ac2g","name":"ac2g","id":9,"pid":7,"tid":1,"bp":"e","ph":")" + std::string(phase) + R"(","ts":)" +
         std::string(ts) + "}";
}

std::vector<OddFile> odd_files() {
  using enum ImportIssue;
  const std::string a = slice("a", "3", "1");
  return {
      {truncated, "[" + slice("before", "1", "1") + R"(, {"ph": "X", "name": "cu)",
       "The file ends in the middle of an event. Everything before the cut is shown."},
      {missing_close, "[" + a, "The closing ] or } at the end of the file is missing. No event is lost."},
      {bad_event, around(R"({"ph":"X","name":"broken" "pid":7 "tid":1,"ts":3,"dur":1})"),
       "1 event could not be read and was left out."},
      {control_character, around(slice("a\tb", "3", "1")),
       "1 raw control character is inside a string, where JSON requires an escape. It was read as that character."},
      {unescaped_quote, around(slice("6\" pipe", "3", "1")),
       "1 quote inside a string was not escaped. It was read as part of the text."},
      {invalid_escape, around(slice("C:\\Users", "3", "1")),
       "1 backslash is before a character that has no escape. It was read as a backslash."},
      {invalid_utf8, around(slice("caf\xE9", "3", "1")),
       "1 text is not valid UTF-8. Its wrong bytes are shown as \xEF\xBF\xBD."},
      {non_finite_number, around(slice("k", "3", "1", R"(,"args":{"blocks per SM":Infinity})", "kernel")),
       "1 value is NaN, Infinity or N/A, which JSON does not allow. It counts as absent."},
      {trailing_comma, "[" + a + ",\n]", "1 comma is before a closing bracket. It was ignored."},
      {missing_comma, "[" + a + "\n" + slice("b", "5", "1") + "]", "1 comma is missing between two events. No event is lost."},
      {duplicate_key, around(slice("a", "3", "1", R"(,"tid":1)")), "1 event has the same key twice. The later value counts."},
      {no_timestamp, around(R"({"ph":"X","name":"x","pid":7,"tid":1,"dur":1})"),
       "1 event has no readable ts and was left out."},
      {negative_duration, around(slice("a", "3", "-1")), "1 slice has a negative duration. It is shown with none."},
      {missing_duration, around(R"({"ph":"X","name":"x","pid":7,"tid":1,"ts":3})"),
       "1 slice has no readable dur. It is shown with a duration of 0."},
      {number_as_text, around(slice("a", "\"3.5\"", "1")), "1 time is written as text. It was read as a number."},
      {absurd_time, around(a + "," + slice("b", "5", "1") + "," + slice("far", "1700000000000000", "1")),
       "1 event is more than a day from all others. It is in the trace, but the view of the whole trace leaves it out."},
      {end_without_begin, around(R"({"ph":"E","pid":7,"tid":1,"ts":0.5})"),
       "1 end event (E) has no begin event (B) before it and was left out."},
      {begin_without_end, around(R"({"ph":"B","name":"open","pid":7,"tid":2,"ts":3})"),
       "1 begin event (B) has no end event (E). Its slice is drawn to the end of the trace."},
      {time_zero, events(slice("lost", "0", "4") + "," + slice("b", "4200000000000", "4")),
       "1 slice has the time 0, far from all others, and was left out."},
      {overlap, events(slice("a", "1", "4") + "," + slice("b", "3", "4")),
       "1 slice overlaps another of its lane without nesting in it. It is drawn at the next free depth."},
      {flow_start_alone, events(a + "," + flow("s", "3")), "1 flow start has no end in the file. No arrow is drawn for it."},
      {flow_end_alone, events(a + "," + flow("f", "3")), "1 flow end has no start in the file. No arrow is drawn for it."},
      {unknown_phase, around(R"({"ph":"P","name":"sample","pid":7,"tid":1,"ts":3})"),
       "1 event has a phase (ph) that is not drawn here."},
      {not_an_object, around("17"), "1 element of traceEvents is not an event and was left out."},
      {header_after_events, R"({"traceEvents": [)" + a + R"(], "deviceProperties": [{"id": 0, "name": "H200"}]})",
       "1 header entry is after the events. It was read nevertheless."},
      {absurd_window_end, around(R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":9000000000000000})"),
       "\"Record Window End\" is more than a day from the rest of the recording and was left out."},
      {text_after_end, "[" + a + "] and more", "Text follows the end of the trace. It was ignored."},
      {gpu_number, around(R"({"ph":"X","cat":"kernel","name":"k","pid":4294967296,"tid":7,"ts":3,"dur":1})"),
       "1 GPU has a number beyond 32 bits. Its work is drawn, and counted only where its args name another GPU."},
      {async_unpaired, around(R"({"ph":"b","cat":"io","id":1,"name":"read","pid":7,"tid":1,"ts":3})"),
       "1 asynchronous begin or end has no partner."},
  };
}

}  // namespace

TEST_CASE("every oddity has a file whose whole report is its one sentence") {
  std::set<ImportIssue> seen;
  for (const OddFile& file : odd_files()) {
    CAPTURE(import_issue_word(file.kind));
    CAPTURE(file.text);
    const auto trace = load_text(file.text);
    std::vector<std::string> report;
    for (const ImportIssueEntry& entry : trace->report.entries()) report.push_back(import_issue_sentence(entry));
    CHECK(report == std::vector<std::string>{std::string(file.sentence)});
    CHECK(trace->report.count(file.kind) == 1);
    seen.insert(file.kind);
  }
  // A full table takes 65,536 categories: too large to be tiny. A text that finds no room is no fault of the file:
  // spilled_text_test.cpp has it.
  CHECK(seen.size() == static_cast<std::size_t>(ImportIssue::count_) - 2);
  CHECK_FALSE(seen.contains(ImportIssue::too_many));
  CHECK_FALSE(seen.contains(ImportIssue::text_not_kept));
}

TEST_CASE("categories beyond what the table holds are counted, and no slice is lost") {
  std::string text = "[";
  for (int i = 0; i < 65'540; ++i)
    text += (i ? ",\n" : "") + slice("s", std::to_string(i * 2), "1", "", "c" + std::to_string(i));
  const auto trace = load_text(text + "]");
  CHECK(trace->report.count(ImportIssue::too_many) == 5);
  CHECK(trace->slice_count() == 65'540);
  REQUIRE(trace->report.entries().size() == 1);
  CHECK(import_issue_sentence(trace->report.entries()[0]) ==
        "5 categories are beyond the limit of 65,535. Their events are shown under the last category within it.");
}
