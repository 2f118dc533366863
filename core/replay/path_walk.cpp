#include "core/replay/path_walk.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"
#include "core/replay/host_clock.h"

namespace gapscope {

PathWalk::PathWalk(const ReplayModel& model, const Change& change, const ReplayResult& result,
                   std::span<const std::uint32_t> after)
    : model_(model), change_(change), result_(result), after_(after), host_(model, result), at_(result.run.end) {
  find_queued();
}

void PathWalk::find_queued() {
  struct State {
    std::uint32_t holds = kNone, last = kNone;
  };
  std::vector<State> queues(model_.queues());
  queued_.resize(model_.ops().size());
  for (const std::uint32_t o : model_.order()) {
    const ReplayModel::Operation& op = model_.ops()[o];
    State& queue = queues[op.queue];
    if (queue.holds != kNone)
      queued_[o] = {std::max(result_.ops[queue.last].begin, difference_saturating(result_.ops[queue.holds].end, op.overlap)),
                    queue.holds};
    if (change_.overlap_copies && op.gpu_class == GpuClass::copy && queue.holds != kNone) continue;
    queue.last = o;
    if (queue.holds == kNone || result_.ops[o].end >= result_.ops[queue.holds].end) queue.holds = o;
  }
}

void PathWalk::go_to_end() {
  at_ = result_.run.end;
  op_ = last_op();
  call_ = kNone;
  if (op_ == kNone) walk_end();
}

bool PathWalk::step() {
  if (at_ <= result_.run.begin || (op_ == kNone && call_ == kNone)) return false;
  if (op_ != kNone)
    walk_op();
  else
    walk_host();
  return true;
}

void PathWalk::add(Ns from, HeldBy by, SliceId slice, Span old) {
  from = std::max(from, result_.run.begin);
  if (from >= at_) return;
  out_.push_back({{from, at_}, by, slice, old});
  at_ = from;
}

std::vector<PathStretch> PathWalk::take() { return std::exchange(out_, {}); }

std::uint32_t PathWalk::last_op() const {
  for (std::uint32_t o = 0; o < result_.ops.size(); ++o)
    if (result_.ops[o].end == result_.run.end) return o;
  return kNone;
}

// The host's time after its last call; that call.
void PathWalk::walk_end() {
  std::uint32_t clock = 0;
  Ns old = model_.run().end;
  for (std::size_t s = 0; s < result_.steps.size(); ++s)
    if (result_.steps[s].after.end == result_.run.end) clock = model_.steps()[s].clock, old = model_.steps()[s].span.end;
  call_ = host_.last(clock, old);
  if (call_ == kNone) return;
  add(result_.calls[call_].end, HeldBy::host, {}, {model_.calls()[call_].span.end, old});
  in_call(call_);
}

// Once at the end of a call: to what it waited for, else to its begin.
void PathWalk::in_call(std::uint32_t c) {
  if (waited(c)) {
    target_ = model_.calls()[c].target(change_);
    add(result_.ops[target_].end, HeldBy::wait, model_.calls()[c].slice, {});
  } else {
    add(result_.calls[c].begin, HeldBy::host, model_.calls()[c].slice, model_.calls()[c].span);
  }
}

bool PathWalk::waited(std::uint32_t c) const {
  const ReplayModel::HostCall& call = model_.calls()[c];
  return call.target(change_) != kNone &&
         result_.calls[c].end > result_.calls[c].begin + std::min(call.span.length(), kShortestWait);
}

// Of its queue, events and joins the one that let it begin last.
PathWalk::Queued PathWalk::waited_for(std::uint32_t o) const {
  Queued out = queued_[o];
  const auto take = [&](std::uint32_t p) {
    if (p != kNone && (out.after == kNone || result_.ops[p].end > out.ready)) out = {result_.ops[p].end, p};
  };
  if (!after_.empty()) take(after_[o]);
  for (std::size_t i = model_.ops()[o].event_wait; i < model_.event_waits().size() && model_.event_waits()[i].op == o; ++i)
    take(model_.event_waits()[i].after);
  return out;
}

// To the operation before, or the call that launched it.
void PathWalk::walk_op() {
  const ReplayModel::Operation& op = model_.ops()[op_];
  add(result_.ops[op_].begin, op.gpu_class == GpuClass::communication ? HeldBy::collective : HeldBy::queue, op.slice, {});
  const Ns launched = op.call == kNone ? result_.run.begin : result_.calls[op.call].begin + op.latency;
  const Queued queued = waited_for(op_);
  if (queued.after != kNone && (op.call == kNone || queued.ready >= launched)) {
    add(queued.ready, HeldBy::start, op.slice, {});
    op_ = queued.after;
    return;
  }
  op_ = kNone;
  if (op.call == kNone) return;
  add(result_.calls[op.call].begin, HeldBy::start, op.slice, {});
  call_ = op.call;
}

// From the begin of a call back to a wait that held the host up, and to what it waited for.
void PathWalk::walk_host() {
  std::uint32_t c = std::exchange(call_, kNone);
  const auto at_target = [&] { return (op_ = std::exchange(target_, kNone)) != kNone; };
  if (at_target()) return;
  while (at_ > result_.run.begin && c != kNone) {
    const std::uint32_t before = host_.before(c);
    if (const ReplayModel::Join* join = join_before(c, before)) {
      c = go_to_other(*join, c);
    } else if (before == kNone) {
      const Ns end = model_.calls()[c].span.begin;
      return add(result_.run.begin, HeldBy::host, model_.calls()[c].slice, {std::min(model_.run().begin, end), end});
    } else {
      const Ns old_end = model_.calls()[c].span.begin;
      add(result_.calls[before].end, HeldBy::host, model_.calls()[c].slice,
          {std::min(model_.calls()[before].span.end, old_end), old_end});
      in_call(c = before);
    }
    if (at_target()) return;
  }
}

// The last time, between two calls of a clock, that it continued because another had come.
const ReplayModel::Join* PathWalk::join_before(std::uint32_t call, std::uint32_t before) const {
  const auto& joins = model_.joins();
  const Ns until = model_.calls()[call].span.begin;
  const Ns since = before == kNone ? model_.run().begin : model_.calls()[before].span.end;
  const auto end =
      std::partition_point(joins.begin(), joins.end(), [&](const ReplayModel::Join& j) { return j.stood.end <= until; });
  for (auto at = end; at != joins.begin() && std::prev(at)->stood.end > since;) {
    --at;
    const Ns on = result_.joins[static_cast<std::size_t>(at - joins.begin())];
    if (at->clock != model_.calls()[call].clock || on == ReplayResult::kNotHeld || on > at_) continue;
    const std::uint32_t other = host_.last(at->other, at->stood.end);
    if (other == kNone || other < call) return &*at;
  }
  return nullptr;
}

// From the begin of a call to the last one of the clock that it waited for.
std::uint32_t PathWalk::go_to_other(const ReplayModel::Join& join, std::uint32_t call) {
  const Ns on = result_.joins[static_cast<std::size_t>(&join - model_.joins().data())];
  add(on, HeldBy::host, model_.calls()[call].slice, {join.stood.end, model_.calls()[call].span.begin});
  const std::uint32_t other = host_.last(join.other, join.stood.end);
  if (other == kNone) return other;
  const ReplayModel::HostCall& last = model_.calls()[other];
  if (last.span.end > join.stood.end) {  // it came there within a call
    add(result_.calls[other].begin, HeldBy::host, last.slice, {last.span.begin, join.stood.end});
  } else {
    add(result_.calls[other].end, HeldBy::host, last.slice, {last.span.end, join.stood.end});
    in_call(other);
  }
  return other;
}

}  // namespace gapscope
