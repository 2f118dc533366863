#pragma once
// What events are written with: numbers, keys and strings of JSON, appended to a text. Nothing of the core's own text
// functions: the recorder runs inside the recorded program and brings nothing else along.
#include <charconv>
#include <string>
#include <string_view>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

template <class Int>
void append_int(std::string& out, Int value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

// Shortest digits that give the same float again; 0 for what is no number.
void append_float(std::string& out, float value);

// The difference. Clocks that jump, or records that are none, must not overflow: at the ends of what there is.
Ns minus(Ns a, Ns b);

// Microseconds with exactly three decimals.
void append_us(std::string& out, Ns ns);

// , "KEY": and the value.
void append_key(std::string& out, std::string_view key);
template <class Int>
void append_field(std::string& out, std::string_view key, Int value) {
  append_key(out, key);
  append_int(out, value);
}

// In quotes, and valid whatever bytes `text` has: what is no UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// True for JSON without a control character: what a program wrote into its range goes into the file as it is only where the
// file stays what it is, an event a line.
bool is_json_line(std::string_view text);

}  // namespace gapscope::sampler
