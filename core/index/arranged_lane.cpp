#include "core/index/arranged_lane.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "core/base/counted_steps.h"
#include "core/index/lane_walk.h"

namespace gapscope {
namespace {

// Gives each slice its depth, in the order they come: begins do not decrease.
class Stack {
 public:
  explicit Stack(Stacking stacking) : stacking_(stacking) {}

  std::uint32_t place(Ns begin, Ns end) {
    ++count_.steps;
    const Ns until = std::max(end, begin + 1);  // an empty slice still takes its instant
    return stacking_ == Stacking::nested ? below_all_running(begin, until) : first_free(begin, until);
  }
  std::size_t depths() const { return depths_; }

 private:
  using Busy = std::pair<Ns, std::uint32_t>;  // until when, depth
  template <class T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  std::uint32_t below_all_running(Ns begin, Ns until) {
    for (; !running_.empty() && running_.back() <= begin; running_.pop_back()) ++count_.steps;
    running_.push_back(until);
    depths_ = std::max(depths_, running_.size());
    return static_cast<std::uint32_t>(running_.size() - 1);
  }
  std::uint32_t first_free(Ns begin, Ns until) {
    for (; !busy_.empty() && busy_.top().first <= begin; busy_.pop()) {
      free_.push(busy_.top().second);
      ++count_.steps;
    }
    if (free_.empty()) free_.push(static_cast<std::uint32_t>(depths_++));
    const std::uint32_t depth = free_.top();
    free_.pop();
    busy_.push({until, depth});
    return depth;
  }

  const Stacking stacking_;
  std::size_t depths_ = 0;
  std::vector<Ns> running_;  // nested: until when, by depth; those below the last one are free
  LeastFirst<Busy> busy_;    // packed
  LeastFirst<std::uint32_t> free_;
  StepCount count_;
};

bool holds_python(const Trace& trace, const Lane& lane) {
  for (std::uint32_t i = lane.first_slice; i < lane.first_slice + lane.slice_count; ++i)
    if (trace.kind(SliceId(i)) == Kind::python) return true;
  return false;
}

std::unique_ptr<const ArrangedLane> arrange_without_python(const Trace& trace, LaneId id) {
  const Lane& lane = trace.lane(id);
  if (lane.kind == LaneKind::gpu_stream || lane.is_async || !holds_python(trace, lane)) return nullptr;
  std::vector<SliceId> rest;
  walk_lane(trace, id, [&](SliceId slice) {
    if (trace.kind(slice) != Kind::python) rest.push_back(slice);
  });
  return rest.empty() ? nullptr : std::make_unique<const ArrangedLane>(trace, rest, Stacking::nested);
}

// By process.
std::vector<std::vector<LaneId>> streams_with_graphs(const Trace& trace) {
  std::vector<bool> has_graph(trace.lanes.size());
  for (const GpuRow& row : trace.gpu)
    if (row.graph_id != 0) has_graph[trace.lane_id(row.slice).index()] = true;
  std::vector<std::vector<LaneId>> streams(trace.processes.size());
  StepCount count;
  count.steps += trace.gpu.size() + trace.lanes.size();
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (has_graph[l]) streams[trace.lanes[l].process.index()].emplace_back(l);
  return streams;
}

// What keeps the GPU busy, and what is only drawn over it.
struct WorkAndSpans {
  std::vector<SliceId> work, spans;
};
WorkAndSpans distinct_names(const Trace& trace, const std::vector<SliceId>& slices) {
  WorkAndSpans parts;
  for (const SliceId slice : slices) (is_gpu_work(trace.kind(slice)) ? parts.work : parts.spans).push_back(slice);
  return parts;
}

Arrangements::StreamRows arrange_stream(const Trace& trace, LaneId id) {
  const Lane& lane = trace.lane(id);
  if (lane.kind != LaneKind::gpu_stream || lane.is_async) return {};
  std::vector<SliceId> slices;
  walk_lane(trace, id, [&](SliceId slice) { slices.push_back(slice); });
  const WorkAndSpans parts = distinct_names(trace, slices);
  if (parts.work.empty() || parts.spans.empty()) return {};
  return {std::make_unique<const ArrangedLane>(trace, parts.work, Stacking::packed),
          std::make_unique<const ArrangedLane>(trace, parts.spans, Stacking::nested)};
}

Arrangements::GraphStreams compact_streams(const Trace& trace, std::vector<LaneId> lanes) {
  Arrangements::GraphStreams streams;
  if (lanes.size() < 2) return {};
  streams.lanes = std::move(lanes);
  std::vector<SliceId> slices;
  for (const LaneId lane : streams.lanes)
    for (std::uint32_t i = 0; i < trace.lane(lane).slice_count; ++i) slices.emplace_back(trace.lane(lane).first_slice + i);
  std::sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) {
    if (trace.begin(a) != trace.begin(b)) return trace.begin(a) < trace.begin(b);
    return trace.end(a) != trace.end(b) ? trace.end(a) > trace.end(b) : a.value < b.value;
  });
  const WorkAndSpans parts = distinct_names(trace, slices);
  streams.together = std::make_unique<const ArrangedLane>(trace, parts.work, Stacking::packed);
  if (!parts.spans.empty()) streams.spans = std::make_unique<const ArrangedLane>(trace, parts.spans, Stacking::packed);
  return streams;
}

}  // namespace

