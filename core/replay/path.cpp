#include "core/replay/path.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/saturating.h"
#include "core/replay/host_clock.h"
#include "core/replay/host_walk.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNone = ReplayModel::kNone;

// Where each operation could begin by its queue, and the operation that it waited for there.
struct Queued {
  Ns ready = 0;
  std::uint32_t after = kNone;  // none: the first of its queue
};
std::vector<Queued> queued(const ReplayModel& model, const Change& change, const ReplayResult& result) {
  struct State {
    std::uint32_t holds = kNone, last = kNone;
  };
  std::vector<State> queues(model.queues());
  std::vector<Queued> out(model.ops().size());
  for (const std::uint32_t o : model.order()) {
    const ReplayModel::Operation& op = model.ops()[o];
    State& queue = queues[op.queue];
    if (queue.holds != kNone)
      out[o] = {std::max(result.ops[queue.last].begin, difference_saturating(result.ops[queue.holds].end, op.overlap)),
                queue.holds};
    if (change.overlap_copies && op.gpu_class == GpuClass::copy && queue.holds != kNone) continue;
    queue.last = o;
    if (queue.holds == kNone || result.ops[o].end >= result.ops[queue.holds].end) queue.holds = o;
  }
  return out;
}

// Backwards from the end of the run, each time to what was waited for.
class PathWalk {
 public:
  PathWalk(const ReplayModel& model, const Change& change, const ReplayResult& result)
      : model_(model),
        change_(change),
        result_(result),
        host_(model, result),
        queued_(queued(model, change, result)),
        at_(result.run.end) {}

  std::vector<PathStretch> walk() {
    std::uint32_t op = last_op(), call = kNone;
    if (op == kNone) call = walk_end();
    // Each turn goes to an earlier operation or call; a file whose times contradict each other could go round.
    for (std::size_t turns = 2 * (model_.ops().size() + model_.calls().size()) + 2; turns > 0 && at_ > result_.run.begin;
         --turns) {
      if (op != kNone) {
        std::tie(op, call) = walk_op(op);
      } else if (call != kNone) {
        op = walk_host(call);
        call = kNone;
      } else {
        break;
      }
    }
    add(result_.run.begin, HeldBy::host, {}, {});
    std::reverse(out_.begin(), out_.end());
    return std::move(out_);
  }

 private:
  // The stretch from `from` to where the walk is.
  void add(Ns from, HeldBy by, SliceId slice, Span old) {
    from = std::max(from, result_.run.begin);
    if (from >= at_) return;
    out_.push_back({{from, at_}, by, slice, old});
    at_ = from;
  }

  std::uint32_t last_op() const {
    for (std::uint32_t o = 0; o < result_.ops.size(); ++o)
      if (result_.ops[o].end == result_.run.end) return o;
    return kNone;
  }

  // The host's time after its last call; that call.
  std::uint32_t walk_end() {
    std::uint32_t clock = 0;
    Ns old = model_.run().end;
    for (std::size_t s = 0; s < result_.steps.size(); ++s)
      if (result_.steps[s].after.end == result_.run.end) clock = model_.steps()[s].clock, old = model_.steps()[s].span.end;
    const std::uint32_t call = host_.last(clock, old);
    if (call == kNone) return kNone;
    add(result_.calls[call].end, HeldBy::host, {}, {model_.calls()[call].span.end, old});
    return in_call(call);
  }

  // Once at the end of a call: to what it waited for, else to its begin.
  std::uint32_t in_call(std::uint32_t c) {
    if (waited(c)) {
      target_ = model_.calls()[c].target(change_);
      add(result_.ops[target_].end, HeldBy::wait, model_.calls()[c].slice, {});
    } else {
      add(result_.calls[c].begin, HeldBy::host, model_.calls()[c].slice, model_.calls()[c].span);
    }
    return c;
  }
  bool waited(std::uint32_t c) const {
    const ReplayModel::HostCall& call = model_.calls()[c];
    return call.target(change_) != kNone &&
           result_.calls[c].end > result_.calls[c].begin + std::min(call.span.length(), kShortestWait);
  }

  // The next operation, or call.
  std::pair<std::uint32_t, std::uint32_t> walk_op(std::uint32_t o) {
    const ReplayModel::Operation& op = model_.ops()[o];
    add(result_.ops[o].begin, op.gpu_class == GpuClass::communication ? HeldBy::collective : HeldBy::queue, op.slice, {});
    const Ns launched = op.call == kNone ? result_.run.begin : result_.calls[op.call].begin + op.latency;
    if (queued_[o].after != kNone && (op.call == kNone || queued_[o].ready >= launched)) {
      add(queued_[o].ready, HeldBy::start, op.slice, {});
      return {queued_[o].after, kNone};
    }
    if (op.call == kNone) return {kNone, kNone};
    add(result_.calls[op.call].begin, HeldBy::start, op.slice, {});
    return {kNone, op.call};
  }

  // From the begin of a call back to a wait that held the host up: what it waited for, or none.
  std::uint32_t walk_host(std::uint32_t call) {
    if (target_ != kNone) return std::exchange(target_, kNone);
    for (std::uint32_t c = call; at_ > result_.run.begin;) {
      const std::uint32_t before = host_.before(c);
      if (before == kNone) {
        const Ns end = model_.calls()[c].span.begin;
        add(result_.run.begin, HeldBy::host, model_.calls()[c].slice, {std::min(model_.run().begin, end), end});
        return kNone;
      }
      const Ns old_end = model_.calls()[c].span.begin;
      add(result_.calls[before].end, HeldBy::host, model_.calls()[c].slice,
          {std::min(model_.calls()[before].span.end, old_end), old_end});
      in_call(before);
      if (target_ != kNone) return std::exchange(target_, kNone);
      c = before;
    }
    return kNone;
  }

  const ReplayModel& model_;
  const Change& change_;
  const ReplayResult& result_;
  const HostWalk host_;
  const std::vector<Queued> queued_;
  Ns at_;
  std::uint32_t target_ = kNone;  // of a wait that was come to
  std::vector<PathStretch> out_;
};

}  // namespace

std::string_view held_by_key(HeldBy by) {
  constexpr std::array<std::string_view, kHeldBy> kKeys = {"host", "start", "queue", "collective", "wait"};
  return kKeys[static_cast<std::size_t>(by)];
}

std::string_view held_by_words(HeldBy by) {
  constexpr std::array<std::string_view, kHeldBy> kWords = {"the host", "launched, not begun", "GPU work", "communication",
                                                            "returning from waits"};
  return kWords[static_cast<std::size_t>(by)];
}

std::vector<PathStretch> critical_path(const ReplayModel& model, const Change& change, const ReplayResult& result) {
  return PathWalk(model, change, result).walk();
}

}  // namespace gapscope
