#include "core/snapshot/replay.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

using Action = SnapshotEvent::Action;

struct Range {
  std::uint64_t end = 0;
  SnapshotPool pool;  // without sums
};
using Ranges = std::map<std::uint64_t, Range>;  // by begin; none overlaps another in a sound file

constexpr std::uint64_t kRounding = 512;                       // a block's size is a multiple
constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;  // what the small pool asks the device for

std::uint64_t end_of(std::uint64_t begin, std::int64_t size) {
  const auto bytes = static_cast<std::uint64_t>(size);
  return begin + std::min(bytes, ~begin);
}

void take_out(Ranges& ranges, std::uint64_t begin, std::uint64_t end) {
  auto at = ranges.upper_bound(begin);
  if (at != ranges.begin()) --at;
  while (at != ranges.end() && at->first < end) {
    const auto [from, range] = *at;
    if (range.end <= begin) {
      ++at;
      continue;
    }
    at = ranges.erase(at);
    if (from < begin) ranges.emplace(from, Range{begin, range.pool});
    if (range.end > end) ranges.emplace(end, Range{range.end, range.pool});
  }
}

// `joins`: with its neighbours where these are of the same pool: an expandable segment grows and shrinks in pieces.
void put_in(Ranges& ranges, std::uint64_t begin, Range range, bool joins) {
  take_out(ranges, begin, range.end);
  if (begin >= range.end) return;
  const auto fits = [&](const Range& other) {
    return joins && other.pool.is_expandable && other.pool.stream == range.pool.stream;
  };
  auto next = ranges.lower_bound(begin);
  if (next != ranges.begin()) {
    const auto before = std::prev(next);
    if (before->second.end == begin && fits(before->second)) {
      begin = before->first;
      range.pool = before->second.pool;
      ranges.erase(before);
    }
  }
  if (next != ranges.end() && next->first == range.end && fits(next->second)) {
    range.end = next->second.end;
    range.pool = next->second.pool;
    ranges.erase(next);
  }
  ranges.emplace(begin, range);
}

SnapshotPool pool_of(const SnapshotSegment& s) {
  return {.is_large = s.is_large, .is_expandable = s.is_expandable, .stream = s.stream, .graph_pool = s.pool};
}

class Undoing {
 public:
  Undoing(const Snapshot& snapshot, const SnapshotDevice& device) : snapshot_(snapshot), device_(device) {
    const auto first = std::ranges::lower_bound(snapshot.segments, device.id, {}, &SnapshotSegment::device);
    for (auto at = first; at != snapshot.segments.end() && at->device == device.id; ++at) {
      const SnapshotSegment& s = *at;
      ranges_.insert_or_assign(s.address, Range{end_of(s.address, s.total), pool_of(s)});
      for (const SnapshotBlock& b : snapshot.blocks_of(s))
        if (b.is_active()) held_.insert_or_assign(b.address, HeldBlock{b.address, b.size, b.stack, kBeforeHistory});
    }
    state_.totals = device.totals;
  }

  void undo(const SnapshotEvent& e) {
    SnapshotTotals& t = state_.totals;
    switch (e.action) {
      case Action::alloc:
        subtract_saturating(t.allocated, e.size);
        subtract_saturating(t.active, e.size);
        subtract_saturating(t.requested, e.size);
        held_.erase(e.address);
        break;
      case Action::free_requested:
        add_saturating(t.allocated, e.size);
        add_saturating(t.requested, e.size);
        break;
      case Action::free_completed:
        add_saturating(t.active, e.size);
        held_.insert_or_assign(e.address, HeldBlock{e.address, e.size, 0, kBeforeHistory});
        break;
      case Action::segment_alloc:
      case Action::segment_map:
        subtract_saturating(t.reserved, e.size);
        take_out(ranges_, e.address, end_of(e.address, e.size));
        break;
      case Action::segment_free:
      case Action::segment_unmap: {
        const bool expands = e.action == Action::segment_unmap;
        add_saturating(t.reserved, e.size);
        SnapshotPool pool{.is_large = e.size != kSmallSegment, .is_expandable = expands, .stream = snapshot_.streams[e.stream]};
        put_in(ranges_, e.address, Range{end_of(e.address, e.size), pool}, expands);
        break;
      }
      default: break;
    }
  }

