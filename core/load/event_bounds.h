#pragma once
// Where events begin and end in text that cannot be trusted. Every answer depends only on the bytes from the place in
// question on, never on how the file was cut: where the text at hand ends too early, the answer is that more is needed,
// and no longer text gives another answer than a shorter one did.
#include <cstdint>
#include <string_view>

namespace gapscope {

// Brackets followed from an opening one to the one that closes it.
struct Brackets {
  std::size_t end = 0;   // after the closing one; 0 when it is not found
  bool odd = false;      // something on the way cannot be in a sound event: where the brackets close may be an accident
  bool cut_off = false;  // the text ends first
};
// Far larger than events are, far smaller than a damaged file: so far brackets are followed through text that looks odd.
constexpr std::size_t kBalanceBytes = 16 * 1024;
// Sound brackets are followed to their end. Beyond this they are no longer believed when other events begin inside them.
constexpr std::size_t kTrustedBytes = std::size_t{1} << 20;
Brackets follow_brackets(std::string_view text, std::size_t at);

// Position of the first event at or after `from`: "{"ph":" anywhere, or ",", "{" and another key that events begin with.
// npos when there is none (it may be cut off at the end of the text).
std::size_t find_next_event(std::string_view text, std::size_t from);
// Where a block of text can be cut: the last place where an event follows another, by its first key or, with `any_key`,
// by any. A guess.
std::size_t find_last_event(std::string_view text, bool any_key);

// Where the value at `at`, which is among the events but is not one, ends: with itself, but before anything that looks
// like an event, so that an array or a string that never closes takes no event with it. npos when more text is needed.
std::size_t find_other_end(std::string_view text, std::size_t at, bool is_last);

// Whether the ']' at `at` closes the events, or damage before it left it over.
enum class Closes : std::uint8_t { events, nothing, needs_more_text };
Closes what_closes(std::string_view text, std::size_t at, bool is_last);
// From a leftover ']' it is at most so far to the next event.
constexpr std::size_t kLookAhead = 64 * 1024;

}  // namespace gapscope
