#include "core/snapshot/block_history.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

using Action = SnapshotEvent::Action;

bool is_cancelled(const std::atomic<bool>* cancel) { return cancel && *cancel; }
std::uint32_t life_of(const BlockLife& b) { return b.until - std::min(b.from, b.until); }

}  // namespace

std::optional<BlockHistory> BlockHistory::make(const Snapshot& snapshot, const SnapshotDevice& device,
                                               const std::atomic<bool>* cancel) {
  BlockHistory out;
  const auto events = static_cast<std::uint32_t>(device.events.size());
  out.replay(device, snapshot);
  if (is_cancelled(cancel)) return std::nullopt;
  out.choose_bands(snapshot, events);
  if (is_cancelled(cancel)) return std::nullopt;
  out.sum(events);
  if (is_cancelled(cancel)) return std::nullopt;
  out.group();
  return out;
}

// From the end, which is known, as state_at() does.
void BlockHistory::replay(const SnapshotDevice& device, const Snapshot& snapshot) {
  const auto count = static_cast<std::uint32_t>(device.events.size());
  std::unordered_map<std::uint64_t, std::size_t> open;  // by address
  const auto begin_life = [&](std::uint64_t address, std::int64_t size, StackId stack, std::uint32_t until) {
    open.insert_or_assign(address, blocks_.size());
    blocks_.push_back({address, size, stack, 0, until, 0, true});
  };
  for (const SnapshotSegment& s : snapshot.segments) {
    if (s.device != device.id) continue;
    for (const SnapshotBlock& b : snapshot.blocks_of(s))
      if (b.is_active()) begin_life(b.address, b.size, b.stack, count);
  }
  for (std::uint32_t i = count; i-- > 0;) {
    const SnapshotEvent& e = device.events[i];
    if (e.action == Action::free_completed) {
      begin_life(e.address, e.size, 0, i);
    } else if (e.action == Action::alloc) {
      const auto at = open.find(e.address);
      if (at == open.end()) continue;
      BlockLife& block = blocks_[at->second];
      block.from = i;
      block.before_history = false;
      if (block.stack == 0) block.stack = e.stack;
      open.erase(at);
    }
  }
  std::ranges::sort(blocks_, {}, [](const BlockLife& b) { return std::pair(b.from, b.address); });
}

// By line, what holds most for longest: bytes times events.
void BlockHistory::choose_bands(const Snapshot& snapshot, std::uint32_t events) {
  struct Line {
    std::string place;
    MemoryUseKind kind = MemoryUseKind::other;
    double area = 0;
    std::uint8_t band = 0;
  };
  std::vector<Line> lines;
  std::unordered_map<std::string, std::uint32_t> line_of_place;
  std::unordered_map<std::uint64_t, std::uint32_t> line_of_stack;
  const auto line_of = [&](const BlockLife& b) {
    const bool unknown = b.stack == 0 && b.before_history;
    const auto [known, is_new] = line_of_stack.try_emplace(std::uint64_t{b.stack} << 1 | (unknown ? 1U : 0U), 0U);
    if (is_new) {
      std::string place = holder_words(snapshot, b.stack, unknown);
      const auto [at, is_new_line] = line_of_place.try_emplace(place, static_cast<std::uint32_t>(lines.size()));
      if (is_new_line) lines.push_back({std::move(place), use_kind(snapshot, b.stack, unknown), 0, 0});
      known->second = at->second;
    }
    return known->second;
  };
  for (const BlockLife& b : blocks_)
    lines[line_of(b)].area += static_cast<double>(b.size) * (static_cast<double>(life_of(b)) + (b.until == events ? 1 : 0));
  std::vector<std::uint32_t> order(lines.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return lines[i].area; });
  const std::size_t own = order.size() <= kHolderBands ? order.size() : kHolderBands - 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Line& line = lines[order[i]];
    line.band = static_cast<std::uint8_t>(std::min(i, own));
    if (i < own) bands_.push_back({line.place, line.kind, 0});
  }
  if (own < order.size()) bands_.push_back({"other lines", MemoryUseKind::other, 0});
  for (BlockLife& b : blocks_) b.band = lines[line_of(b)].band;
}

void BlockHistory::sum(std::uint32_t events) {
  struct Delta {
    std::uint32_t event, block;
    bool frees;
  };
  Column<Delta> changes;
  Bytes now{};
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    const BlockLife& b = blocks_[i];
    if (b.before_history)
      add_saturating(now[b.band], b.size), add_saturating(first_total_, b.size);
    else
      changes.push_back({b.from, i, false});
    if (b.until < events) changes.push_back({b.until, i, true});
  }
  std::ranges::sort(changes, {}, [](const Delta& c) { return std::pair(c.event, c.block); });
  std::int64_t total = first_total_;
  events_.reserve(changes.size());
  change_bands_.reserve(changes.size());
  totals_.reserve(changes.size());
  std::int64_t most = total;
  Bytes at_most = now;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i % kBucket == 0) bucket_bytes_.push_back(now);
    const BlockLife& b = blocks_[changes[i].block];
    const std::int64_t delta = changes[i].frees ? -b.size : b.size;
    add_saturating(now[b.band], delta);
    add_saturating(total, delta);
    events_.push_back(changes[i].event);
    change_bands_.push_back(b.band);
    totals_.push_back(total);
    if (total > most) most = total, peak_ = i + 1, at_most = now;
  }
  if (bucket_bytes_.empty()) bucket_bytes_.push_back(now);
  for (std::size_t i = 0; i < bands_.size(); ++i) bands_[i].most = at_most[i];
  std::vector<std::uint32_t> level;
  for (std::size_t first = 0; first < totals_.size(); first += kBucket) {
    std::size_t best = first;
    for (std::size_t i = first; i < std::min(first + kBucket, totals_.size()); ++i)
      if (totals_[i] > totals_[best]) best = i;
    level.push_back(static_cast<std::uint32_t>(best));
  }
  while (level.size() > 1) {
    std::vector<std::uint32_t> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      const bool second = i + 1 < level.size() && totals_[level[i + 1]] > totals_[level[i]];
      next.push_back(level[second ? i + 1 : i]);
    }
    highest_.push_back(std::exchange(level, std::move(next)));
  }
  if (!level.empty()) highest_.push_back(std::move(level));
}

