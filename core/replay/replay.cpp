#include "core/replay/replay.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "core/replay/player.h"

namespace gapscope {
namespace {

// By device: how long anything runs on it.
std::map<std::int32_t, Ns> busy_lengths(const ReplayModel& model, Span run, const std::vector<Span>* after) {
  std::vector<std::vector<Span>> by_queue(model.queues());
  std::vector<std::int32_t> devices(model.queues());  // a queue is of one
  for (const std::uint32_t o : model.order()) {
    const ReplayModel::Operation& op = model.ops()[o];
    devices[op.queue] = op.device;
    const Span span = intersect(after != nullptr ? (*after)[o] : op.span, run);
    if (!span.empty()) by_queue[op.queue].push_back(span);
  }
  std::map<std::int32_t, std::vector<SpanSet>> sets;
  for (std::size_t q = 0; q < by_queue.size(); ++q) sets[devices[q]].push_back(span_set(std::move(by_queue[q])));
  std::map<std::int32_t, Ns> lengths;
  for (auto& [device, of] : sets) lengths[device] = length(unite(std::move(of)));
  return lengths;
}

// One by one; an empty list says nothing.
std::vector<Ns> shorter(std::vector<Ns> a, const std::vector<Ns>& b) {
  if (a.empty()) return b;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) a[i] = std::min(a[i], b[i]);
  return a;
}

}  // namespace

StepShare ReplayModel::step_share() const {
  if (steps_.empty()) return {0, run_.length(), run_.length()};
  Span host = steps_.front().span;
  std::vector<Span> each;  // with the work of its calls
  for (const StepSpan& s : steps_) host = hull(host, s.span), each.push_back(s.span);
  const auto step_at = [&](Ns t) -> Span* {
    const auto later = std::partition_point(steps_.begin(), steps_.end(), [&](const StepSpan& s) { return s.span.begin <= t; });
    if (later == steps_.begin() || !std::prev(later)->span.contains(t)) return nullptr;
    return &each[static_cast<std::size_t>(later - steps_.begin()) - 1];
  };
  // As make_steps() has it: they end with their work, and begin after that of what was before them, as where a host far ahead
  // of the GPU marks its first step while work of those before is still to be done.
  Span work{run_.end, run_.begin};
  const auto is_inside = [&](const Operation& op) { return op.call != kNone && host.contains(calls_[op.call].span.begin); };
  for (const Operation& op : ops_) {
    if (!is_inside(op)) continue;
    work = {std::min(work.begin, op.span.begin), std::max(work.end, op.span.end)};
    if (Span* step = step_at(calls_[op.call].span.begin)) step->end = std::max(step->end, op.span.end);
  }
  if (work.begin > work.end) work = host;
  Span steps{host.begin, std::max(host.end, work.end)};
  for (const Operation& op : ops_)
    if (!is_inside(op) && op.span.end < work.begin) steps.begin = std::max(steps.begin, op.span.end);
  const Ns stepped = intersect(steps, run_).length();
  // Where more is around them than the rest of a step at each end, the run's gains are not theirs.
  const auto count = static_cast<Ns>(steps_.size());
  if (run_.length() - stepped > 2 * (stepped / count)) return {0, run_.length(), run_.length()};
  return {.steps = steps_.size(),
          .stepped = stepped,
          .run = run_.length(),
          .between = steps.length() - length_within(span_set(std::move(each)), steps),
          .outside = steps.length() - stepped};
}

Ns ReplayModel::events_end(std::uint32_t op, const std::vector<Span>& times) const {
  Ns out = std::numeric_limits<Ns>::min();
  for (std::size_t i = ops_[op].event_wait; i < event_waits_.size() && event_waits_[i].op == op; ++i)
    out = std::max(out, times[event_waits_[i].after].end);
  return out;
}

std::vector<Span> ReplayModel::step_parts() const {
  if (steps_.empty()) return {run_};
  std::vector<Span> out;
  const Span before{run_.begin, steps_.front().span.begin}, after{steps_.back().span.end, run_.end};
  if (!whole_steps_ && before.length() > 0) out.push_back(before);
  for (const StepSpan& s : steps_) out.push_back(s.span);
  if (!whole_steps_ && after.length() > 0) out.push_back(after);
  return out;
}

Change both(Change a, const Change& b) {
  a.host *= b.host;
  a.no_wait |= b.no_wait;
  a.overlap_copies |= b.overlap_copies;
  a.full_queues |= b.full_queues;
  if (!a.pace) a.pace = b.pace;
  a.removed = unite(a.removed, b.removed);
  std::vector<SliceId> freed;
  std::set_union(a.freed.begin(), a.freed.end(), b.freed.begin(), b.freed.end(), std::back_inserter(freed));
  a.freed = std::move(freed);
  a.lasts = shorter(std::move(a.lasts), b.lasts);
  a.gaps = shorter(std::move(a.gaps), b.gaps);
  return a;
}

ReplayResult replay(const ReplayModel& model, const Change& change, const std::atomic<bool>* cancel) {
  ReplayResult cancelled;
  cancelled.cancelled = true;
  Player player(model, change);
  if (player.play(cancel) == Player::Stands::cancelled) return cancelled;
  if (!change.pace || !model.has_whole_steps()) return player.result();
  // Steps of the plain program follow such steps: the GPU is as far behind the host as these leave it.
  Player next(model, change);
  next.start_behind(player.behind());
  if (next.play(cancel) == Player::Stands::cancelled) return cancelled;
  return next.result();
}

GpuBusy gpu_busy(const ReplayModel& model, const ReplayResult& result) {
  const std::map<std::int32_t, Ns> before = busy_lengths(model, model.run(), nullptr);
  const auto busiest =
      std::max_element(before.begin(), before.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (busiest == before.end()) return {};
  return {busiest->first, busiest->second, busy_lengths(model, result.run, &result.ops).at(busiest->first)};
}

void compare_with(const ReplayResult& without, const GpuBusy& its_busy, ReplayResult& result, GpuBusy& busy) {
  result.before = without.after;
  for (std::size_t i = 0; i < result.steps.size(); ++i) result.steps[i].before = without.steps[i].after;
  busy.before = its_busy.after;
}

}  // namespace gapscope
