#pragma once
// A repaired copy of a damaged event.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/trace/load_report.h"

namespace gapscope {

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
