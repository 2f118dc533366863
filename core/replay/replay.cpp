#include "core/replay/replay.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "core/base/saturating.h"
#include "core/replay/host_clock.h"

namespace gapscope {
namespace {

using Operation = ReplayModel::Operation;
using HostCall = ReplayModel::HostCall;

constexpr std::uint32_t kLookEvery = 4096;  // calls between looks at whether it was cancelled

// How far a queue is.
struct Queue {
  Ns begin = 0;        // of the operation before
  Ns free = 0;         // where all operations have ended
  Ns copies_free = 0;  // where copies that hold up nothing else have
};

class Player {
 public:
  Player(const ReplayModel& model, const Change& change)
      : model_(model), change_(change), clock_(model, change), queues_(model.queues()) {
    freed_.assign(model.calls().size(), change.no_wait);
    for (std::size_t c = 0; c < model.calls().size() && !change.freed.empty(); ++c)
      if (std::binary_search(change.freed.begin(), change.freed.end(), model.calls()[c].slice)) freed_[c] = true;
    out_.ops.resize(model.ops().size());
    out_.calls.resize(model.calls().size());
  }

  ReplayResult play(const std::atomic<bool>* cancel) {
    const auto calls = static_cast<std::uint32_t>(model_.calls().size());
    for (std::uint32_t c = 0; c < calls; ++c) {
      if (c % kLookEvery == 0 && cancel != nullptr && *cancel) {
        out_.cancelled = true;
        return std::move(out_);
      }
      play_call(c);
    }
    play_ops(calls == 0 ? 0 : model_.calls().back().end, static_cast<std::uint32_t>(model_.order().size()));
    measure();
    return std::move(out_);
  }

 private:
  void play_call(std::uint32_t c) {
    const HostCall& call = model_.calls()[c];
    const Ns begin = clock_.at_call(c);
    play_ops(call.first, call.end);
    Ns done = sum_saturating(begin, std::min(call.span.length(), kShortestWait));
    if (call.waits_for == ReplayModel::kNone) {
      out_.calls[c] = {begin, std::max(begin, clock_.now(call.clock, call.span.end))};
      return;
    }
    if (!freed_[c]) {
      const Ns returns = call.span.end - model_.ops()[call.waits_for].span.end;
      done = std::max(done, sum_saturating(out_.ops[call.waits_for].end, returns));
    }
    out_.calls[c] = {begin, done};
    clock_.set(call.clock, call.span.end, done);
  }

  void play_ops(std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end; ++i) play_op(model_.order()[i]);
  }

  void play_op(std::uint32_t o) {
    const Operation& op = model_.ops()[o];
    Queue& queue = queues_[op.queue];
    const bool beside = change_.overlap_copies && op.gpu_class == GpuClass::copy;
    Ns ready = op.span.begin;
    if (!op.first) {
      const Ns free = beside ? std::max(queue.free, queue.copies_free) : queue.free;
      ready = std::max(queue.begin, difference_saturating(free, op.overlap));
    }
    if (op.call != ReplayModel::kNone) {
      const Ns launched = sum_saturating(clock_.at_call(op.call), op.latency);
      ready = op.first ? launched : std::max(ready, launched);
    }
    const Ns begin = sum_saturating(ready, op.gap);
    const Ns end = sum_saturating(begin, change_.lasts.empty() ? op.span.length() : change_.lasts[o]);
    out_.ops[o] = {begin, end};
    if (beside) {
      queue.copies_free = std::max(queue.copies_free, end);
      if (op.first) queue.free = queue.begin = begin;
    } else {
      queue.begin = begin;
      queue.free = op.first ? end : std::max(queue.free, end);
    }
  }

  void measure() {
    const ReplayModel& m = model_;
    out_.before = m.run().length();
    for (const ReplayModel::StepSpan& s : m.steps())
      out_.steps.push_back({s.slice, s.span, {clock_.after(s.clock, s.span.begin), clock_.after(s.clock, s.span.end)}});
    Ns begin = m.run().begin, end = std::numeric_limits<Ns>::min();
    if (!out_.steps.empty()) {
      begin = out_.steps.front().after.begin;
      for (const ReplayedStep& s : out_.steps) end = std::max(end, s.after.end);
    } else if (!out_.calls.empty() && m.calls().front().span.begin <= begin) {
      begin = out_.calls.front().begin;
    }
    if (out_.steps.empty())
      for (const Span& call : out_.calls) end = std::max(end, call.end);
    for (const Span& op : out_.ops) end = std::max(end, op.end);
    out_.run = {begin, std::max(begin, end)};
    out_.after = out_.run.length();
  }

  const ReplayModel& model_;
  const Change& change_;
  HostClock clock_;
  std::vector<Queue> queues_;
  std::vector<bool> freed_;
  ReplayResult out_;
};

Ns busy_length(const ReplayModel& model, std::int32_t device, Span run, const std::vector<Span>* after) {
  std::vector<std::vector<Span>> by_queue(model.queues());
  for (const std::uint32_t o : model.order()) {
    const Operation& op = model.ops()[o];
    const Span span = intersect(after != nullptr ? (*after)[o] : op.span, run);
    if (op.device == device && !span.empty()) by_queue[op.queue].push_back(span);
  }
  std::vector<SpanSet> sets;
  for (std::vector<Span>& spans : by_queue) sets.push_back(span_set(std::move(spans)));
  return length(unite(std::move(sets)));
}

}  // namespace

Change both(Change a, const Change& b) {
  a.host *= b.host;
  a.no_wait |= b.no_wait;
  a.overlap_copies |= b.overlap_copies;
  a.removed = unite(a.removed, b.removed);
  std::vector<SliceId> freed;
  std::set_union(a.freed.begin(), a.freed.end(), b.freed.begin(), b.freed.end(), std::back_inserter(freed));
  a.freed = std::move(freed);
  if (a.lasts.empty()) a.lasts = b.lasts;
  for (std::size_t i = 0; i < std::min(a.lasts.size(), b.lasts.size()); ++i) a.lasts[i] = std::min(a.lasts[i], b.lasts[i]);
  return a;
}

ReplayResult replay(const ReplayModel& model, const Change& change, const std::atomic<bool>* cancel) {
  return Player(model, change).play(cancel);
}

GpuBusy gpu_busy(const ReplayModel& model, const ReplayResult& result) {
  std::map<std::int32_t, bool> devices;
  for (const Operation& op : model.ops()) devices.emplace(op.device, true);
  GpuBusy out;
  for (const auto& [device, used] : devices) {
    const Ns before = busy_length(model, device, model.run(), nullptr);
    if (before <= out.before && &device != &devices.begin()->first) continue;
    out = {device, before, busy_length(model, device, result.run, &result.ops)};
  }
  return out;
}

}  // namespace gapscope
