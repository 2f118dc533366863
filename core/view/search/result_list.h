#pragma once
// A list of places in the trace that have something in common (what a search found, the places of a finding, the slices that a
// table's row counts) as the window shows it. Held by TraceView, arranged here.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/gpu/kernel_table.h"
#include "core/trace/trace.h"

namespace gapscope {

// A slice, or a stretch of a lane in which there is none.
struct ListPlace {
  SliceId slice;
  LaneId lane;
  Span span;
};
ListPlace place_of(const Trace& trace, SliceId slice);

struct ResultList {
  std::string title;              // what they have in common: "gemm", "aten::mm"
  std::vector<ListPlace> places;  // in order of begin
};
ResultList list_of_slices(const Trace& trace, std::string title, const std::vector<SliceId>& slices);

enum class ListColumn : std::uint8_t { name, lane, begin, duration, count_ };
struct ListColumnText {
  const char* title;
  const char* help;
};
ListColumnText column_text(ListColumn column);

struct ListOrder {
  ListColumn column = ListColumn::begin;
  bool descending = false;
  friend bool operator==(const ListOrder&, const ListOrder&) = default;
};

// "GPU 0 / stream 7".
std::string lane_text(const Trace& trace, LaneId lane);
// Demangled; of a stretch without a slice "gap".
std::string name_text(const Trace& trace, const ListPlace& place);

struct ListState {
  std::shared_ptr<const ResultList> of;  // null: nothing has been listed
  std::string filter;
  ListOrder order;

  // Made from the above and the selected time when one of them changed.
  struct Arranged {
    std::shared_ptr<const ResultList> of;
    std::string filter;
    ListOrder order;
    std::optional<Span> range;
    std::vector<std::uint32_t> rows;  // positions in of->places
    DurationHistogram histogram;      // of the rows
    Ns total = 0;                     // sum of their durations
    SliceId selection;                // that was looked for in the rows
    std::int64_t selected = -1;       // the row of it; -1: none
  } arranged;
};

// Brings `arranged` up to date. Needs a list. With a range only what begins in it is a row.
void arrange_list(const Trace& trace, ListState& state, const std::optional<Span>& range);
// The row of the slice, or -1; looked for once a selection.
std::int64_t row_of(ListState& state, SliceId selection);
// The rows in their order, with a header line; times in nanoseconds, begins from the trace's begin.
std::string list_csv(const Trace& trace, const ListState& state);

// A regular expression that finds exactly this name.
std::string pattern_of_name(std::string_view name);

}  // namespace gapscope
