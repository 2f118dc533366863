#include <algorithm>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/dump_trace.h"
#include "tests/support/flips.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// The sentence of the only oddity of a kind in a trace of three slices around `damaged`.
struct Seen {
  std::shared_ptr<const Trace> trace;
  std::string sentence;
  std::uint64_t offset = 0;
};

Seen load_damaged(std::string_view damaged, ImportIssue kind) {
  const std::string text = "{\"traceEvents\": [\n" + slice("before", "1", "1") + ",\n" + std::string(damaged) + ",\n" +
                           slice("after", "9", "1") + "\n]}";
  Seen seen;
  seen.trace = load_text(text);
  for (const ImportIssueEntry& e : seen.trace->report.entries()) {
    if (e.kind != kind) continue;
    seen.sentence = import_issue_sentence(e);
    REQUIRE(!e.first.empty());
    seen.offset = e.first[0].offset;
  }
  return seen;
}

bool has_slice(const Trace& t, std::string_view name) {
  for (std::size_t i = 0; i < t.slice_count(); ++i) {
    if (t.name(SliceId(i)) == name) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a raw control character inside a string is read as that character") {
  const Seen s = load_damaged(slice("tab\there", "3", "1"), ImportIssue::control_character);
  CHECK(s.sentence ==
        "1 raw control character is inside a string, where JSON requires an escape. It was read as that character.");
  CHECK(has_slice(*s.trace, "tab\there"));
  CHECK(s.trace->slice_count() == 3);
  CHECK(load_damaged(slice("two\nlines", "3", "1"), ImportIssue::control_character).trace->slice_count() == 3);
}

TEST_CASE("megabytes of zero bytes end a file, and are not read to their end") {
  const std::string zeros(std::size_t{40} << 20, '\0'), before = "[" + slice("before", "1", "1");
  const auto report = [&](const std::string& text) {
    const auto trace = load_text(text + zeros + slice("behind", "9", "1") + "]");
    CHECK(trace->slice_count() == 1);
    CHECK(trace->figures.text_bytes < zeros.size());
    REQUIRE(trace->report.entries().size() == 1);
    CHECK(trace->report.entries()[0].first[0].offset == text.size());
    return trace->report.entries()[0].kind;
  };
  CHECK(report(before + ",\n") == ImportIssue::truncated);
  CHECK(report(before + "]") == ImportIssue::text_after_end);
}

TEST_CASE("an unescaped quote inside a name costs nothing") {
  const Seen s = load_damaged(slice("say \"hello\" twice", "3", "1"), ImportIssue::unescaped_quote);
  CHECK(s.sentence == "2 quotes inside strings were not escaped. They were read as part of the text.");
  CHECK(has_slice(*s.trace, "say \"hello\" twice"));
  CHECK(s.trace->slice_count() == 3);
}

TEST_CASE("back-slashes of Windows paths are kept") {
  const Seen s = load_damaged(slice("C:\\Users\\me", "3", "1"), ImportIssue::invalid_escape);
  CHECK(s.sentence == "2 backslashes are before characters that have no escape. They were read as backslashes.");
  CHECK(has_slice(*s.trace, "C:\\Users\\me"));
}

TEST_CASE("invalid UTF-8 is shown as replacement characters") {
  const Seen s = load_damaged(slice("gb\xC4\xE3k", "3", "1"), ImportIssue::invalid_utf8);
  CHECK(s.sentence == "2 texts are not valid UTF-8. Their wrong bytes are shown as \xEF\xBF\xBD.");
  CHECK(has_slice(*s.trace, "gb\xEF\xBF\xBD\xEF\xBF\xBDk"));
}

TEST_CASE("NaN, Infinity and N/A count as absent") {
  const Seen s = load_damaged(slice("k", "3", "1", R"(, "args": {"a": NaN, "b": -Infinity, "c": N/A, "stream": 3})", "kernel"),
                              ImportIssue::non_finite_number);
  CHECK(s.sentence == "3 values are NaN, Infinity or N/A, which JSON does not allow. They count as absent.");
  REQUIRE(s.trace->gpu.size() == 1);
  CHECK(s.trace->gpu[0].stream == 3);
  CHECK(load_damaged(slice("k", "3", "NaN"), ImportIssue::missing_duration).trace->slice_count() == 3);
}

TEST_CASE("trailing and missing commas") {
  CHECK(load_damaged(slice("a", "3", "1", ", \"args\": {\"x\": 1,}"), ImportIssue::trailing_comma).sentence ==
        "1 comma is before a closing bracket. It was ignored.");
  const auto last = load_text("[" + slice("a", "3", "1") + ",\n]");
  CHECK(last->report.count(ImportIssue::trailing_comma) == 1);
  CHECK(last->slice_count() == 1);
  const auto missing = load_text("[" + slice("a", "3", "1") + "\n" + slice("b", "5", "1") + "]");
  CHECK(missing->report.count(ImportIssue::missing_comma) == 1);
  CHECK(missing->slice_count() == 2);
}

TEST_CASE("of a key that comes twice the later value counts") {
  const Seen s =
      load_damaged(R"({"ph":"X","name":"first","name":"second","pid":7,"tid":1,"ts":3,"dur":1})", ImportIssue::duplicate_key);
  CHECK(s.sentence == "1 event has the same key twice. The later value counts.");
  CHECK(has_slice(*s.trace, "second"));
  const Seen args =
      load_damaged(slice("k", "3", "1", R"(, "args": {"stream": 1, "stream": 2})", "kernel"), ImportIssue::duplicate_key);
  REQUIRE(args.trace->gpu.size() == 1);
  CHECK(args.trace->gpu[0].stream == 2);
}

TEST_CASE("events without a time, with odd durations and with times as text") {
  CHECK(load_damaged(R"({"ph":"X","name":"x","pid":7,"tid":1,"dur":1})", ImportIssue::no_timestamp).sentence ==
        "1 event has no readable ts and was left out.");
  CHECK(load_damaged(slice("x", "1e40", "1"), ImportIssue::no_timestamp).trace->slice_count() == 2);
  const Seen negative = load_damaged(slice("x", "3", "-2"), ImportIssue::negative_duration);
  CHECK(negative.sentence == "1 slice has a negative duration. It is shown with none.");
  CHECK(negative.trace->slice_count() == 3);
  CHECK(load_damaged(R"({"ph":"X","name":"x","pid":7,"tid":1,"ts":3})", ImportIssue::missing_duration).sentence ==
        "1 slice has no readable dur. It is shown with a duration of 0.");
  const Seen text = load_damaged(slice("x", "\"3.5\"", "\"1\""), ImportIssue::number_as_text);
  CHECK(text.sentence == "2 times are written as text. They were read as numbers.");
  CHECK(text.trace->slice_count() == 3);
}

TEST_CASE("phases that are not drawn, and elements that are no events, are counted") {
  CHECK(load_damaged(R"({"ph":"P","name":"sample","pid":7,"tid":1,"ts":3})", ImportIssue::unknown_phase).sentence ==
        "1 event has a phase (ph) that is not drawn here.");
  CHECK(load_damaged("17", ImportIssue::not_an_object).sentence ==
        "1 element of traceEvents is not an event and was left out.");
  CHECK(load_damaged("[1, [2]]", ImportIssue::not_an_object).trace->slice_count() == 2);
}

TEST_CASE("a hopeless event costs itself alone, and its place is named") {
  const Seen s = load_damaged(R"({"ph":"X","name":"broken" "pid":7 "tid":1,"ts":3,"dur":1})", ImportIssue::bad_event);
  CHECK(s.sentence == "1 event could not be read and was left out.");
  CHECK(s.trace->slice_count() == 2);
  CHECK(s.offset == std::string("{\"traceEvents\": [\n").size() + slice("before", "1", "1").size() + 2);
  const Seen open = load_damaged(R"({"ph":"X","name":"never closed,"pid":7,"tid":1,"ts":3,"dur":1)", ImportIssue::bad_event);
  CHECK(has_slice(*open.trace, "before"));
  CHECK(has_slice(*open.trace, "after"));
}

TEST_CASE("times far from the rest are kept but do not stretch the view") {
  const std::string text = events(slice("stray", "1", "1") + "," + slice("a", "1700000000000000", "5") + "," +
                                  slice("b", "1700000000000010", "5") + "," + slice("c", "1700000000000020", "5"));
  const auto t = load_text(text);
  CHECK(t->slice_count() == 4);
  CHECK(t->report.count(ImportIssue::absurd_time) == 1);
  CHECK(t->span.begin == 1'700'000'000'000'000'000);
}

TEST_CASE("an absurd Record Window End is left out") {
  const auto t = load_text(events(slice("a", "1", "1") +
                                  R"(,{"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":9000000000000000})"));
  CHECK(t->report.count(ImportIssue::absurd_window_end) == 1);
  CHECK(t->instants.empty());
}

TEST_CASE("missing closing brackets lose nothing; text after the end is named") {
  CHECK(load_text("{\"traceEvents\": [" + slice("a", "1", "1"))->report.count(ImportIssue::missing_close) == 1);
  CHECK(load_text("{\"traceEvents\": [" + slice("a", "1", "1") + "]")->report.count(ImportIssue::missing_close) == 1);
  CHECK(load_text("[" + slice("a", "1", "1"))->report.count(ImportIssue::missing_close) == 1);
  CHECK(load_text("[" + slice("a", "1", "1") + "] trailing")->report.count(ImportIssue::text_after_end) == 1);
}

TEST_CASE("a trace cut at any byte opens up to the cut or says why not, the same for any batch") {
  std::string text = "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"H200\"}],\n\"traceEvents\": [\n";
  for (int i = 0; i < 6; ++i)
    text += (i ? ",\n" : "") + slice(fmt::format("op \\\"{}\\\"", i), std::to_string(10 * i), "4.5",
                                     R"(, "args": {"External id": 3, "Input Dims": [[64, 64], []]})");
  text += "\n], \"traceName\": \"x\"}";
  std::size_t slices_before = 0;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view part = std::string_view(text).substr(0, cut);
    CAPTURE(cut);
    const auto whole = load_trace_from_text(part);
    LoadOptions tiny;
    tiny.threads = 2;
    tiny.batch_bytes = 64;
    const auto pieces = load_trace_from_text(part, "text", tiny);
    REQUIRE(whole.ok() == pieces.ok());
    if (!whole.ok()) {
      CHECK(!whole.error().message.empty());
      CHECK(whole.error().message == pieces.error().message);
      continue;
    }
    CHECK(dump_trace(**whole) == dump_trace(**pieces));
    CHECK((*whole)->slice_count() >= slices_before);
    slices_before = (*whole)->slice_count();
  }
  CHECK(slices_before == 6);
}

