#include <algorithm>
#include <limits>

#include "core/analyze/account/host_time.h"
#include "core/base/gallop.h"

namespace gapscope {
namespace {

constexpr Ns kLongAgo = std::numeric_limits<Ns>::min();

}  // namespace

HostReader::HostReader(const HostTime& host, bool reads_ahead) : host_(host), reads_ahead_(reads_ahead) {}

HostReader::LaneState& HostReader::state_of(LaneId id) {
  if (last_ != nullptr && last_lane_ == id) return *last_;
  const auto [at, is_new] = lanes_.try_emplace(id.value);
  if (is_new) {
    const Lane& lane = host_.trace_.lane(id);
    for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.depth_count; ++r)
      at->second.near.push_back(host_.trace_.rows[r].first);
  }
  last_lane_ = id;
  last_ = &at->second;
  return *last_;
}

void HostReader::read(LaneId lane, Span span, std::vector<HostPiece>& out) {
  const auto add = [&](Span part, IdleCause cause, SliceId slice) { out.push_back({part, cause, slice}); };
  each_overhead(span, add, [&](Span between) { each_on_threads(lane, between, add); });
}

std::uint64_t HostReader::add_times(LaneId lane, Span span, CauseTimes& times, const std::function<void(Span)>* uncovered) {
  std::uint64_t pieces = 0;
  const std::uint64_t before = looked_at_;
  const auto add = [&](Span part, IdleCause cause, SliceId) { times[index_of(cause)] += part.length(), ++pieces; };
  each_overhead(span, add, [&](Span between) {
    uncovered != nullptr ? each_on_lane(lane, between, add, *uncovered) : each_on_threads(lane, between, add);
  });
  return pieces + (looked_at_ - before);
}

template <class Take, class Between>
void HostReader::each_overhead(Span span, Take take, Between between) {
  const auto& overheads = host_.overheads_;
  auto at =
      std::upper_bound(overheads.begin(), overheads.end(), span.begin, [](Ns t, const HostPiece& p) { return t < p.span.end; });
  for (; at != overheads.end() && at->span.begin < span.end; ++at) {
    const Span part = intersect(at->span, span);
    if (span.begin < part.begin) between(Span{span.begin, part.begin});
    take(part, at->cause, at->slice);
    span.begin = part.end;
  }
  if (!span.empty()) between(span);
}

template <class Take>
void HostReader::each_on_threads(LaneId lane, Span span, const Take& take) {
  lane ? each_on_lane(lane, span, take, [&](Span rest) { each_on_first_thread(rest, lane, take); })
       : each_on_first_thread(span, lane, take);
}

template <class Take>
void HostReader::each_on_first_thread(Span span, LaneId asked, Take take) {
  const auto& threads = host_.first_thread_;
  auto at = std::upper_bound(threads.begin(), threads.end(), span.begin,
                             [](Ns t, const HostTime::OnThread& p) { return t < p.span.end; });
  for (; at != threads.end() && at->span.begin < span.end; ++at) {
    const Span part = intersect(at->span, span);
    if (span.begin < part.begin) take({span.begin, part.begin}, IdleCause::unrecorded, SliceId{});
    // Of lanes that are nested as LaneNester does it, never the one that was asked about.
    at->lane == asked ? take(part, IdleCause::unrecorded, SliceId{}) : each_on_lane(at->lane, part, take, [](Span) {});
    span.begin = part.end;
  }
  if (!span.empty()) take(span, IdleCause::unrecorded, SliceId{});
}

template <class Take, class Uncovered>
void HostReader::each_on_lane(LaneId lane, Span span, Take take, const Uncovered& uncovered) {
  LaneState& s = state_of(lane);
  if (span.begin < s.now || span.end > s.ready.end) make_ready(s, lane, span);
  while (s.next < s.slices.size() && s.slices[s.next].begin <= span.begin) begin_slice(s, s.slices[s.next++]);
  s.now = span.end;
  Ns now = span.begin;  // here, since what is taken may be written where `s` cannot be known not to lie
  const auto advance = [&](Ns to) {
    while (now < to) {
      while (!s.stack.empty() && s.stack.back().end <= now) s.stack.pop_back();
      const Open* const owner = s.compiles.end > now ? &s.compiles
                                : s.loads.end > now  ? &s.loads
                                : s.stack.empty()    ? nullptr
                                                     : &s.stack.back();
      const Span part{now, owner ? std::min(to, owner->end) : to};
      now = part.end;
      if (!owner) {
        uncovered(part);
      } else {
        const auto cause = owner == &s.compiles ? IdleCause::compiling
                           : owner == &s.loads  ? IdleCause::data_loading
                                                : static_cast<IdleCause>(owner->part & HostTime::kCauseBits);
        take(part, cause, SliceId(std::size_t{owner->slice}));
      }
    }
  };
  for (; s.next < s.slices.size() && s.slices[s.next].begin < span.end; ++s.next) {
    advance(s.slices[s.next].begin);
    begin_slice(s, s.slices[s.next]);
  }
  advance(span.end);
}

void HostReader::begin_slice(LaneState& s, const Open& slice) {
  while (!s.stack.empty() && s.stack.back().end <= slice.begin) s.stack.pop_back();
  s.stack.push_back(slice);
  if ((slice.part & HostTime::kCompiling) != 0 && slice.end > s.compiles.end) s.compiles = slice;
  if ((slice.part & HostTime::kLoadsData) != 0 && slice.end > s.loads.end) s.loads = slice;
}

