#include "core/analyze/account/host_time.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::min();

// The pieces of overhead slices, each moment given to the slice that began first.
std::vector<HostPiece> disjoint(const Trace& trace, std::vector<SliceId> slices, IdleCause cause) {
  std::sort(slices.begin(), slices.end(),
            [&](SliceId a, SliceId b) { return std::pair(trace.begin(a), a) < std::pair(trace.begin(b), b); });
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

// Of spans in order, none of which overlap; mostly it is near.
SpanSet::const_iterator first_to_end_after(SpanSet::const_iterator at, SpanSet::const_iterator end, Ns t) {
  constexpr int kNear = 16;
  for (int i = 0; i < kNear; ++i, ++at)
    if (at == end || at->end > t) return at;
  return std::upper_bound(at, end, t, [](Ns time, Span s) { return time < s.end; });
}

}  // namespace

HostTime::NameUse HostTime::use_of(Kind kind) {
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

std::uint8_t HostTime::part_of(NameUse use, std::string_view name) {
  const IdleCause cause = use == NameUse::call                                       ? cause_of_call(name)
                          : use == NameUse::op && !name.starts_with("ProfilerStep#") ? IdleCause::op
                                                                                     : IdleCause::python;
  return static_cast<std::uint8_t>(index_of(cause) | (is_compile_frame_name(name) ? kCompiling : 0) |
                                   (name.starts_with("enumerate(DataLoader)") ? kLoadsData : 0));
}

HostTime::HostTime(const Trace& trace) : trace_(trace) {
  read_names();
  find_recorded();
  order_threads();
}

// One pass, lane by lane; a name is looked at once for each use.
void HostTime::read_names() {
  for (const Category& c : trace_.categories) uses_.push_back(use_of(c.kind));
  for (auto& parts : part_of_name_) parts.assign(trace_.strings.size(), kUnread);
  std::vector<std::pair<std::uint64_t, LaneId>> counted;
  std::vector<SliceId> overheads;
  for (std::size_t l = 0; l < trace_.lanes.size(); ++l) {
    const Lane& lane = trace_.lanes[l];
    if (lane.is_async) continue;
    std::uint64_t count = 0;
    for (std::uint32_t i = lane.first_slice; i < lane.first_slice + lane.slice_count; ++i) {
      const NameUse as = use(i);
      if (as == NameUse::overhead) overheads.emplace_back(std::size_t{i});
      if (as >= NameUse::overhead) continue;
      ++count;
      const StringId name = trace_.slices.name[i];
      std::uint8_t& part = part_of_name_[static_cast<std::size_t>(as)][name.index()];
      if (part == kUnread) part = part_of(as, trace_.strings[name]);
    }
    if (count > 0) counted.emplace_back(count, LaneId(l));
  }
  const auto key = [&](LaneId l) {
    return std::pair<std::string_view, std::string_view>(trace_.processes[trace_.lane(l).process.index()].key,
                                                         trace_.lane(l).key);
  };
  std::sort(counted.begin(), counted.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : key(a.second) < key(b.second);
  });
  for (const auto& [count, lane] : counted) threads_.push_back(lane);
  gather_overheads(overheads);
}

// The slices of a row come one after another: its first one and its last two say all.
void HostTime::find_recorded() {
  SliceId last;
  Ns end_of_others = kNever;
  const auto add_end = [&](std::uint32_t slice) {
    const Ns end = trace_.slices.end[slice];
    if (last && end <= trace_.end(last)) return void(end_of_others = std::max(end_of_others, end));
    if (last) end_of_others = trace_.end(last);
    last = SliceId(std::size_t{slice});
  };
  std::vector<LaneId> lanes = threads_;
  std::sort(lanes.begin(), lanes.end(), [](LaneId a, LaneId b) { return a.value < b.value; });
  for (const LaneId id : lanes) {
    const Lane& lane = trace_.lane(id);
    for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.depth_count; ++r) {
      const Row& row = trace_.rows[r];
      std::uint32_t first = row.first, stop = row.first + row.count;
      while (first < stop && !is_host(first)) ++first;
      if (first == stop) continue;
      recorded_.begin = last ? std::min(recorded_.begin, trace_.slices.begin[first]) : trace_.slices.begin[first];
      while (!is_host(stop - 1)) --stop;
      std::uint32_t before = stop - 1;
      while (before > first && !is_host(before - 1)) --before;
      if (before > first) add_end(before - 1);
      add_end(stop - 1);
    }
  }
  if (!last) return;
  const bool closes = use(last.index()) == NameUse::call && trace_.name(last).ends_with("DeviceSynchronize");
  recorded_.end = std::max(recorded_.begin, closes ? end_of_others : trace_.end(last));
}

