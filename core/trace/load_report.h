#pragma once
// What was odd about a file: nothing is skipped or repaired without a counter, a sentence and examples.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

enum class ImportIssue : std::uint8_t {
  truncated,          // the file ends in the middle
  missing_close,      // the last ] or } is missing, nothing else
  bad_event,          // an event that cannot be read: skipped
  control_character,  // raw control character inside a string: read as U+FFFD or escaped
  unescaped_quote,    // a quote inside a string was not escaped
  invalid_escape,     // \U in a Windows path and the like
  invalid_utf8,
  non_finite_number,  // NaN, Infinity, N/A where JSON wants a number
  trailing_comma,
  missing_comma,  // between two events
  duplicate_key,  // the later one wins
  no_timestamp,   // an event of a drawing phase without ts
  negative_duration,
  missing_duration,   // X without dur
  number_as_text,     // "ts": "12.5"
  absurd_time,        // too large for 64-bit nanoseconds, or far outside the rest
  end_without_begin,  // E without B
  begin_without_end,  // B never ended: stretched to the end of the trace
  overlap,            // slices of a lane that overlap without nesting: moved to a free depth
  flow_start_alone,
  flow_end_alone,
  unknown_phase,
  not_an_object,  // an element of traceEvents that is no object
  header_after_events,
  absurd_window_end,  // "Record Window End" more than a day after the rest
  text_after_end,     // something follows the closing bracket
  too_many,           // a table is full (65,535 categories, 4,294,967,294 slices)
  gpu_number,         // the pid of a GPU does not fit 32 bits
  async_unpaired,     // b without e, or e without b
  text_not_kept,      // no room for the inflated text: args are read by inflating again
  time_zero,          // ts 0 where the rest of the file is far from 0
  count_              // not an oddity: how many there are
};

struct ImportIssueExample {
  std::uint64_t offset = 0;  // byte offset in the (inflated) file
  std::string text;          // printable excerpt, at most kImportIssueTextChars
};

// False for what has no place in the file (a whole lane).
constexpr bool has_offset(const ImportIssueExample& example) { return example.offset <= ~std::uint64_t{0} >> 1; }

struct ImportIssueEntry {
  ImportIssue kind{};
  std::uint64_t count = 0;
  std::vector<ImportIssueExample> first;  // at most kImportIssueExamples, smallest offsets first
};

constexpr std::size_t kImportIssueExamples = 5;
constexpr std::size_t kImportIssueTextChars = 120;

// The machine word ("negative_duration") and the sentence for people, with the count filled in.
std::string_view import_issue_word(ImportIssue kind);
std::string import_issue_sentence(const ImportIssueEntry& entry);

class LoadReport {
 public:
  void add(ImportIssue kind, std::uint64_t offset, std::string_view text, std::uint64_t count = 1);
  // Whether an example at this offset would be stored: spares making its text.
  bool wants_example(ImportIssue kind, std::uint64_t offset) const;
  // Adds all of `other`; examples stay the ones with the smallest offsets. Order of merging does not matter.
  void merge(const LoadReport& other);
  std::uint64_t count(ImportIssue kind) const { return entries_[static_cast<std::size_t>(kind)].count; }
  // The entries with a count, in the order of the enum.
  std::vector<ImportIssueEntry> entries() const;
  bool empty() const;

 private:
  std::array<ImportIssueEntry, static_cast<std::size_t>(ImportIssue::count_)> entries_{};
};

}  // namespace gapscope