void HostReader::take(LaneState& s, std::uint32_t slice) const {
  const Slices& slices = host_.trace_.slices;
  // Of many rows, each read here and there: what comes next is not where the processor looks for it by itself (a twelfth of an
  // account, with the order of make_fresh()).
  constexpr std::size_t kAhead = 16;
  for (const auto* column : {slices.begin.data(), slices.end.data()}) __builtin_prefetch(column + slice + kAhead);
  __builtin_prefetch(slices.name.data() + slice + kAhead);
  __builtin_prefetch(slices.category.data() + slice + kAhead);
  const Ns begin = slices.begin[slice], end = slices.end[slice];
  if (host_.is_host(slice) && begin < end) s.slices.push_back({begin, end, slice, host_.part(slice)});
}

void HostReader::make_ready(LaneState& s, LaneId id, Span span) {
  if (reads_ahead_) {
    if (s.fresh < s.enough)
      s.ahead = s.ahead > std::numeric_limits<Ns>::max() / 4 ? s.ahead : std::max(2 * s.ahead, span.length());
    if (s.fresh > 4 * s.enough) s.ahead /= 2;
  }
  s.ready = span;
  if (__builtin_add_overflow(span.begin, s.ahead, &s.ready.end)) s.ready.end = span.end;
  s.ready.end = std::max(s.ready.end, span.end);
  s.slices.clear();
  s.stack.clear();
  s.next = 0;
  s.compiles = s.loads = {0, kLongAgo, 0, 0};
  const Slices& slices = host_.trace_.slices;
  const Lane& lane = host_.trace_.lane(id);
  // What began before the stretch and continues: at most one slice a row.
  next_.resize(lane.depth_count);
  limits_.assign(std::size_t{lane.depth_count} + 1, span.begin);
  for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) {
    const Row& row = host_.trace_.rows[lane.first_row + depth];
    next_[depth] = s.near[depth] = first_that_ends_after(row, span.begin, s.near[depth]);
    if (next_[depth] == row.first + row.count || slices.begin[next_[depth]] >= span.begin) continue;
    limits_[depth + 1] = slices.end[next_[depth]];
    take(s, next_[depth]++);
  }
  const auto earlier = [](const Open& a, const Open& b) { return a.begin < b.begin; };
  if (!std::is_sorted(s.slices.begin(), s.slices.end(), earlier)) std::stable_sort(s.slices.begin(), s.slices.end(), earlier);
  const std::size_t before = s.slices.size();
  limits_[0] = s.ready.end;
  make_fresh(s, lane);
  std::uint64_t looked_at = 0;
  for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) looked_at += next_[depth] - s.near[depth];
  looked_at_ += looked_at;
  s.fresh = s.slices.size() - before;
  // As many new slices as there are rows and slices begun before, so that looking at those is paid by the new ones.
  constexpr std::size_t kEnough = 512;
  s.enough = std::max({kEnough, before, std::size_t{lane.depth_count}});
  count_.steps += lane.depth_count + looked_at;
}

// The slices that begin in the stretch, from the outer one to the inner ones, which lie a row below: LaneNester gives no slice
// a depth at whose begin nothing runs in the rows above. So they come in order of begin, and all of them, but where some
// overlap without nesting, which are put in order afterwards.
void HostReader::make_fresh(LaneState& s, const Lane& lane) {
  const Slices& slices = host_.trace_.slices;
  const std::size_t first = s.slices.size();
  for (std::uint32_t depth = lane.depth_count - 1;;) {
    const Row& row = host_.trace_.rows[lane.first_row + depth];
    const std::uint32_t at = next_[depth];
    if (at < row.first + row.count && slices.begin[at] < std::min(limits_[depth], s.ready.end)) {
      ++next_[depth];
      take(s, at);
      limits_[depth + 1] = slices.end[at];
      if (depth + 1 < lane.depth_count) ++depth;
    } else if (depth-- == 0) {
      break;
    }
  }
  const auto earlier = [](const Open& a, const Open& b) { return a.begin != b.begin ? a.begin < b.begin : a.slice < b.slice; };
  // Few are out of order, and not far: each moves to its place, unless that takes many steps after all.
  std::size_t steps = 8 * (s.slices.size() - first);
  for (std::size_t i = first + 1; i < s.slices.size(); ++i)
    for (std::size_t at = i; at > first && earlier(s.slices[at], s.slices[at - 1]); --at) {
      if (steps-- == 0) return std::sort(s.slices.begin() + static_cast<std::ptrdiff_t>(first), s.slices.end(), earlier);
      std::swap(s.slices[at], s.slices[at - 1]);
    }
}

std::uint32_t HostReader::first_that_ends_after(const Row& row, Ns t, std::uint32_t near) const {
  const Ns* const ends = host_.trace_.slices.end.data();
  const std::uint32_t stop = row.first + row.count;
  if (near > row.first && ends[near - 1] > t) near = row.first;  // an earlier question than the last one
  return static_cast<std::uint32_t>(first_where(near, stop, [&](std::size_t i) { return ends[i] > t; }));
}

}  // namespace gapscope
