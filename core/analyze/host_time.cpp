#include "core/analyze/host_time.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <tuple>

namespace gapscope {
namespace {

constexpr std::uint8_t kCauseBits = 0x0F, kCompiling = 0x10, kLoadsData = 0x20, kNoPart = 0xFF;
constexpr Ns kNever = std::numeric_limits<Ns>::min();

enum class NameUse : std::uint8_t { op, other, call, overhead, none };

NameUse use_of(Kind kind) {
  switch (kind) {
    case Kind::op: return NameUse::op;
    case Kind::annotation:
    case Kind::python: return NameUse::other;
    case Kind::runtime:
    case Kind::driver: return NameUse::call;
    case Kind::overhead: return NameUse::overhead;
    default: return NameUse::none;
  }
}

std::uint8_t part_of(NameUse use, std::string_view name) {
  const IdleCause cause = use == NameUse::call                                            ? cause_of_call(name)
                          : use == NameUse::op && !name.starts_with("ProfilerStep#") ? IdleCause::op
                                                                                     : IdleCause::python;
  return static_cast<std::uint8_t>(index_of(cause) | (is_compile_frame_name(name) ? kCompiling : 0) |
                                   (name.starts_with("enumerate(DataLoader)") ? kLoadsData : 0));
}

// The pieces of overhead slices, each moment given to the slice that began first.
std::vector<HostPiece> disjoint(const Trace& trace, std::vector<SliceId> slices, IdleCause cause) {
  std::sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); });
  std::vector<HostPiece> out;
  for (const SliceId s : slices) {
    Span span = trace.span_of(s);
    if (!out.empty()) span.begin = std::max(span.begin, out.back().span.end);
    if (!span.empty()) out.push_back({span, cause, s});
  }
  return out;
}

// `pieces` and, where there are none of them, `others`. Both disjoint and in time order.
std::vector<HostPiece> put_over(const std::vector<HostPiece>& pieces, const std::vector<HostPiece>& others) {
  std::vector<HostPiece> out;
  auto at = pieces.begin();
  for (HostPiece other : others) {
    if (!out.empty()) other.span.begin = std::max(other.span.begin, out.back().span.end);
    for (; at != pieces.end() && at->span.begin < other.span.end; ++at) {
      if (at->span.begin > other.span.begin) out.push_back({{other.span.begin, at->span.begin}, other.cause, other.slice});
      out.push_back(*at);
      other.span.begin = std::max(other.span.begin, at->span.end);
    }
    if (!other.span.empty()) out.push_back(other);
  }
  out.insert(out.end(), at, pieces.end());
  return out;
}

}  // namespace

HostTime::HostTime(const Trace& trace) : trace_(trace), part_(trace.slice_count(), kNoPart) {
  read_slices();
  order_threads();
}

// One pass, lane by lane; a name is looked at once for each use.
void HostTime::read_slices() {
  std::vector<NameUse> uses;
  for (const Category& c : trace_.categories) uses.push_back(use_of(c.kind));
  std::array<std::vector<std::uint8_t>, 3> part_of_name;  // by NameUse
  for (auto& parts : part_of_name) parts.assign(trace_.strings.size(), kNoPart);
  std::vector<std::pair<std::uint64_t, LaneId>> counted;
  std::vector<SliceId> overheads;
  SliceId last;
  Ns end_of_others = kNever;
  bool any = false;
  for (std::size_t l = 0; l < trace_.lanes.size(); ++l) {
    const Lane& lane = trace_.lanes[l];
    if (lane.is_async) continue;
    std::uint64_t count = 0;
    for (std::uint32_t i = lane.first_slice; i < lane.first_slice + lane.slice_count; ++i) {
      const NameUse use = uses[trace_.slices.category[i]];
      if (use == NameUse::overhead) overheads.emplace_back(std::size_t{i});
      if (use >= NameUse::overhead) continue;
      ++count;
      const StringId name = trace_.slices.name[i];
      std::uint8_t& part = part_of_name[static_cast<std::size_t>(use)][name.index()];
      if (part == kNoPart) part = part_of(use, trace_.strings[name]);
      part_[i] = part;
      const Span span{trace_.slices.begin[i], trace_.slices.end[i]};
      recorded_.begin = any ? std::min(recorded_.begin, span.begin) : span.begin;
      if (!any || span.end > trace_.end(last)) {
        if (any) end_of_others = trace_.end(last);
        last = SliceId(std::size_t{i});
      } else {
        end_of_others = std::max(end_of_others, span.end);
      }
      any = true;
    }
    if (count > 0) counted.emplace_back(count, LaneId(l));
  }
  if (any) {
    const bool closes = use_of(trace_.kind(last)) == NameUse::call && trace_.name(last).ends_with("DeviceSynchronize");
    recorded_.end = std::max(recorded_.begin, closes ? end_of_others : trace_.end(last));
  }
  const auto key = [&](LaneId l) { return std::pair<std::string_view, std::string_view>(trace_.processes[trace_.lane(l).process.index()].key, trace_.lane(l).key); };
  std::sort(counted.begin(), counted.end(), [&](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : key(a.second) < key(b.second); });
  for (const auto& [count, lane] : counted) threads_.push_back(lane);
  gather_overheads(overheads);
}