ArrangedLane::ArrangedLane(const Trace& trace, const std::vector<SliceId>& slices, Stacking stacking) {
  Stack stack(stacking);
  std::vector<std::uint32_t> depths;
  depths.reserve(slices.size());
  for (const SliceId slice : slices) depths.push_back(stack.place(trace.begin(slice), trace.end(slice)));

  rows_.resize(stack.depths());
  for (const std::uint32_t depth : depths) ++rows_[depth].count;
  for (std::size_t d = 1; d < rows_.size(); ++d) rows_[d].first = rows_[d - 1].first + rows_[d - 1].count;
  begin_.resize(slices.size());
  end_.resize(slices.size());
  ids_.resize(slices.size());
  std::vector<std::uint32_t> next(rows_.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::uint32_t at = rows_[depths[i]].first + next[depths[i]]++;
    begin_[at] = trace.begin(slices[i]);
    end_[at] = trace.end(slices[i]);
    ids_[at] = slices[i];
  }
  levels_.reserve(rows_.size());
  for (const Stretch& row : rows_)
    levels_.emplace_back(std::span(begin_).subspan(row.first, row.count), std::span(end_).subspan(row.first, row.count));
}

RowSlices ArrangedLane::row(std::uint32_t depth) const {
  const Stretch& row = rows_[depth];
  const auto of_row = [&](const auto& column) { return std::span(column).subspan(row.first, row.count); };
  return {of_row(begin_), of_row(end_), &levels_[depth], 0, of_row(ids_)};
}

std::optional<std::uint32_t> ArrangedLane::depth_of(SliceId slice, Ns begin) const {
  for (std::uint32_t depth = 0; depth < rows_.size(); ++depth) {
    const auto first = begin_.begin() + rows_[depth].first;
    const auto at = std::lower_bound(first, first + rows_[depth].count, begin);
    if (at != first + rows_[depth].count && ids_[static_cast<std::size_t>(at - begin_.begin())] == slice) return depth;
  }
  return std::nullopt;
}

Arrangements make_arrangements(const Trace& trace, const std::atomic<bool>* cancel) {
  Arrangements all;
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
    if (cancel != nullptr && *cancel) return all;
    all.without_python.push_back(arrange_without_python(trace, LaneId(l)));
    all.stream_rows.push_back(arrange_stream(trace, LaneId(l)));
    all.any_python = all.any_python || all.without_python.back();
  }
  std::vector<std::vector<LaneId>> streams = streams_with_graphs(trace);
  for (std::size_t p = 0; p < trace.processes.size(); ++p) {
    if (cancel != nullptr && *cancel) return all;
    all.graph_streams.push_back(trace.processes[p].is_gpu ? compact_streams(trace, std::move(streams[p]))
                                                          : Arrangements::GraphStreams{});
    all.any_graph_streams = all.any_graph_streams || all.graph_streams.back().together;
  }
  return all;
}

}  // namespace gapscope
