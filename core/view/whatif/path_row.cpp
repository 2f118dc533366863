#include "core/view/whatif/path_row.h"

#include <algorithm>
#include <utility>

namespace gapscope {
namespace {

std::size_t held_at(HeldBy by) { return static_cast<std::size_t>(by); }

HeldBy most_of(const std::array<Ns, kHeldBy>& times) {
  return static_cast<HeldBy>(std::max_element(times.begin(), times.end()) - times.begin());
}

}  // namespace

PathRow::PathRow(std::vector<PathStretch> path) : path_(std::move(path)) {
  std::array<Ns, kHeldBy> sums{};
  before_.reserve(path_.size() / kBlock + 1);
  for (std::size_t i = 0; i < path_.size(); ++i) {
    if (i % kBlock == 0) before_.push_back(sums);
    sums[held_at(path_[i].by)] += path_[i].span.length();
  }
}

std::size_t PathRow::at(Ns t) const {
  const auto found = std::partition_point(path_.begin(), path_.end(), [&](const PathStretch& s) { return s.span.end <= t; });
  return found != path_.end() && found->span.begin <= t ? static_cast<std::size_t>(found - path_.begin()) : path_.size();
}

std::array<Ns, kHeldBy> PathRow::within(Span span) const {
  std::array<Ns, kHeldBy> out{};
  if (path_.empty()) return out;
  span = intersect(span, {path_.front().span.begin, path_.back().span.end});
  if (span.empty()) return out;
  const std::size_t first = at(span.begin), last = at(span.end - 1);
  const auto add = [&](std::size_t i) { out[held_at(path_[i].by)] += intersect(path_[i].span, span).length(); };
  const std::size_t block = first / kBlock + 1, end = last / kBlock;
  if (block >= end) {
    for (std::size_t i = first; i <= last; ++i) add(i);
    return out;
  }
  for (std::size_t i = first; i < block * kBlock; ++i) add(i);
  for (std::size_t b = 0; b < kHeldBy; ++b) out[b] += before_[end][b] - before_[block][b];
  for (std::size_t i = end * kBlock; i <= last; ++i) add(i);
  return out;
}

void PathRow::paint(const PixelGrid& grid, std::vector<PathRect>& out) const {
  if (path_.empty()) return;
  const Span all{path_.front().span.begin, path_.back().span.end};
  const std::size_t begin = out.size();
  for (int x = 0; x < grid.width(); ++x) {
    const Span column = intersect({grid.begin_of(x), std::max(grid.begin_of(x + 1), grid.begin_of(x) + 1)}, all);
    if (column.empty()) continue;
    const auto first = static_cast<std::uint32_t>(at(column.begin)), last = static_cast<std::uint32_t>(at(column.end - 1));
    const HeldBy by = first == last ? path_[first].by : most_of(within(column));
    std::uint32_t longest = first;
    for (std::uint32_t i = first; i <= std::min(last, first + static_cast<std::uint32_t>(kBlock)); ++i) {
      const bool fits = path_[i].by == by, before = path_[longest].by == by;
      if (fits && (!before || intersect(path_[i].span, column).length() > intersect(path_[longest].span, column).length()))
        longest = i;
    }
    PathRect* open = out.size() > begin ? &out.back() : nullptr;
    // A stretch that reaches over whole columns is a box of its own; the columns between two such ones are boxes by cause.
    const bool same = open && open->x1 == x && open->by == by && open->longest == longest;
    if (same) {
      open->x1 = x + 1;
      open->count = std::max(open->count, last - open->first + 1);
    } else {
      out.push_back({x, x + 1, by, first, last - first + 1, longest});
    }
  }
}

}  // namespace gapscope