// Where a lane has any slice. Deeper rows mostly lie in those above.
SpanSet HostTime::coverage(LaneId id) const {
  const Lane& lane = trace_.lane(id);
  SpanSet covered;
  bool all_in_first_row = lane.overlapping == 0;
  for (std::uint32_t depth = 0; depth < lane.depth_count && (depth == 0 || !all_in_first_row); ++depth) {
    const Row& row = trace_.rows[lane.first_row + depth];
    if (row.count == 0) continue;
    SpanSet more;
    auto at = std::upper_bound(covered.begin(), covered.end(), trace_.slices.begin[row.first], [](Ns t, Span s) { return t < s.end; });
    for (std::uint32_t i = row.first; i < row.first + row.count; ++i) {
      const Span span{trace_.slices.begin[i], trace_.slices.end[i]};
      if (part_[i] == kNoPart) {
        all_in_first_row = false;
        continue;
      }
      while (at != covered.end() && at->end <= span.begin) ++at;
      if (at == covered.end() || !at->contains(span)) append(more, span);
    }
    if (!more.empty()) covered = unite(covered, more);
  }
  return covered;
}

// At each instant the first thread in order that has a slice there: a sweep with the threads that go on in a heap.
void HostTime::order_threads() {
  struct Cover {
    Span span;
    std::uint32_t rank;
    bool operator<(const Cover& o) const { return rank > o.rank; }  // a heap gives the greatest first
  };
  std::vector<Cover> covers;
  for (std::uint32_t rank = 0; rank < threads_.size(); ++rank)
    for (const Span span : coverage(threads_[rank])) covers.push_back({span, rank});
  std::sort(covers.begin(), covers.end(), [](const Cover& a, const Cover& b) { return a.span.begin < b.span.begin; });
  std::priority_queue<Cover> open;
  Ns now = kNever;
  const auto advance = [&](Ns to) {
    while (now < to) {
      while (!open.empty() && open.top().span.end <= now) open.pop();
      if (open.empty()) break;
      const Ns stop = std::min(to, open.top().span.end);
      first_thread_.push_back({{now, stop}, threads_[open.top().rank]});
      now = stop;
    }
    now = to;
  };
  for (const Cover& cover : covers) {
    advance(cover.span.begin);
    open.push(cover);
  }
  advance(std::numeric_limits<Ns>::max());
}

void HostTime::gather_overheads(const std::vector<SliceId>& slices) {
  std::vector<SliceId> loading, other;
  for (const SliceId s : slices) (trace_.name(s).find("Loading") != std::string_view::npos ? loading : other).push_back(s);
  overheads_ = put_over(disjoint(trace_, std::move(loading), IdleCause::loading), disjoint(trace_, std::move(other), IdleCause::profiler));
}

HostReader::HostReader(const HostTime& host) : host_(host), near_(host.trace_.rows.size()) {
  for (std::size_t r = 0; r < near_.size(); ++r) near_[r] = host.trace_.rows[r].first;
}

void HostReader::read(LaneId lane, Span span, std::vector<HostPiece>& out) {
  const auto& overheads = host_.overheads_;
  auto at = std::upper_bound(overheads.begin(), overheads.end(), span.begin, [](Ns t, const HostPiece& p) { return t < p.span.end; });
  for (; at != overheads.end() && at->span.begin < span.end; ++at) {
    const HostPiece piece{intersect(at->span, span), at->cause, at->slice};
    if (span.begin < piece.span.begin) read_threads(lane, {span.begin, piece.span.begin}, out);
    out.push_back(piece);
    span.begin = piece.span.end;
  }
  if (!span.empty()) read_threads(lane, span, out);
}

