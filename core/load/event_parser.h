#pragma once
// One trace event from its place in the structural index into rows of a RawChunk. Keys may come in any order, so
// everything is picked first and put down when the closing brace is reached: an event is taken whole or not at all.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/load/number_text.h"
#include "core/trace/raw_rows.h"

namespace gapscope {

class EventParser {
 public:
  static constexpr std::size_t kFailed = ~std::size_t{0};

  EventParser(LocalTables& tables, RawChunk& out) : tables_(tables), out_(out) {}

  // The text that the next events lie in. `at`: structural positions (StructuralIndex). `text_offset`: file offset of text[0].
  void set_text(std::string_view text, std::span<const std::uint32_t> at, std::uint64_t text_offset);

  // Parses the object whose '{' is at structural position `i`. Returns the structural position after its '}', or kFailed,
  // and then nothing was put down and nothing reported. `file_offset_of_event` is where the event stands in the file: the
  // text may be a repaired copy.
  std::size_t parse(std::size_t i);

  // The structural position after the value at `i`, or kFailed when it never closes.
  std::size_t skip_value(std::size_t i) const;
  // The JSON text of the value at i that ends before structural position `after`.
  std::string_view value_text(std::size_t i, std::size_t after) const {
    const std::size_t begin = at_[i];
    std::size_t end = after < at_.size() ? at_[after] : text_.size();
    while (end > begin && is_space(text_[end - 1])) --end;
    return text_.substr(begin, end - begin);
  }
  // Overrides the offset that rows get: a repaired event stands elsewhere than its text.
  void set_event_offset(std::uint64_t offset) { forced_offset_ = offset; }
  void clear_event_offset() { forced_offset_ = kNoOffset; }

 private:
  struct Fields;
  std::size_t parse_fields(std::size_t i, Fields& f);
  std::size_t parse_args(std::size_t i, Fields& f);
  void take_arg(std::string_view key, std::size_t value, std::size_t after, Fields& f);
  void put(const Fields& f);
  void put_slice(const Fields& f, Ns begin);
  void put_instant(const Fields& f, Ns time);
  void put_counter(const Fields& f, Ns time);
  void put_names(const Fields& f);
  bool take_time(std::string_view token, ParsedTime& out) const;

  static constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  // Most texts hold no backslash at all: one look at the whole spares one at every string.
  bool has_escape(std::string_view t) const { return text_has_backslash_ && t.find('\\') != std::string_view::npos; }
  char char_at(std::size_t i) const { return i < at_.size() ? text_[at_[i]] : '\0'; }
  // The scalar or string that starts at structural position i, without trailing space.
  std::string_view token(std::size_t i) const { return value_text(i, i + 1); }
  // The content of a string token, escapes resolved (into scratch_); other tokens as they are.
  std::string_view text_of(std::string_view token);
  std::uint32_t text_id(std::string_view token);
  std::uint32_t category_id(std::string_view cat);
  std::uint32_t lane_id(std::string_view pid, std::string_view tid);
  void note(Oddity kind) { out_.report.add(kind, event_offset_, event_text_); }

  LocalTables& tables_;
  RawChunk& out_;
  std::string_view text_;
  std::span<const std::uint32_t> at_;
  bool text_has_backslash_ = false;
  std::uint64_t text_offset_ = 0;
  std::uint64_t forced_offset_ = kNoOffset;
  std::uint64_t event_offset_ = 0;
  std::string_view event_text_;
  std::string scratch_;

  // The category and the lane of the event before: most events share them with their neighbour.
  std::string last_category_text_;
  std::uint32_t last_category_ = 0;
  bool has_last_category_ = false;
  std::string last_pid_, last_tid_;
  std::uint32_t last_lane_ = 0;
  bool has_last_lane_ = false;
};

// Resolves the escapes of a JSON string's content into `out`; false when an escape is invalid.
bool unescape(std::string_view content, std::string& out);

}  // namespace gapscope
