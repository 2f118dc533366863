#include "app/sampler/ranges.h"

#include <algorithm>

#include "app/sampler/kineto_text.h"

namespace gapscope::sampler {

void Ranges::begin(const Marker& marker) {
  Open& open = open_[marker.id];
  open = {{{marker.time, marker.time}, marker.thread, std::string(marker.name), std::string(marker.domain)}, kNone};
  if (marker.domain == kOperators) return;
  Thread& thread = threads_[marker.thread];
  open.position = thread.dropped + thread.ranges.size();
  thread.ranges.push_back({open.range, {}, thread.open.empty() ? kNone : thread.open.back(), false});
  thread.open.push_back(open.position);
}

Range Ranges::end(Open& open, Ns time) {
  open.range.times.end = std::max(time, open.range.times.begin);
  Thread& thread = threads_[open.range.thread];
  if (Kept* kept = thread.at(open.position)) {
    kept->range.times.end = open.range.times.end;
    kept->closed = true;
    std::erase(thread.open, open.position);
  }
  return std::move(open.range);
}

std::optional<Range> Ranges::add(const Marker& marker) {
  if (marker.what == Marker::What::begin) begin(marker);
  const auto opened = open_.find(marker.id);
  if (marker.what != Marker::What::end || opened == open_.end()) return std::nullopt;
  Range whole = end(opened->second, marker.time);
  open_.erase(opened);
  return whole;
}

void Ranges::add_call(const Call& call) {
  if (call.correlation != 0 && starts_flow(call.name)) launches_[call.correlation] = {call.thread, call.times.begin};
}

void Ranges::add_work(const GpuPlace& place, const Times& times) { waiting_.push_back({place, times}); }

// The last range that began before the call, and those around it, as far as they hold it.
bool Ranges::place_work(const Waiting& work, Ns until) {
  const auto launch = launches_.find(work.place.correlation);
  if (launch == launches_.end() || launch->second.time >= until) return false;
  const Ns time = launch->second.time;
  Thread& thread = threads_[launch->second.thread];
  const auto after = std::partition_point(thread.ranges.begin(), thread.ranges.end(), [&](const Kept& k) { return k.range.times.begin <= time; });
  std::size_t position = after == thread.ranges.begin() ? kNone : thread.dropped + static_cast<std::size_t>(after - thread.ranges.begin()) - 1;
  while (Kept* kept = thread.at(position)) {
    position = kept->parent;
    if (kept->closed && kept->range.times.end < time) continue;
    const auto [at, fresh] = kept->streams.try_emplace({work.place.device, work.place.stream}, work.times);
    if (fresh) continue;
    at->second.begin = std::min(at->second.begin, work.times.begin);
    at->second.end = std::max(at->second.end, work.times.end);
  }
  return true;
}

std::vector<GpuRange> Ranges::take_gpu_ranges(Ns until) {
  std::erase_if(waiting_, [&](const Waiting& work) { return place_work(work, until) || work.times.end < until; });
  std::erase_if(launches_, [&](const auto& launch) { return launch.second.time < until; });
  std::vector<GpuRange> taken;
  for (auto& [id, thread] : threads_) {
    for (; !thread.ranges.empty() && thread.ranges.front().closed && thread.ranges.front().range.times.end < until; ++thread.dropped) {
      const Kept& kept = thread.ranges.front();
      for (const auto& [where, times] : kept.streams) taken.push_back({kept.range.name, times, where.first, where.second, kept.range.times.begin});
      thread.ranges.pop_front();
    }
  }
  return taken;
}

std::vector<Range> Ranges::take_open(Ns now) {
  std::vector<Range> ranges;
  for (auto& [id, open] : open_) ranges.push_back(end(open, now));
  open_.clear();
  return ranges;
}

}  // namespace gapscope::sampler
