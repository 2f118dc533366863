#include "core/analyze/account/time_walk.h"

#include <algorithm>
#include <limits>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

constexpr std::size_t kEnough = 2048;  // 16 KB of places: twice that stays in a core's nearest cache
constexpr std::uint64_t kWidest = std::numeric_limits<std::uint32_t>::max();

// How far `t` is after `from`, which is not later: right also where the difference exceeds an Ns.
std::uint64_t after(Ns t, Ns from) { return static_cast<std::uint64_t>(t) - static_cast<std::uint64_t>(from); }

}  // namespace

TimeWindows::TimeWindows(const Trace& trace, const std::vector<RowId>& rows, std::vector<std::uint8_t> wanted,
                         std::vector<ColumnToCome> to_come)
    : trace_(trace), wanted_(std::move(wanted)), to_come_(std::move(to_come)) {
  std::uint64_t slices = 1;
  for (const RowId id : rows) {
    const Row& row = trace.row(id);
    if (row.count == 0) continue;
    heads_.push_back({trace.slices.begin[row.first], row.first, row.first + row.count});
    slices += row.count;
  }
  enough_ = std::max(kEnough, heads_.size() * 4);
  may_look_at_ = 16 * (static_cast<std::size_t>(slices) + kEnough);
  const std::uint64_t whole = after(std::max(trace.span.begin, trace.span.end), trace.span.begin);
  width_ = std::clamp<std::uint64_t>(whole / (slices / enough_ + 1), 1, kWidest);
}

bool TimeWindows::next() {
  do {
    if (rest_at_ < rest_.size()) return take_from_the_rest(), true;
    if (heads_.empty()) return false;
    if (may_look_at_ < heads_.size()) {
      sort_the_rest();
      continue;
    }
    may_look_at_ -= heads_.size();
    count_.steps += heads_.size();
    gather();
    adapt();
  } while (places_.empty());
  order();
  return true;
}

void TimeWindows::sort_the_rest() {
  for (const Head& head : heads_)
    for (std::uint32_t at = head.at; at != head.stop; ++at)
      if (wanted_[trace_.slices.category[at]]) rest_.push_back({ordered_bits(trace_.slices.begin[at]), at});
  heads_.clear();
  places_.clear();
  std::vector<Timed> other;
  radix_sort(rest_, other, [](const Timed& t) { return t.time; });  // those of one time stay in the order of their rows
  count_.steps += rest_.size();
}

void TimeWindows::take_from_the_rest() {
  places_.clear();
  begin_ = trace_.slices.begin[rest_[rest_at_].slice];
  for (; rest_at_ < rest_.size() && places_.size() < kEnough; ++rest_at_) {
    const std::uint64_t place = after(trace_.slices.begin[rest_[rest_at_].slice], begin_);
    if (place > kWidest) break;
    places_.push_back({static_cast<std::uint32_t>(place), rest_[rest_at_].slice});
  }
}

void TimeWindows::gather() {
  places_.clear();
  looked_at_ = 0;
  begin_ =
      std::min_element(heads_.begin(), heads_.end(), [](const Head& a, const Head& b) { return a.begin < b.begin; })->begin;
  const Ns* const begins = trace_.slices.begin.data();
  const std::uint16_t* const categories = trace_.slices.category.data();
  bool any_through = false;
  for (Head& head : heads_) {
    if (after(head.begin, begin_) >= width_) continue;
    std::uint32_t at = head.at;
    std::uint64_t place = after(head.begin, begin_);
    do {
      if (wanted_[categories[at]]) places_.push_back({static_cast<std::uint32_t>(place), at});
      if (++at == head.stop) break;
      place = after(begins[at], begin_);
    } while (place < width_);
    fetch(head.at, at);
    looked_at_ += at - head.at;
    head.at = at;
    if (at != head.stop)
      head.begin = begins[at];
    else
      any_through = true;
  }
  if (any_through) std::erase_if(heads_, [](const Head& head) { return head.at == head.stop; });
}

void TimeWindows::fetch(std::uint32_t first, std::uint32_t last) const {
  constexpr std::size_t kLine = 64;
  for (const ColumnToCome& c : to_come_)
    for (std::size_t at = first * c.bytes & ~(kLine - 1); at < last * c.bytes; at += kLine) __builtin_prefetch(c.data + at);
}

void TimeWindows::adapt() {
  if (looked_at_ > 2 * enough_) width_ = std::max<std::uint64_t>(1, width_ / 2);
  if (looked_at_ < enough_ / 2) width_ = std::min(kWidest, width_ * 2);
}

// They came row by row in order of slice id, and sorting keeps the order of equal ones.
void TimeWindows::order() {
  radix_sort(places_, other_, [](const Place& p) { return p.after; });
}

std::vector<RowId> all_rows(const Trace& trace) {
  std::vector<RowId> rows;
  rows.reserve(trace.rows.size());
  for (std::size_t r = 0; r < trace.rows.size(); ++r) rows.emplace_back(r);
  return rows;
}

}  // namespace gapscope