TEST_CASE("random byte flips never crash, and threads and batches agree on what is left") {
  std::string clean = "{\"deviceProperties\": [{\"id\": 0}], \"traceEvents\": [\n";
  for (int i = 0; i < 12; ++i)
    clean += (i ? ",\n  " : "") + slice(fmt::format("op {}", i), std::to_string(10 * i), "4.5",
                                        R"(, "args": {"External id": 3, "grid": [4, 2, 1], "name": "x"})",
                                        i % 2 ? "kernel" : "cpu_op");
  clean += "\n], \"traceName\": \"x\"}";
  std::mt19937 random(20260101);
  int agreed = 0;
  const int rounds = flips(3000);
  for (int round = 0; round < rounds; ++round) {
    std::string text = clean;
    for (std::uint32_t n = 1 + random() % 4; n > 0; --n) text[random() % text.size()] = static_cast<char>(random());
    const auto whole = load_trace_from_text(text);
    LoadOptions tiny;
    tiny.threads = 1;
    tiny.batch_bytes = 200;
    const auto pieces = load_trace_from_text(text, "text", tiny);
    CAPTURE(round);
    CAPTURE(text);
    REQUIRE(whole.ok() == pieces.ok());
    if (!whole.ok()) continue;
    REQUIRE(dump_trace(**whole) == dump_trace(**pieces));
    ++agreed;
  }
  CHECK(agreed > rounds * 2 / 3);
}
