#pragma once
// Slices of some kinds over all lanes in the order of (begin, slice id). Rows hold theirs in order, so nothing is sorted as
// a whole: time is cut into windows of a few thousand slices, what each row has there is put together and ordered by its
// place in the window, byte by byte, while it is in the cache. O(1) a slice, no memory that grows with the trace. Where windows
// hold so little that looking at every row for each would take too long, what is left is sorted as a whole after all.
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/counted_steps.h"
#include "core/trace/trace.h"

namespace gapscope {

// One byte a category of the trace: 1 where `wants` its kind.
template <class Wants>
std::vector<std::uint8_t> categories_of(const Trace& trace, Wants wants) {
  std::vector<std::uint8_t> wanted;
  wanted.reserve(trace.categories.size());
  for (const Category& c : trace.categories) wanted.push_back(wants(c.kind) ? 1 : 0);
  return wanted;
}

// A column that will be asked for the slices of a window one by one: the processor learns early what of it will be needed.
struct ColumnToCome {
  const char* data;
  std::size_t bytes;  // an element
};
template <class Rows>
ColumnToCome column_to_come(const Rows& column) {
  return {reinterpret_cast<const char*>(column.data()), sizeof(typename Rows::value_type)};
}

class TimeWindows {
 public:
  struct Place {
    std::uint32_t after;  // ns since the window's begin
    std::uint32_t slice;
  };
  // Of `rows` only slices whose category is wanted. Refers to the trace.
  TimeWindows(const Trace& trace, const std::vector<RowId>& rows, std::vector<std::uint8_t> wanted,
              std::vector<ColumnToCome> to_come = {});

  // The next window that holds slices; false at the end.
  bool next();
  Ns begin() const { return begin_; }
  std::span<const Place> places() const { return places_; }

 private:
  struct Head {
    Ns begin;
    std::uint32_t at, stop;
  };
  void gather();
  void sort_the_rest();
  void take_from_the_rest();
  void fetch(std::uint32_t first, std::uint32_t last) const;
  void order();
  void adapt();

  const Trace& trace_;
  const std::vector<std::uint8_t> wanted_;
  const std::vector<ColumnToCome> to_come_;
  std::vector<Head> heads_;  // rows in order of their slices, those that are not yet through
  Ns begin_ = 0;
  std::uint64_t width_;  // ns; less than 2^32
  std::size_t enough_;   // slices looked at in a window: far more make the next one narrower, far fewer wider
  std::size_t looked_at_ = 0;
  std::size_t may_look_at_;  // rows, for all windows together
  std::vector<Place> places_, other_;
  struct Timed {
    std::uint64_t time;  // ordered_bits()
    std::uint32_t slice;
  };
  std::vector<Timed> rest_;  // in order, once it was sorted
  std::size_t rest_at_ = 0;
  StepCount count_;
};

// Calls visit(slice, begin).
template <class Visit>
void walk_by_time(const Trace& trace, const std::vector<RowId>& rows, std::vector<std::uint8_t> wanted,
                  std::vector<ColumnToCome> to_come, Visit visit) {
  for (TimeWindows windows(trace, rows, std::move(wanted), std::move(to_come)); windows.next();)
    for (const TimeWindows::Place p : windows.places()) visit(SliceId(p.slice), windows.begin() + p.after);
}

std::vector<RowId> all_rows(const Trace& trace);

}  // namespace gapscope