  SnapshotState state(std::optional<std::uint32_t> event) {
    for (const auto& [address, block] : held_) state_.held.push_back(block);
    std::ranges::sort(state_.held, {}, &HeldBlock::address);
    name_blocks(event);
    if (event) {
      state_.totals.blocks = state_.held.size();
      state_.totals.segments = ranges_.size();
      state_.totals.largest_free = state_.totals.free = state_.totals.split_free = 0;
    }
    sum_pools(event.has_value());
    return std::move(state_);
  }

 private:
  // Each block by the last allocation at its address.
  void name_blocks(std::optional<std::uint32_t> event) {
    std::unordered_map<std::uint64_t, HeldBlock*> open;
    for (HeldBlock& block : state_.held) open.emplace(block.address, &block);
    std::size_t i = event ? std::size_t{*event + 1U} : device_.events.size();  // 0 before the history
    while (i-- > 0 && !open.empty()) {
      const SnapshotEvent& e = device_.events[i];
      if (e.action != Action::alloc) continue;
      const auto at = open.find(e.address);
      if (at == open.end()) continue;
      at->second->allocated_by = static_cast<std::uint32_t>(i);
      if (at->second->stack == 0) at->second->stack = e.stack;
      open.erase(at);
    }
  }

  void sum_pools(bool counts_holes) {
    std::size_t next = 0;
    for (const auto& [begin, range] : ranges_) {
      SnapshotPool& pool = pool_like(range.pool);
      state_.segments.push_back({begin, range.end, static_cast<std::size_t>(&pool - state_.pools.data())});
      add_saturating(pool.reserved, static_cast<std::int64_t>(range.end - begin));
      std::uint64_t at = begin;
      std::int64_t free_here = 0;
      bool holds = false;
      const auto hole_until = [&](std::uint64_t end) {
        if (end <= at) return;
        const auto hole = static_cast<std::int64_t>(end - at);
        pool.largest_free = std::max(pool.largest_free, hole);
        add_saturating(free_here, hole);
        if (counts_holes) ++state_.totals.blocks, state_.totals.largest_free = std::max(state_.totals.largest_free, hole);
      };
      while (next < state_.held.size() && state_.held[next].address < begin) ++next;
      for (; next < state_.held.size() && state_.held[next].address < range.end; ++next) {
        const HeldBlock& block = state_.held[next];
        holds = true;
        add_saturating(pool.held, block.size);
        hole_until(block.address);
        at = std::max(at, std::min(range.end, rounded_end(block)));
      }
      hole_until(range.end);
      if (!counts_holes) continue;
      add_saturating(state_.totals.free, free_here);
      if (holds) add_saturating(state_.totals.split_free, free_here);
    }
  }
  SnapshotPool& pool_like(const SnapshotPool& like) {
    const auto [at, is_new] = pool_rows_.try_emplace({like.is_large, like.stream, like.graph_pool}, state_.pools.size());
    if (is_new) state_.pools.push_back(like);
    SnapshotPool& pool = state_.pools[at->second];
    pool.is_expandable = pool.is_expandable || like.is_expandable;
    return pool;
  }

  const Snapshot& snapshot_;
  const SnapshotDevice& device_;
  Ranges ranges_;
  std::unordered_map<std::uint64_t, HeldBlock> held_;
  SnapshotState state_;
  std::map<std::tuple<bool, std::uint64_t, StringId>, std::size_t> pool_rows_;
};

}  // namespace

std::uint64_t rounded_end(const HeldBlock& block) {
  const std::uint64_t end = end_of(block.address, block.size);
  return end + std::min((kRounding - end % kRounding) % kRounding, ~end);
}

SnapshotPeak peak_of(const SnapshotDevice& device) {
  SnapshotPeak peak{device.totals.active, {}};
  std::int64_t held = device.totals.active;  // after event i
  for (std::size_t i = device.events.size(); i-- > 0;) {
    const SnapshotEvent& e = device.events[i];
    if (e.action == Action::free_completed) {
      add_saturating(held, e.size);
      if (held > peak.bytes) peak = {held, {}};
    } else if (e.action == Action::alloc) {
      if (held == peak.bytes) peak.event = static_cast<std::uint32_t>(i);
      subtract_saturating(held, e.size);
    }
  }
  if (held == peak.bytes) peak.event.reset();  // as much was held when the history began
  return peak;
}

SnapshotState state_at(const Snapshot& snapshot, const SnapshotDevice& device, std::optional<std::uint32_t> event) {
  Undoing undoing(snapshot, device);
  if (event)
    for (std::size_t i = device.events.size(); i-- > std::size_t{*event + 1U};) undoing.undo(device.events[i]);
  return undoing.state(event);
}

}  // namespace gapscope
