#pragma once
// A list of places in the trace that have something in common (what a search found, the places of a finding, the slices that a
// table's row counts) as the window shows it. Held by TraceView, arranged here.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/gpu/kernel_table.h"
#include "core/base/table/columns.h"
#include "core/trace/trace.h"
#include "core/view/table/table_look.h"

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

// The words of places, made once a name and lane, not once a row: lists may have millions of rows.
class PlaceWords {
 public:
  explicit PlaceWords(const Trace& trace) : trace_(trace) {}
  const Trace& trace() const { return trace_; }
  std::string_view name(const ListPlace& place);
  std::string_view lane(LaneId lane);

 private:
  const Trace& trace_;
  std::map<std::uint32_t, std::string> names_, lanes_;
};
struct PlaceContext {
  std::shared_ptr<PlaceWords> words;
};
using PlaceRows = ListRows<ListPlace, PlaceContext>;
// Both must outlive it.
PlaceRows place_rows(const Trace& trace, const std::vector<ListPlace>& places);

// "GPU 0 / stream 7".
std::string lane_text(const Trace& trace, LaneId lane);
// Demangled; of a stretch without a slice "gap".
std::string name_text(const Trace& trace, const ListPlace& place);

struct ListState {
  std::shared_ptr<const ResultList> of;  // null: nothing has been listed
  TableLook look;

  // Made from the above and the selected time when one of them changed.
  struct Arranged {
    std::shared_ptr<const ResultList> of;
    TableLook look;
    std::optional<Span> range;
    std::vector<std::uint32_t> rows;  // positions in of->places
    DurationHistogram histogram;      // of the rows
    SliceId selection;                // that was looked for in the rows
    std::int64_t selected = -1;       // the row of it; -1: none
  } arranged;
};

// Brings `arranged` up to date. Needs a list. With a range only what begins in it is a row.
void arrange_list(const Trace& trace, ListState& state, const std::optional<Span>& range);
// The row of the slice, or -1; looked for once a selection.
std::int64_t row_of(ListState& state, SliceId selection);
// A regular expression that finds exactly this name.
std::string pattern_of_name(std::string_view name);

}  // namespace gapscope