void BlockHistory::group() {
  const auto add = [](Group& g, const Group& more) {
    g.size = std::max(g.size, more.size);
    g.until = std::max(g.until, more.until);
    g.life = std::max(g.life, more.life);
  };
  std::vector<Group> level((blocks_.size() + kGroup - 1) / kGroup);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    add(level[i / kGroup], {blocks_[i].size, blocks_[i].until, life_of(blocks_[i])});
  while (!level.empty()) {
    std::vector<Group> next(level.size() > 1 ? (level.size() + kGroup - 1) / kGroup : 0);
    for (std::size_t i = 0; !next.empty() && i < level.size(); ++i) add(next[i / kGroup], level[i]);
    groups_.push_back(std::exchange(level, std::move(next)));
  }
}

std::size_t BlockHistory::changes_before(std::uint32_t event) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(events_, event) - events_.begin());
}

std::size_t BlockHistory::highest(std::size_t first, std::size_t last) const {
  last = std::min(last, totals_.size());
  std::size_t best = std::min(first, last);
  const auto take = [&](std::size_t changes) {
    if (total(changes) > total(best)) best = changes;
  };
  // Changes [at, last) lead to the moments after the first.
  std::size_t at = best;
  while (at < last && at % kBucket != 0) take(++at);
  while (at + kBucket <= last) {
    const std::size_t bucket = at / kBucket;
    std::size_t level = static_cast<std::size_t>(std::countr_zero(bucket | (std::size_t{1} << (highest_.size() - 1))));
    while (level > 0 && at + (kBucket << level) > last) --level;
    take(std::size_t{highest_[level][bucket >> level]} + 1);
    at += kBucket << level;
  }
  while (at < last) take(++at);
  return best;
}

BlockHistory::Bytes BlockHistory::bytes_at(std::size_t changes) const {
  const std::size_t bucket = std::min(changes / kBucket, bucket_bytes_.size() - 1);
  Bytes now = bucket_bytes_[bucket];
  for (std::size_t i = bucket * kBucket; i < changes; ++i) add_saturating(now[change_bands_[i]], total(i + 1) - total(i));
  return now;
}

std::vector<std::uint32_t> BlockHistory::blocks_in(std::uint32_t first, std::uint32_t last, std::int64_t least_bytes,
                                                   std::uint32_t least_events, std::size_t most) const {
  struct Search {
    const BlockHistory& of;
    std::uint32_t first, last;
    std::int64_t bytes;
    std::uint32_t events;
    std::size_t most;
    std::vector<std::uint32_t> found{};

    void add(std::uint32_t block) {
      found.push_back(block);
      if (found.size() < 2 * most) return;
      keep_largest();
      bytes = std::max(bytes, of.blocks_[found[most - 1]].size);
    }
    void keep_largest() {
      const std::size_t stay = std::min(most, found.size());
      const auto size = [this](std::uint32_t b) { return of.blocks_[b].size; };
      std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(stay - 1), std::ranges::greater{}, size);
      found.resize(stay);
    }
    // Group `i` of a level; false: it and all that follow begin too late.
    bool walk(std::size_t level, std::size_t i) {
      const std::size_t shift = std::bit_width(kGroup - 1) * (level + 1);
      if (of.blocks_[i << shift].from >= last) return false;
      const Group& g = of.groups_[level][i];
      if (g.until <= first || g.size < bytes || g.life < events) return true;
      if (level > 0) {
        const std::size_t end = std::min((i + 1) * kGroup, of.groups_[level - 1].size());
        for (std::size_t child = i * kGroup; child < end; ++child)
          if (!walk(level - 1, child)) break;
        return true;
      }
      const std::size_t end = std::min((i + 1) * kGroup, of.blocks_.size());
      for (std::size_t b = i * kGroup; b < end; ++b) {
        const BlockLife& block = of.blocks_[b];
        if (block.from < last && block.until > first && block.size >= bytes && life_of(block) >= events)
          add(static_cast<std::uint32_t>(b));
      }
      return true;
    }
  };
  Search search{*this, first, last, least_bytes, least_events, std::max<std::size_t>(most, 1)};
  if (!groups_.empty()) search.walk(groups_.size() - 1, 0);
  if (search.found.size() > search.most) search.keep_largest();
  return std::move(search.found);
}

}  // namespace gapscope
