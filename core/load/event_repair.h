#pragma once
// Damaged JSON, one event at a time: where an event ends when the text cannot be trusted, and a repaired copy of it.
// What is found depends only on the bytes from the event on, never on how the file was cut into batches.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/trace/load_report.h"

namespace gapscope {

// Where the event that begins with '{' (or the array that begins with '[') at `at` ends.
struct EventEnd {
  enum class How : std::uint8_t {
    closed,     // its brackets balance: `end` is after the last one
    suspect,    // something is wrong with it; `end` is where the next event begins
    unfinished  // the text ends before that can be told
  };
  How how{};
  std::size_t end = 0;
  // Suspect or unfinished only: where its brackets balance all the same, if they do within kBalanceBytes; 0 if not.
  std::size_t balanced = 0;
};
constexpr std::size_t kBalanceBytes = 64 * 1024;  // far larger than events are, far smaller than a damaged file
EventEnd find_event_end(std::string_view text, std::size_t at, bool is_last);

// Position of the '{' of the first event at or after `from`: "}", ",", "{", a quote and a key that trace events have.
// npos when there is none (the pattern may be cut off at the end of the text).
std::size_t find_next_event(std::string_view text, std::size_t from);
// The same, the last one: where a block of text can be cut. With `any_key`, any key will do.
std::size_t find_last_event(std::string_view text, bool any_key);

// What was mended in one event.
struct Repairs {
  std::uint32_t control_characters = 0;
  std::uint32_t quotes = 0;
  std::uint32_t escapes = 0;
  std::uint32_t utf8 = 0;
  std::uint32_t commas = 0;
  bool any() const { return control_characters + quotes + escapes + utf8 + commas != 0; }
  void report(LoadReport& report, std::uint64_t offset, std::string_view text) const;
};
struct Mended {
  std::string text;
  std::size_t consumed = 0;  // bytes of `event` up to and with the bracket that closes it; all of them if it never closes
  bool closed = false;
};
// A copy of the event at the start of `event`, up to the bracket that closes it, with control characters, stray quotes,
// bad escapes, invalid UTF-8 and trailing commas mended.
Mended repair_event(std::string_view event, Repairs& repairs);

}  // namespace gapscope
