#include "app/sampler/ranges.h"

#include <algorithm>

#include "app/sampler/call_names.h"
#include "app/sampler/kineto_text.h"

namespace gapscope::sampler {
namespace {

template <class Streams>
void extend(Streams& streams, const typename Streams::key_type& where, const Times& times) {
  const auto [at, fresh] = streams.try_emplace(where, times);
  if (fresh) return;
  at->second.begin = std::min(at->second.begin, times.begin);
  at->second.end = std::max(at->second.end, times.end);
}

template <class Streams>
void extend(Streams& streams, const Streams& by) {
  for (const auto& [where, times] : by) extend(streams, where, times);
}

}  // namespace

void Ranges::forget_begin(Ns time) { begins_.erase(begins_.find(time)); }

void Ranges::begin(const Marker& marker) {
  const auto [at, fresh] = open_.try_emplace(marker.id);
  Open& open = at->second;
  if (!fresh) end(open, marker.time);  // its own end was lost
  open = {{{marker.time, marker.time}, marker.thread, std::string(marker.name), std::string(marker.domain)}, 0};
  begins_.insert(marker.time);
  if (marker.domain == kOperators) return;
  open.number = ++last_number_;
  threads_[marker.thread].events.push_back({marker.time, Event::What::begin, open.number, 0, open.range.name});
}

Range Ranges::end(Open& open, Ns time) {
  open.range.times.end = std::max(time, open.range.times.begin);
  if (open.number == 0)
    forget_begin(open.range.times.begin);
  else
    threads_[open.range.thread].events.push_back({open.range.times.end, Event::What::end, open.number, 0, {}});
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

// Mostly the innermost ends. Where ranges overlap without one being in the other, those that began later have work that was
// launched while this one was open, too.
void Ranges::end_side(Thread& thread, std::uint64_t number, std::vector<GpuRange>& taken) {
  auto side = thread.open.end();
  do {
    if (side == thread.open.begin()) return;
    --side, ++steps_;
  } while (side->number != number);
  for (auto later = std::next(side); later != thread.open.end(); ++later) extend(side->streams, later->streams);
  if (side != thread.open.begin()) extend(std::prev(side)->streams, side->streams);
  for (const auto& [where, times] : side->streams) taken.push_back({side->name, times, where.first, where.second, side->begun});
  forget_begin(side->begun);
  thread.open.erase(side);
}

void Ranges::go_through(Thread& thread, const std::vector<Waiting>& works, Ns until, std::vector<GpuRange>& taken) {
  std::vector<Event>& events = thread.events;
  const auto settled =
      std::stable_partition(events.begin(), events.end(), [&](const Event& event) { return event.time < until; });
  std::stable_sort(events.begin(), settled,
                   [](const Event& a, const Event& b) { return a.time != b.time ? a.time < b.time : a.what < b.what; });
  for (auto event = events.begin(); event != settled; ++event, ++steps_) {
    switch (event->what) {
      case Event::What::begin: thread.open.push_back({std::move(event->name), event->time, event->number, {}}); break;
      case Event::What::launch:
        if (!thread.open.empty()) {
          const Waiting& work = works[event->work];
          extend(thread.open.back().streams, {work.place.device, work.place.stream}, work.times);
        }
        break;
      case Event::What::end: end_side(thread, event->number, taken); break;
    }
  }
  events.erase(events.begin(), settled);
}

std::vector<GpuRange> Ranges::take_gpu_ranges(Ns until) {
  std::vector<Waiting> works;
  std::erase_if(waiting_, [&](const Waiting& work) {
    const auto launch = launches_.find(work.place.correlation);
    if (launch == launches_.end() || launch->second.time >= until) return work.times.end < until;
    const auto thread = threads_.find(launch->second.thread);
    if (thread == threads_.end()) return true;  // one without ranges
    thread->second.events.push_back({launch->second.time, Event::What::launch, 0, works.size(), {}});
    works.push_back(work);
    return true;
  });
  std::erase_if(launches_, [&](const auto& launch) { return launch.second.time < until; });
  std::vector<GpuRange> taken;
  for (auto& [id, thread] : threads_) go_through(thread, works, until, taken);
  std::erase_if(threads_, [](const auto& thread) { return thread.second.events.empty() && thread.second.open.empty(); });
  std::stable_sort(taken.begin(), taken.end(), [](const GpuRange& a, const GpuRange& b) { return a.begun < b.begun; });
  return taken;
}

std::vector<Range> Ranges::take_open(Ns now) {
  std::vector<Open> opened;
  for (auto& [id, open] : open_) opened.push_back(std::move(open));
  open_.clear();
  std::sort(opened.begin(), opened.end(),
            [](const Open& a, const Open& b) { return a.number > b.number; });  // the innermost first
  std::vector<Range> ranges;
  for (Open& open : opened) ranges.push_back(end(open, now));
  return ranges;
}

bool Ranges::began_within(const Times& times) const {
  const auto at = begins_.lower_bound(times.begin);
  return at != begins_.end() && *at <= times.end;
}

}  // namespace gapscope::sampler
