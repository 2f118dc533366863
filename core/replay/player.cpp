#include "core/replay/player.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/saturating.h"
#include "core/replay/plain_time.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kLookEvery = 4096;  // calls between looks at whether it was cancelled
constexpr std::size_t kMostInTime = 64;     // operations that did not come late, before no earlier one is looked at

}  // namespace

Player::Player(const ReplayModel& model, const Change& change, StreamJoins joins)
    : model_(model), change_(change), joins_(joins), clock_(model, change), queues_(model.queues()) {
  freed_.assign(model.calls().size(), change.no_wait);
  for (std::size_t c = 0; c < model.calls().size() && !change.freed.empty(); ++c)
    if (std::binary_search(change.freed.begin(), change.freed.end(), model.calls()[c].slice)) freed_[c] = true;
  ended_.resize(joins.held.size());
  out_.ops.resize(model.ops().size());
  out_.calls.resize(model.calls().size());
  out_.joins.resize(model.joins().size(), ReplayResult::kNotHeld);
}

Player::Stands Player::play(const std::atomic<bool>* cancel) {
  const auto calls = static_cast<std::uint32_t>(model_.calls().size());
  for (;;) {
    if (call_ % kLookEvery == 0 && cancel != nullptr && *cancel) return out_.cancelled = true, Stands::cancelled;
    join();
    if (change_.pace) free_memory();
    const auto end = call_ < calls ? model_.calls()[call_].end : static_cast<std::uint32_t>(model_.order().size());
    while (next_ < end) {
      const std::uint32_t op = model_.order()[next_];
      if (!play_op(op)) return Stands::blocked;
      ++next_;
      if (!known(op)) return stand(Stands::begun, op);
    }
    if (call_ == calls) return Stands::done;
    if (!end_call()) return Stands::blocked;
    ++call_;
  }
}

// Resume clocks blocked before this call at the latest of the clocks they wait for.
void Player::join() {
  const auto& joins = model_.joins();
  while (join_ < joins.size() && joins[join_].call <= call_) {
    const ReplayModel::Join& join = joins[join_];
    Ns on = clock_.now(join.clock, join.stood.begin);  // no sooner than it stopped
    std::size_t held = joins.size();
    for (; join_ < joins.size() && joins[join_].is_with(join); ++join_) {
      const Ns came = clock_.after(joins[join_].other, join.stood.end);
      if (came >= on) on = came, held = join_;
    }
    if (held < joins.size()) out_.joins[held] = on;
    if (on != clock_.now(join.clock, join.stood.end)) clock_.set(join.clock, join.stood.end, on);
  }
}

// Calls that free memory before this call begin when the GPU has done what was launched before them.
void Player::free_memory() {
  for (; free_ < model_.frees().size() && model_.frees()[free_].call <= call_; ++free_) {
    const ReplayModel::Free& free = model_.frees()[free_];
    const Ns begin = clock_.now(free.clock, free.span.begin);
    if (clock_.now(free.clock, free.span.end) <= begin) continue;  // the change does without it
    Ns done = begin;
    for (const Queue& queue : queues_) done = std::max({done, queue.free, queue.copies_free});
    if (done > begin) clock_.set(free.clock, free.span.begin, done);
  }
}

// Whether the end of what the call waits for is known.
bool Player::end_call() {
  const ReplayModel::HostCall& call = model_.calls()[call_];
  const std::uint32_t target = call.target(change_);
  const bool waits =
      target != ReplayModel::kNone && (!freed_[call_] || call.waits_for == ReplayModel::kNone);  // for room: always
  if (waits && !known(target)) return at_ = target, false;
  const Ns begin = clock_.at_call(call_);
  if (target == ReplayModel::kNone) {
    out_.calls[call_] = {begin, std::max(begin, clock_.at_end_of(call_))};
    return true;
  }
  Ns done = sum_saturating(begin, std::min(call.span.length(), kShortestWait));
  if (waits) {
    const Ns returned = call.span.end - model_.ops()[target].span.end;
    done = std::max(done, sum_saturating(out_.ops[target].end, change_.pace ? change_.pace->returned(returned) : returned));
  }
  out_.calls[call_] = {begin, done};
  clock_.set_end_of(call_, done);
  return true;
}