// Where a lane has any slice. Deeper rows mostly lie in those above; what they add is united with as much at a time, so that no
// span is united more than log n times.
SpanSet HostTime::coverage(LaneId id) const {
  const Lane& lane = trace_.lane(id);
  std::vector<SpanSet> parts;  // each larger than the next
  const auto add = [&](SpanSet more) {
    for (; !parts.empty() && parts.back().size() <= more.size(); parts.pop_back()) more = unite(parts.back(), more);
    parts.push_back(std::move(more));
  };
  const SpanSet none;
  StepCount count;
  bool all_in_first_row = lane.overlapping == 0;
  for (std::uint32_t depth = 0; depth < lane.depth_count && (depth == 0 || !all_in_first_row); ++depth) {
    const Row& row = trace_.rows[lane.first_row + depth];
    const SpanSet& covered = parts.empty() ? none : parts.front();
    SpanSet more;
    auto at = covered.begin();
    for (std::uint32_t i = row.first; i < row.first + row.count; ++i) {
      const Span span{trace_.slices.begin[i], trace_.slices.end[i]};
      if (!is_host(i)) {
        all_in_first_row = false;
        continue;
      }
      at = first_to_end_after(at, covered.end(), span.begin);
      if (at == covered.end() || !at->contains(span)) append(more, span);
    }
    count.steps += row.count + more.size();
    if (!more.empty()) add(std::move(more));
  }
  return unite(std::move(parts));
}

// At each instant the first thread in order that has a slice there: a sweep with the threads that go on in a heap.
void HostTime::order_threads() {
  struct Cover {
    Span span;
    std::uint32_t rank;
    bool operator<(const Cover& o) const { return rank > o.rank; }  // a heap gives the greatest first
  };
  Column<Cover> covers, other;
  for (std::uint32_t rank = 0; rank < threads_.size(); ++rank)
    for (const Span span : coverage(threads_[rank])) covers.push_back({span, rank});
  radix_sort(covers, other, [](const Cover& c) { return ordered_bits(c.span.begin); });
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
    if (!open.empty() && open.top().rank < cover.rank && cover.span.end <= open.top().span.end) continue;  // never the first
    advance(cover.span.begin);
    open.push(cover);
  }
  advance(std::numeric_limits<Ns>::max());
  first_thread_.shrink_to_fit();
}

void HostTime::gather_overheads(const std::vector<SliceId>& slices) {
  std::vector<SliceId> loading, other;
  for (const SliceId s : slices) (trace_.name(s).find("Loading") != std::string_view::npos ? loading : other).push_back(s);
  overheads_ = put_over(disjoint(trace_, std::move(loading), IdleCause::loading),
                        disjoint(trace_, std::move(other), IdleCause::profiler));
}

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
  const auto add = [&](Span part, IdleCause cause, SliceId) { times[index_of(cause)] += part.length(), ++pieces; };
  each_overhead(span, add, [&](Span between) {
    uncovered != nullptr ? each_on_lane(lane, between, add, *uncovered) : each_on_threads(lane, between, add);
  });
  return pieces;
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
  s.now = span.begin;
  const auto advance = [&](Ns to) {
    while (s.now < to) {
      while (!s.stack.empty() && s.stack.back().end <= s.now) s.stack.pop_back();
      const Open* const owner = s.compiles.end > s.now ? &s.compiles
                                : s.loads.end > s.now  ? &s.loads
                                : s.stack.empty()      ? nullptr
                                                       : &s.stack.back();
      const Span part{s.now, owner ? std::min(to, owner->end) : to};
      s.now = part.end;
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
  for (const auto* column : {slices.begin.data(), slices.end.data()}) __builtin_prefetch(column + slice + 16);  // of many rows
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
  s.compiles = s.loads = {0, kNever, 0, 0};
  const Slices& slices = host_.trace_.slices;
  const Lane& lane = host_.trace_.lane(id);
  // What began before the stretch and goes on: at most one slice a row.
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
  s.fresh = s.slices.size() - before;
  // As many new slices as there are rows and slices begun before, so that looking at those is paid by the new ones.
  constexpr std::size_t kEnough = 512;
  s.enough = std::max({kEnough, before, std::size_t{lane.depth_count}});
  count_.steps += lane.depth_count + s.slices.size();
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
  const auto fresh = s.slices.begin() + static_cast<std::ptrdiff_t>(first);
  const auto earlier = [](const Open& a, const Open& b) { return a.begin != b.begin ? a.begin < b.begin : a.slice < b.slice; };
  if (!std::is_sorted(fresh, s.slices.end(), earlier)) std::sort(fresh, s.slices.end(), earlier);
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

}  // namespace gapscope
