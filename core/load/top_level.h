#pragma once
// Everything of a trace file outside the events array: a small reader that is fed text until it has found the array,
// and again for what follows it. Values are stored as JSON text; device properties are understood.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace/load_report.h"
#include "core/trace/tables.h"

namespace gapscope {

class TopLevel {
 public:
  enum class State : std::uint8_t {
    need_more,     // feed more text
    events_begin,  // consumed() bytes lead to the first byte inside the events array
    finished,      // the closing brace (or the end of a bare array's file) was met
    not_json,      // the text at consumed() cannot be part of a JSON object or array
  };

  // Looks at `text`, which begins where the last call stopped (its consumed() bytes removed). `is_last`: no more follows.
  State feed(std::string_view text, std::uint64_t file_offset, bool is_last);
  std::size_t consumed() const { return consumed_; }
  // The events array was closed: what follows is the rest of the object, or nothing for a bare array.
  void events_ended() {
    place_ = is_object_ ? Place::after_value : Place::end;
    events_seen_ = true;
  }

  bool is_object() const { return is_object_; }
  // JSON lines: events without an array around them.
  bool is_lines() const { return is_lines_; }
  Header take_header() { return std::move(header_); }
  const Header& header() const { return header_; }
  std::uint64_t members_after_events() const { return members_after_events_; }
  std::uint64_t first_after_events() const { return first_after_events_; }
  LoadReport& report() { return report_; }
  // Keys seen, for the sentence that says what a file without events holds.
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  // Where a value ends, looked for in text that grows: what was seen is not looked at again.
  class ValueScan {
   public:
    // The position after the value that `value` begins with, or npos when it continues.
    std::size_t end(std::string_view value);

   private:
    std::size_t at_ = 0, depth_ = 0;
    bool in_string_ = false;
  };
  enum class Place : std::uint8_t { start, before_key, after_value, end };
  State step(std::string_view text, std::uint64_t file_offset, bool is_last);
  std::optional<bool> begins_with_event(std::string_view text, bool is_last);
  State take_member(std::string_view text, std::size_t at, std::uint64_t file_offset, bool is_last);
  void keep(std::string key, std::string_view value, std::uint64_t file_offset);

  Place place_ = Place::start;
  bool is_object_ = false;
  bool is_lines_ = false;
  bool events_seen_ = false;
  std::size_t consumed_ = 0;
  Header header_;
  std::unordered_map<std::string, std::size_t> place_of_key_;  // in the metadata
  ValueScan scan_;                                             // of the member at consumed_
  LoadReport report_;
  std::uint64_t members_after_events_ = 0;
  std::uint64_t first_after_events_ = 0;
  std::vector<std::string> keys_;
};

}  // namespace gapscope