// Whether all that it waits for has ended.
bool Player::play_op(std::uint32_t o) {
  const ReplayModel::Operation& op = model_.ops()[o];
  Queue& queue = queues_[op.queue];
  if (queue.pending != ReplayModel::kNone) {
    if (!known(queue.pending)) return at_ = queue.pending, false;
    queue.free = std::max(queue.free, out_.ops[std::exchange(queue.pending, ReplayModel::kNone)].end);
  }
  const std::uint32_t after = joins_.after.empty() ? ReplayModel::kNone : joins_.after[o];
  if (after != ReplayModel::kNone && !known(after)) return at_ = after, false;
  const bool concurrent = change_.overlap_copies && op.gpu_class == GpuClass::copy;
  Ns ready = is_left_over(op) ? model_.run().begin : op.span.begin;
  if (!op.first) {
    const Ns free = concurrent ? std::max(queue.free, queue.copies_free) : queue.free;
    ready = std::max(queue.begin, difference_saturating(free, op.overlap));
  }
  if (op.call != ReplayModel::kNone) {
    const Ns launched = sum_saturating(clock_.at_call(op.call), op.latency);
    ready = op.first ? launched : std::max(ready, launched);
  }
  if (op.first && behind_) ready = std::max(ready, queue.free);
  if (op.event_wait != ReplayModel::kNone) {
    for (std::size_t i = op.event_wait; i < model_.event_waits().size() && model_.event_waits()[i].op == o; ++i)
      if (const std::uint32_t before = model_.event_waits()[i].after; !known(before)) return at_ = before, false;
    ready = std::max(ready, model_.events_end(o, out_.ops));
  }
  Ns gap = op.gap;
  if (change_.pace)  // nothing is on the GPU where the steps of the plain program begin
    gap = op.first || is_left_over(op) ? 0 : change_.pace->gap(o, op.gap);
  if (!change_.gaps.empty()) gap = std::min(gap, change_.gaps[o]);
  Ns begin = sum_saturating(ready, gap);
  if (after != ReplayModel::kNone)
    begin = sum_saturating(std::max(ready, out_.ops[after].end), op.span.begin - model_.ops()[after].span.end);
  const Ns end = known(o) ? sum_saturating(begin, length(o)) : begin;
  out_.ops[o] = {begin, end};
  if (concurrent) {
    queue.copies_free = std::max(queue.copies_free, end);
    if (op.first) queue.free = queue.begin = begin;
    return true;
  }
  queue.begin = begin;
  queue.free = op.first ? end : std::max(queue.free, end);
  if (!known(o)) queue.pending = o;
  return true;
}

Ns Player::host_delay(Ns t) const { return model_.clocks() == 0 ? 0 : difference_saturating(clock_.now(0, t), t); }

void Player::end(std::uint32_t op, Ns t) {
  out_.ops[op].end = std::max(out_.ops[op].begin, t);
  ended_[op] = true;
}

void Player::come_sooner(std::uint32_t o, Ns by) {
  const ReplayModel::Operation& op = model_.ops()[o];
  const Ns was = out_.ops[o].begin, begin = difference_saturating(was, by);
  const auto sooner = [&](Ns& t) { t = std::min(t, std::max(begin, difference_saturating(t, by))); };
  out_.ops[o] = {begin, begin};
  for (Queue& queue : queues_) sooner(queue.begin), sooner(queue.free), sooner(queue.copies_free);
  // What was played before it and is later still came late, too.
  for (std::size_t i = next_, in_time = 0; i > 0 && in_time < kMostInTime; --i) {
    const std::uint32_t before = model_.order()[i - 1];
    if (before == o || !known(before)) continue;
    in_time = out_.ops[before].end <= begin ? in_time + 1 : 0;
    sooner(out_.ops[before].begin), sooner(out_.ops[before].end);
  }
  for (std::size_t c = call_; c > 0 && out_.calls[c - 1].end > begin; --c)
    sooner(out_.calls[c - 1].begin), sooner(out_.calls[c - 1].end);
  Ns host = by;
  Ns from = op.span.begin;
  if (op.call != ReplayModel::kNone) {  // of a host that was ahead only what it is not
    from = model_.calls()[op.call].span.begin;
    const Ns ahead = difference_saturating(was, sum_saturating(clock_.at_call(op.call), op.latency));
    host = std::max(Ns{0}, difference_saturating(by, difference_saturating(ahead, op.gap)));
  }
  clock_.come_sooner(from, std::min(by, host));
}

std::vector<Ns> Player::behind() const {
  const ReplayModel::StepSpan& last = model_.steps().back();
  const Ns ended = clock_.after(last.clock, last.span.end);
  std::vector<Ns> out(queues_.size(), 0);
  for (std::size_t o = 0; o < out_.ops.size(); ++o) {
    const ReplayModel::Operation& op = model_.ops()[o];
    if (op.call == ReplayModel::kNone || model_.calls()[op.call].span.begin > last.span.end) continue;
    out[op.queue] = std::max(out[op.queue], difference_saturating(out_.ops[o].end, ended));
  }
  return out;
}

void Player::start_behind(const std::vector<Ns>& behind) {
  const ReplayModel::StepSpan& first = model_.steps().front();
  const Ns begin = clock_.now(first.clock, first.span.begin);
  behind_ = 0;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    queues_[q].free = sum_saturating(begin, behind[q]);
    behind_ = std::max(*behind_, behind[q]);
  }
}

ReplayResult Player::result() {
  out_.before = model_.run().length();
  for (const ReplayModel::StepSpan& s : model_.steps())
    out_.steps.push_back({s.slice, s.span, {clock_.after(s.clock, s.span.begin), clock_.after(s.clock, s.span.end)}});
  Ns begin = model_.run().begin, end = std::numeric_limits<Ns>::min();
  if (model_.has_whole_steps()) {
    begin = sum_saturating(out_.steps.front().after.begin, behind_.value_or(0));
    for (const ReplayedStep& s : out_.steps) end = std::max(end, s.after.end);
  } else if (!out_.calls.empty() && model_.calls().front().span.begin <= begin) {
    begin = out_.calls.front().begin;
  }
  if (!model_.has_whole_steps())
    for (const Span& call : out_.calls) end = std::max(end, call.end);
  for (const Span& op : out_.ops) end = std::max(end, op.end);
  out_.run = {begin, std::max(begin, end)};
  out_.after = out_.run.length();
  return std::move(out_);
}

}  // namespace gapscope
