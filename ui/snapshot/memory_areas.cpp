#include "ui/snapshot/memory_areas.h"

#include <algorithm>

#include "core/base/saturating.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostBlocks = 1500;   // that are distinguished at a time
constexpr std::int64_t kLeastHeight = 2;    // px of a block that is
constexpr double kLeastWidth = 1.5;         // likewise
constexpr double kLeastWidthByTime = 0.25;  // of the mean: events are not evenly distributed in time
constexpr std::int64_t kBeforeAll = -1;     // as an event

// The last event that a moment has seen.
std::int64_t last_event(const BlockHistory& history, std::size_t changes) {
  return changes == 0 ? kBeforeAll : std::int64_t{history.event_of(changes - 1)};
}

class AreaStacking {
 public:
  AreaStacking(const BlockHistory& history, std::uint32_t columns) : history_(history), columns_(columns) {}

  MemoryAreas run(const MemoryAxis& axis, const TimeView& view, std::int64_t pixel) {
    choose_moments(axis, view);
    choose_blocks(axis, view, pixel);
    low_.assign(columns_, 0);
    for (std::size_t band = 0; band < history_.bands().size(); ++band) stack(static_cast<std::uint8_t>(band));
    return std::move(areas_);
  }

 private:
  void choose_moments(const MemoryAxis& axis, const TimeView& view) {
    std::size_t before = 0;
    for (std::uint32_t c = 0; c <= columns_; ++c) {
      const std::uint32_t event = axis.event_at(ns_from_px(view, columns_, c));
      const std::size_t changes = std::max(before, history_.changes_before(event));
      if (c > 0) areas_.moments.push_back(history_.highest(before, changes));
      before = changes;
    }
    bytes_.reserve(columns_);
    events_.reserve(columns_);
    for (std::uint32_t c = 0; c < columns_; ++c) {
      const std::size_t moment = areas_.moments[c];
      bytes_.push_back(c > 0 && moment == areas_.moments[c - 1] ? bytes_.back() : history_.bytes_at(moment));
      events_.push_back(last_event(history_, moment));
    }
  }

  void choose_blocks(const MemoryAxis& axis, const TimeView& view, std::int64_t pixel) {
    const std::uint32_t first = axis.event_at(view.span.begin), last = axis.event_at(view.span.end);
    const double per_px = static_cast<double>(last - std::min(first, last)) / columns_;
    const auto least = static_cast<std::uint32_t>(per_px * (axis.by_time() ? kLeastWidthByTime : kLeastWidth));
    blocks_ = history_.blocks_in(first - std::min(first, 1U), last + 1, pixel * kLeastHeight, least, kMostBlocks);
    const auto& all = history_.blocks();
    std::ranges::sort(blocks_, [&](std::uint32_t a, std::uint32_t b) {
      if (all[a].band != all[b].band) return all[a].band < all[b].band;
      return all[a].size != all[b].size ? all[a].size > all[b].size : a < b;
    });
  }

  // Columns whose moments lie in the life of the block.
  std::pair<std::uint32_t, std::uint32_t> columns_of(const BlockLife& block) const {
    const std::int64_t from = block.before_history ? kBeforeAll : std::int64_t{block.from};
    const auto at = [&](std::int64_t event) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(events_, event) - events_.begin());
    };
    return {at(from), at(block.until)};
  }

  void add(std::uint8_t band, std::uint32_t block, std::uint32_t column, std::int64_t low, std::int64_t high) {
    if (!areas_.runs.empty()) {
      AreaRun& last = areas_.runs.back();
      if (last.band == band && last.block == block && last.last == column && last.low == low && last.high == high) {
        ++last.last;
        return;
      }
    }
    areas_.runs.push_back({band, block, column, column + 1, low, high});
  }

  void stack(std::uint8_t band) {
    std::vector<std::int64_t> top = low_;
    for (; next_ < blocks_.size() && history_.blocks()[blocks_[next_]].band == band; ++next_) {
      const BlockLife& block = history_.blocks()[blocks_[next_]];
      const auto [first, last] = columns_of(block);
      for (std::uint32_t c = first; c < last; ++c) {
        const std::int64_t low = top[c];
        add_saturating(top[c], block.size);
        add(band, blocks_[next_], c, low, top[c]);
      }
    }
    for (std::uint32_t c = 0; c < columns_; ++c) {
      const std::int64_t end = sum_saturating(low_[c], bytes_[c][band]);
      if (end > top[c]) add(band, AreaRun::kRest, c, top[c], end);
      low_[c] = std::max(end, top[c]);
    }
  }

  const BlockHistory& history_;
  const std::uint32_t columns_;
  MemoryAreas areas_;
  std::vector<BlockHistory::Bytes> bytes_;  // of each column
  std::vector<std::int64_t> events_;        // likewise: the last one that its moment has seen
  std::vector<std::int64_t> low_;           // where the next band begins
  std::vector<std::uint32_t> blocks_;
  std::size_t next_ = 0;
};

}  // namespace

Ns MemoryAxis::since_begin(std::int64_t time_us) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // microseconds: 35 years
  const std::int64_t begin = device_.events.empty() ? 0 : device_.events.front().time_us;
  return std::clamp(time_us - begin, -kMost, kMost) * 1000;
}

Span MemoryAxis::reach() const {
  if (device_.events.empty()) return {0, kEvent};
  if (!by_time_) return {0, static_cast<Ns>(device_.events.size()) * kEvent};
  return {0, std::max<Ns>(since_begin(device_.events.back().time_us), 0) + 1000};
}

std::uint32_t MemoryAxis::event_at(Ns position) const {
  const auto count = static_cast<Ns>(device_.events.size());
  if (!by_time_) return static_cast<std::uint32_t>(std::clamp<Ns>((std::max<Ns>(position, 0) + kEvent - 1) / kEvent, 0, count));
  const auto at = std::partition_point(device_.events.begin(), device_.events.end(),
                                       [&](const SnapshotEvent& e) { return since_begin(e.time_us) < position; });
  return static_cast<std::uint32_t>(at - device_.events.begin());
}

Ns MemoryAxis::position_of(std::uint32_t event) const {
  if (!by_time_) return Ns{event} * kEvent;
  return event < device_.events.size() ? since_begin(device_.events[event].time_us) : reach().end;
}

Ns MemoryAxis::position_at(std::int64_t time_us) const {
  const Ns time = since_begin(time_us);
  return by_time_ ? time : position_of(MemoryAxis(device_, true).event_at(time));
}

MemoryAreas memory_areas(const BlockHistory& history, const MemoryAxis& axis, const TimeView& view, std::uint32_t columns,
                         std::int64_t pixel) {
  return AreaStacking(history, std::max(columns, 1U)).run(axis, view, std::max<std::int64_t>(pixel, 1));
}

const AreaRun* run_at(const MemoryAreas& areas, std::uint32_t column, std::int64_t bytes) {
  for (const AreaRun& run : areas.runs)
    if (run.first <= column && column < run.last && run.low <= bytes && bytes < run.high) return &run;
  return nullptr;
}

}  // namespace gapscope