void HostReader::read_threads(LaneId lane, Span span, std::vector<HostPiece>& out) {
  if (lane)
    read_lane(lane, span, rooms_[0], out, [&](Span rest) { read_first_thread(rest, out); });
  else
    read_first_thread(span, out);
}

void HostReader::read_first_thread(Span span, std::vector<HostPiece>& out) {
  const auto& threads = host_.first_thread_;
  auto at = std::upper_bound(threads.begin(), threads.end(), span.begin, [](Ns t, const HostTime::OnThread& p) { return t < p.span.end; });
  for (; at != threads.end() && at->span.begin < span.end; ++at) {
    const Span part = intersect(at->span, span);
    if (span.begin < part.begin) out.push_back({{span.begin, part.begin}, IdleCause::unrecorded, {}});
    read_lane(at->lane, part, rooms_[1], out, [](Span) {});
    span.begin = part.end;
  }
  if (!span.empty()) out.push_back({span, IdleCause::unrecorded, {}});
}

std::uint32_t HostReader::first_that_ends_after(const Row& row, Ns t, std::uint32_t near) const {
  const Ns* const ends = host_.trace_.slices.end.data();
  const std::uint32_t stop = row.first + row.count;
  if (near > row.first && ends[near - 1] > t) near = row.first;  // an earlier question than the last one
  std::uint32_t step = 1;
  while (near < stop && ends[near] <= t) {  // in steps that grow
    const std::uint32_t next = std::min(stop, near + step);
    if (ends[next - 1] > t) return static_cast<std::uint32_t>(std::upper_bound(ends + near, ends + next, t) - ends);
    near = next;
    step *= 2;
  }
  return near;
}

// The lane's slices in the stretch in order of begin, an outer one before an inner one.
void HostReader::gather(LaneId id, Span span, std::vector<Open>& found) {
  const Slices& slices = host_.trace_.slices;
  const Lane& lane = host_.trace_.lane(id);
  found.clear();
  for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.depth_count; ++r) {
    const Row& row = host_.trace_.rows[r];
    const std::uint32_t stop = row.first + row.count;
    near_[r] = first_that_ends_after(row, span.begin, near_[r]);
    for (std::uint32_t i = near_[r]; i < stop && slices.begin[i] < span.end; ++i)
      if (host_.part_[i] != kNoPart && slices.begin[i] < slices.end[i]) found.push_back({slices.begin[i], slices.end[i], i});
  }
  const auto outer_first = [&](const Open& a, const Open& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return slices.offset[a.slice] < slices.offset[b.slice];
  };
  if (!std::is_sorted(found.begin(), found.end(), outer_first)) std::sort(found.begin(), found.end(), outer_first);
}

template <class Uncovered>
void HostReader::read_lane(LaneId lane, Span span, Room& room, std::vector<HostPiece>& out, Uncovered uncovered) {
  gather(lane, span, room.inside);
  Open compiles{0, kNever, 0}, loads{0, kNever, 0};  // the one that ends last
  std::vector<Open>& stack = room.stack;             // in order of begin: the last one that has not ended is the innermost
  stack.clear();
  Ns now = span.begin;
  const auto advance = [&](Ns to) {
    while (now < to) {
      while (!stack.empty() && stack.back().end <= now) stack.pop_back();
      const Open* const owner = compiles.end > now ? &compiles : loads.end > now ? &loads : stack.empty() ? nullptr : &stack.back();
      const Ns stop = owner ? std::min(to, owner->end) : to;
      if (!owner) {
        uncovered(Span{now, stop});
      } else {
        const auto cause = owner == &compiles ? IdleCause::compiling
                           : owner == &loads  ? IdleCause::data_loading
                                              : static_cast<IdleCause>(host_.part_[owner->slice] & kCauseBits);
        out.push_back({{now, stop}, cause, SliceId(std::size_t{owner->slice})});
      }
      now = stop;
    }
  };
  for (const Open& slice : room.inside) {
    advance(slice.begin);
    stack.push_back(slice);
    const std::uint8_t part = host_.part_[slice.slice];
    if ((part & kCompiling) != 0 && slice.end > compiles.end) compiles = slice;
    if ((part & kLoadsData) != 0 && slice.end > loads.end) loads = slice;
  }
  advance(span.end);
}

}  // namespace gapscope
