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

// Of spans in order that do not overlap; mostly it is near.
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

// At each instant the first thread in order that has a slice there: a sweep with the threads that continue in a heap.
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

}  // namespace gapscope
