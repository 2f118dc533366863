#include "core/trace/load_report.h"

#include <algorithm>

#include "core/base/text.h"

namespace gapscope {
namespace {

struct ImportIssueText {
  ImportIssue kind;
  std::string_view word;
  std::string_view one;   // the sentence for a single one
  std::string_view many;  // the sentence for more; '#' represents the count
};

constexpr std::size_t kImportIssues = static_cast<std::size_t>(ImportIssue::count_);
constexpr std::array<ImportIssueText, kImportIssues> kTexts = {{
    {ImportIssue::truncated, "truncated", "The file ends in the middle of an event. Everything before the cut is shown.",
     "The file ends in the middle of # events. Everything before the cut is shown."},
    {ImportIssue::missing_close, "missing_close", "The closing ] or } at the end of the file is missing. No event is lost.",
     "# closing brackets at the end of the file are missing. No event is lost."},
    {ImportIssue::bad_event, "bad_event", "1 event could not be read and was left out.",
     "# events could not be read and were left out."},
    {ImportIssue::control_character, "control_character",
     "1 raw control character is inside a string, where JSON requires an escape. It was read as that character.",
     "# raw control characters are inside strings, where JSON requires escapes. They were read as those characters."},
    {ImportIssue::unescaped_quote, "unescaped_quote",
     "1 quote inside a string was not escaped. It was read as part of the text.",
     "# quotes inside strings were not escaped. They were read as part of the text."},
    {ImportIssue::invalid_escape, "invalid_escape",
     "1 backslash is before a character that has no escape. It was read as a backslash.",
     "# backslashes are before characters that have no escape. They were read as backslashes."},
    {ImportIssue::invalid_utf8, "invalid_utf8", "1 text is not valid UTF-8. Its wrong bytes are shown as \xEF\xBF\xBD.",
     "# texts are not valid UTF-8. Their wrong bytes are shown as \xEF\xBF\xBD."},
    {ImportIssue::non_finite_number, "non_finite_number",
     "1 value is NaN, Infinity or N/A, which JSON does not allow. It counts as absent.",
     "# values are NaN, Infinity or N/A, which JSON does not allow. They count as absent."},
    {ImportIssue::trailing_comma, "trailing_comma", "1 comma is before a closing bracket. It was ignored.",
     "# commas are before closing brackets. They were ignored."},
    {ImportIssue::missing_comma, "missing_comma", "1 comma is missing between two events. No event is lost.",
     "# commas are missing between events. No event is lost."},
    {ImportIssue::duplicate_key, "duplicate_key", "1 event has the same key twice. The later value counts.",
     "# events have the same key twice. The later value counts."},
    {ImportIssue::no_timestamp, "no_timestamp", "1 event has no readable ts and was left out.",
     "# events have no readable ts and were left out."},
    {ImportIssue::negative_duration, "negative_duration", "1 slice has a negative duration. It is shown with none.",
     "# slices have a negative duration. They are shown with none."},
    {ImportIssue::missing_duration, "missing_duration", "1 slice has no readable dur. It is shown with a duration of 0.",
     "# slices have no readable dur. They are shown with a duration of 0."},
    {ImportIssue::number_as_text, "number_as_text", "1 time is written as text. It was read as a number.",
     "# times are written as text. They were read as numbers."},
    {ImportIssue::absurd_time, "absurd_time",
     "1 event is more than a day from all others. It is in the trace, but the view of the whole trace leaves it out.",
     "# events are more than a day from all others. They are in the trace, but the view of the whole trace leaves them out."},
    {ImportIssue::end_without_begin, "end_without_begin", "1 end event (E) has no begin event (B) before it and was left out.",
     "# end events (E) have no begin event (B) before them and were left out."},
    {ImportIssue::begin_without_end, "begin_without_end",
     "1 begin event (B) has no end event (E). Its slice is drawn to the end of the trace.",
     "# begin events (B) have no end event (E). Their slices are drawn to the end of the trace."},
    {ImportIssue::overlap, "overlap",
     "1 slice overlaps another of its lane without nesting in it. It is drawn at the next free depth.",
     "# slices overlap another of their lane without nesting in it. They are drawn at the next free depth."},
    {ImportIssue::flow_start_alone, "flow_start_alone", "1 flow start has no end in the file. No arrow is drawn for it.",
     "# flow starts have no end in the file. No arrows are drawn for them."},
    {ImportIssue::flow_end_alone, "flow_end_alone", "1 flow end has no start in the file. No arrow is drawn for it.",
     "# flow ends have no start in the file. No arrows are drawn for them."},
    {ImportIssue::unknown_phase, "unknown_phase", "1 event has a phase (ph) that is not drawn here.",
     "# events have a phase (ph) that is not drawn here."},
    {ImportIssue::not_an_object, "not_an_object", "1 element of traceEvents is not an event and was left out.",
     "# elements of traceEvents are not events and were left out."},
    {ImportIssue::header_after_events, "header_after_events", "1 header entry is after the events. It was read nevertheless.",
     "# header entries are after the events. They were read nevertheless."},
    {ImportIssue::absurd_window_end, "absurd_window_end",
     "\"Record Window End\" is more than a day from the rest of the recording and was left out.",
     "# \"Record Window End\" marks are more than a day from the rest of the recording and were left out."},
    {ImportIssue::text_after_end, "text_after_end", "Text follows the end of the trace. It was ignored.",
     "Text follows the end of the trace in # places. It was ignored."},
    {ImportIssue::too_many, "too_many",
     "1 category is beyond the limit of 65,535. Its events are shown under the last category within it.",
     "# categories are beyond the limit of 65,535. Their events are shown under the last category within it."},
    {ImportIssue::gpu_number, "gpu_number",
     "1 GPU has a number beyond 32 bits. Its work is drawn, and counted only where its args name another GPU.",
     "# GPUs have numbers beyond 32 bits. Their work is drawn, and counted only where its args name another GPU."},
    {ImportIssue::async_unpaired, "async_unpaired", "1 asynchronous begin or end has no partner.",
     "# asynchronous begins or ends have no partner."},
    {ImportIssue::text_not_kept, "text_not_kept",
     "The inflated text could not be saved in a temporary file. The args of a clicked slice take longer to read.",
     "# times the inflated text could not be saved in a temporary file. The args of a clicked slice take longer to read."},
    {ImportIssue::time_zero, "time_zero", "1 slice has the time 0, far from all others, and was left out.",
     "# slices have the time 0, far from all others, and were left out."},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kImportIssues; ++i) {
    if (static_cast<std::size_t>(kTexts[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_enum_order(), "kTexts must list every ImportIssue in order");

}  // namespace

std::string_view import_issue_word(ImportIssue kind) { return kTexts[static_cast<std::size_t>(kind)].word; }

std::string import_issue_sentence(const ImportIssueEntry& entry) {
  const ImportIssueText& text = kTexts[static_cast<std::size_t>(entry.kind)];
  if (entry.count == 1) return std::string(text.one);
  std::string out(text.many);
  if (const std::size_t at = out.find('#'); at != std::string::npos) {
    out.replace(at, 1, format_count(static_cast<std::int64_t>(entry.count)));
  }
  return out;
}

void LoadReport::add(ImportIssue kind, std::uint64_t offset, std::string_view text, std::uint64_t count) {
  ImportIssueEntry& entry = entries_[static_cast<std::size_t>(kind)];
  entry.kind = kind;
  entry.count += count;
  auto& first = entry.first;
  if (first.size() == kImportIssueExamples && first.back().offset <= offset) return;
  const auto at = std::upper_bound(first.begin(), first.end(), offset,
                                   [](std::uint64_t o, const ImportIssueExample& e) { return o < e.offset; });
  first.insert(at, {offset, elide_middle(printable(text.substr(0, 4 * kImportIssueTextChars)), kImportIssueTextChars)});
  if (first.size() > kImportIssueExamples) first.pop_back();
}

bool LoadReport::wants_example(ImportIssue kind, std::uint64_t offset) const {
  const auto& first = entries_[static_cast<std::size_t>(kind)].first;
  return first.size() < kImportIssueExamples || offset < first.back().offset;
}

void LoadReport::merge(const LoadReport& other) {
  for (const ImportIssueEntry& theirs : other.entries_) {
    ImportIssueEntry& mine = entries_[static_cast<std::size_t>(theirs.kind)];
    if (theirs.count == 0) continue;
    mine.kind = theirs.kind;
    mine.count += theirs.count;
    mine.first.insert(mine.first.end(), theirs.first.begin(), theirs.first.end());
    std::stable_sort(mine.first.begin(), mine.first.end(),
                     [](const ImportIssueExample& a, const ImportIssueExample& b) { return a.offset < b.offset; });
    if (mine.first.size() > kImportIssueExamples) mine.first.resize(kImportIssueExamples);
  }
}

std::vector<ImportIssueEntry> LoadReport::entries() const {
  std::vector<ImportIssueEntry> out;
  for (const ImportIssueEntry& entry : entries_) {
    if (entry.count != 0) out.push_back(entry);
  }
  return out;
}

bool LoadReport::empty() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const ImportIssueEntry& e) { return e.count == 0; });
}

}  // namespace gapscope
