#pragma once
// A stretch of the events array into a RawChunk. Fast when all is well: one index over the whole stretch, one walk. When
// anything is wrong the stretch is read again event by event, so that a damaged event costs one event.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/load/event_parser.h"
#include "core/load/structural_index.h"

namespace gapscope {

struct BatchEnd {
  enum class How : std::uint8_t {
    between_events,  // everything was taken; the next stretch begins with an event
    array_closed,    // the ']' of the events array was met: `at` is the position after it
    unfinished,      // the event at `at` does not end in this text; only when more text may follow
  };
  How how = How::between_events;
  std::size_t at = 0;
  bool after_comma = true;  // whether a comma is between the last event taken and what follows; of between_events
};

// An event that was taken, for those who want its text.
struct TakenEvent {
  enum class What : std::uint8_t { slice, flow, half, instant, counter, no_row };  // no_row: names, and what has no rows
  std::size_t at = 0, end = 0;                                                     // its text in the stretch
  std::string mended;  // replaces that text where it could not be read as it was
  What what = What::no_row;
  Ns time = 0;             // of instants and counters
  std::uint32_t lane = 0;  // of instants and counters, in the chunk
  bool is_global = false;  // an instant over all lanes
  std::uint32_t name = 0;  // of counters, a text in the chunk
};

class BatchParser {
 public:
  explicit BatchParser(LocalTables& tables) : tables_(tables) {}

  // From now on `taken` (may be null) holds the events of the last stretch in their order.
  void record_into(std::vector<TakenEvent>* taken) { taken_ = taken; }

  // Parses the events in `text`, which begins between events at `file_offset`. `is_last`: no text follows.
  // `after_comma`: whether a comma is before it, as BatchEnd said of the text before.
  // The rows are in chunk() until the next call.
  BatchEnd parse(std::string_view text, std::uint64_t file_offset, bool is_last, bool after_comma = true);
  RawChunk& chunk() { return chunk_; }

 private:
  void clear_chunk();
  bool parse_fast(BatchEnd& end, bool is_last);
  BatchEnd parse_slow(bool is_last, bool after_comma);
  // One event at `at`; returns the position after it, or npos when more text is needed.
  std::size_t slow_event(std::size_t at, bool is_last);
  bool parse_one(std::string_view event, std::size_t at);
  bool parse_mended(std::string_view damaged, std::size_t at, std::size_t& consumed);
  std::size_t skip_leftover(std::size_t at);
  std::size_t skip_other_value(std::size_t at, bool is_last);
  void note(ImportIssue kind, std::size_t at, std::size_t end);
  void begin_record();
  void record(std::size_t at, std::size_t end, std::string mended = {});

  LocalTables& tables_;
  RawChunk chunk_;
  EventParser events_{tables_, chunk_};
  StructuralIndex whole_;
  StructuralIndex single_;
  std::string_view text_;
  std::uint64_t file_offset_ = 0;
  std::vector<TakenEvent>* taken_ = nullptr;
  std::array<std::size_t, 5> rows_before_{};  // in the chunk's tables when the last event had been recorded
};

}  // namespace gapscope
