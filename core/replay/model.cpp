// How a recording is taken apart for replaying it.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/steps.h"
#include "core/base/id_map.h"
#include "core/base/max_tree.h"
#include "core/base/radix_sort.h"
#include "core/base/saturating.h"
#include "core/replay/event_waits.h"
#include "core/replay/replay.h"
#include "core/replay/thread_clocks.h"

namespace gapscope {
namespace {

constexpr Ns kMostLatency = 10 * kNsPerUs;
constexpr std::size_t kLatencyPart = 50;   // the second percentile
constexpr Ns kCopyReturns = kNsPerUs / 2;  // a call that returns so much before its copy ends, at most, has waited for it
constexpr Ns kLateEnd = kNsPerUs;          // clocks of host and GPU disagree by this much
constexpr Ns kMostTime = Ns{1} << 53;      // over a hundred days, no recording is that long
// A queue of CUDA has 1,024 entries. On an H100 launches that found no room returned with 1,008 to 1,021 of those before them
// not yet begun, 9 us after the end of the operation that made room.
constexpr std::uint32_t kQueueHolds = 1000;
constexpr std::int64_t kLaunchedBefore = std::numeric_limits<std::int64_t>::max();

bool is_wait_name(std::string_view call) {
  return call.ends_with("DeviceSynchronize") || call.ends_with("StreamSynchronize") || call.ends_with("EventSynchronize") ||
         call.ends_with("CtxSynchronize") || call.ends_with("hipMemcpyWithStream");
}

}  // namespace

class ModelMaker {
 public:
  ModelMaker(const Trace& trace, const NameIndex& names, const std::vector<GpuOp>& ops)
      : trace_(trace), names_(names), gpu_(ops) {}

  std::unique_ptr<const ReplayModel> make(const std::atomic<bool>* cancel) {
    auto model = std::make_unique<ReplayModel>();
    model_ = model.get();
    if (gpu_.empty() || trace_.span.length() > kMostTime) return model;
    const std::array parts = {&ModelMaker::gather_calls,        &ModelMaker::gather_ops, &ModelMaker::find_latency,
                              &ModelMaker::find_gaps,           &ModelMaker::find_waits, &ModelMaker::find_full_queues,
                              &ModelMaker::find_waiting_copies, &ModelMaker::order_ops,  &ModelMaker::find_event_waits,
                              &ModelMaker::gather_steps,        &ModelMaker::find_run};
    for (const auto part : parts) {
      if (cancel != nullptr && *cancel) return nullptr;
      (this->*part)();
    }
    return model;
  }

 private:
  using Operation = ReplayModel::Operation;
  using HostCall = ReplayModel::HostCall;
  static constexpr std::uint32_t kNone = ReplayModel::kNone;

  // Those that launch and those that wait, in the order they begin.
  void gather_calls() {
    std::vector<SliceId> found;
    for (const GpuOp& op : gpu_)
      if (op.linked()) found.push_back(op.launch);
    for (const StringId name : names_.used_names()) {
      if (!is_wait_name(trace_.strings[name])) continue;
      for (const SliceId s : names_.slices_named(name))
        if (is_call(trace_.kind(s))) found.push_back(s);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    call_at_ = IdMap<std::uint32_t>(found.size());
    for (const SliceId s : found) call_at_.expect(s.value);
    call_at_.seal();
    found = in_time_order(found);
    clocks_.emplace(trace_, found);
    model_->calls_.reserve(found.size());
    for (const SliceId s : found) {
      call_at_[s.value] = static_cast<std::uint32_t>(model_->calls_.size());
      model_->calls_.push_back({s, trace_.span_of(s), clocks_->of(trace_.lane_id(s))});
    }
    model_->joins_ = clocks_->joins();
    model_->at_once_ = clocks_->at_once();
    gather_frees();
  }

  void gather_frees() {
    std::vector<SliceId> found;
    for (const char* name : {"cudaFree", "hipFree"})
      if (const StringId id = trace_.strings.find(name))
        for (const SliceId s : names_.slices_named(id))
          if (is_call(trace_.kind(s))) found.push_back(s);
    std::uint32_t call = 0;
    for (const SliceId s : in_time_order(found)) {
      while (call < model_->calls_.size() && model_->calls_[call].span.begin < trace_.begin(s)) ++call;
      model_->frees_.push_back({s, trace_.span_of(s), clocks_->of(trace_.lane_id(s)), call});
    }
  }

  // By begin, those that begin together as the file has them.
  std::vector<SliceId> in_time_order(const std::vector<SliceId>& slices) const {
    struct Begun {
      Ns begin;
      SliceId slice;
    };
    std::vector<Begun> list, room;
    list.reserve(slices.size());
    for (const SliceId s : slices) list.push_back({trace_.begin(s), s});
    radix_sort(list, room, [](const Begun& b) { return ordered_bits(b.begin); });
    for (auto first = list.begin(); first != list.end();) {
      const auto last = std::find_if(first, list.end(), [&](const Begun& b) { return b.begin != first->begin; });
      const auto place = [&](const Begun& b) { return std::pair(trace_.slices.offset[b.slice.index()], b.slice); };
      std::sort(first, last, [&](const Begun& a, const Begun& b) { return place(a) < place(b); });
      first = last;
    }
    std::vector<SliceId> out;
    out.reserve(list.size());
    for (const Begun& b : list) out.push_back(b.slice);
    return out;
  }

  void gather_ops() {
    queues_ = streams_of(gpu_);
    model_->queues_ = static_cast<std::uint32_t>(queues_.size());
    model_->ops_.resize(gpu_.size());
    for (std::size_t i = 0; i < gpu_.size(); ++i) {
      Operation& op = model_->ops_[i];
      op.slice = gpu_[i].slice;
      op.span = gpu_[i].span;
      op.device = gpu_[i].device;
      op.gpu_class = gpu_[i].gpu_class;
      if (gpu_[i].linked()) op.call = call_at_.find(gpu_[i].launch.value);
    }
    first_of_call_.assign(model_->calls_.size() + 1, 0);
    for (const Operation& op : model_->ops_)
      if (op.call != kNone) ++first_of_call_[op.call + 1];
    std::partial_sum(first_of_call_.begin(), first_of_call_.end(), first_of_call_.begin());
    ops_by_call_.resize(first_of_call_.back());
    std::vector<std::uint32_t> next(first_of_call_.begin(), first_of_call_.end() - 1);
    for (std::uint32_t i = 0; i < model_->ops_.size(); ++i)
      if (const std::uint32_t call = model_->ops_[i].call; call != kNone) ops_by_call_[next[call]++] = i;
    for (std::uint32_t c = 0; c < model_->calls_.size(); ++c) model_->calls_[c].launches = !ops_of_call(c).empty();
  }

  // In time order.
  std::span<const std::uint32_t> ops_of_call(std::uint32_t call) const {
    return std::span(ops_by_call_).subspan(first_of_call_[call], first_of_call_[call + 1] - first_of_call_[call]);
  }

  void find_latency() {
    std::vector<Ns> all;
    for (std::uint32_t c = 0; c < model_->calls_.size(); ++c) {
      if (ops_of_call(c).empty()) continue;
      const Ns latency = model_->ops_[ops_of_call(c).front()].span.begin - model_->calls_[c].span.begin;
      if (latency >= 0) all.push_back(latency);
    }
    model_->latency_ = kMostLatency;
    if (all.empty()) return;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(all.size() / kLatencyPart);
    std::nth_element(all.begin(), at, all.end());
    model_->latency_ = std::min(*at, kMostLatency);
  }

  void find_gaps() {
    for (std::uint32_t q = 0; q < queues_.size(); ++q) {
      Ns free = 0;
      bool first = true;
      for (const std::uint32_t o : queues_[q].ops) {
        Operation& op = model_->ops_[o];
        op.queue = q;
        op.first = first;
        op.overlap = first ? 0 : std::max(Ns{0}, free - op.span.begin);
        Ns ready = first ? op.span.begin : free - op.overlap;
        if (op.call != kNone) {
          const Ns called = model_->calls_[op.call].span.begin;
          op.latency = std::min(model_->latency_, op.span.begin - called);
          ready = first ? called + op.latency : std::max(ready, called + op.latency);
        }
        op.gap = op.span.begin - ready;
        free = first ? op.span.end : std::max(free, op.span.end);
        first = false;
      }
    }
  }

  bool has_waited_for_copy(std::uint32_t c) const {
    const std::span<const std::uint32_t> ops = ops_of_call(c);
    return std::any_of(ops.begin(), ops.end(), [&](std::uint32_t o) {
      const Operation& op = model_->ops_[o];
      return op.gpu_class == GpuClass::copy && model_->calls_[c].span.end >= op.span.end - kCopyReturns;
    });
  }

  // What a waiting call waits for: of what was launched before it, or by itself, or before the recording, what ends last
  // while it waits.
  void find_waits() {
    std::vector<std::uint32_t> by_end(model_->ops_.size());
    std::iota(by_end.begin(), by_end.end(), 0u);
    std::vector<std::uint32_t> room;
    radix_sort(by_end, room, [&](std::uint32_t o) { return ordered_bits(model_->ops_[o].span.end); });
    MaxTree launched;  // by place in by_end: the earlier, the larger
    launched.resize(by_end.size());
    for (std::size_t i = 0; i < by_end.size(); ++i) {
      const std::uint32_t call = model_->ops_[by_end[i]].call;
      launched.set(i, call == kNone ? kLaunchedBefore : ~model_->calls_[call].span.begin);
    }
    for (std::uint32_t c = 0; c < model_->calls_.size(); ++c) {
      HostCall& call = model_->calls_[c];
      if (!is_wait_name(trace_.name(call.slice)) && !has_waited_for_copy(c)) continue;
      const auto ends_late = [&](Ns t, std::uint32_t o) { return t < model_->ops_[o].span.end; };
      const auto last = std::upper_bound(by_end.begin(), by_end.end(), call.span.end + kLateEnd, ends_late) - by_end.begin();
      const std::size_t at = launched.last_at_least(static_cast<std::size_t>(last), ~call.span.begin + 1);
      if (at != MaxTree::kNone) take_wait(call, by_end[at]);
      for (const std::uint32_t o : ops_of_call(c))
        if (model_->ops_[o].span.end <= call.span.end + kLateEnd) take_wait(call, o);
      if (call.waits_for != kNone) ++model_->waits_;
    }
  }

  void take_wait(HostCall& call, std::uint32_t o) const {
    const Ns end = model_->ops_[o].span.end;
    if (end > call.span.begin && (call.waits_for == kNone || end > model_->ops_[call.waits_for].span.end)) call.waits_for = o;
  }

  // A launch for which its queue had no room returns when an operation far before its own has ended.
  void find_full_queues() {
    for (const StreamOps& queue : queues_) {
      std::vector<std::uint32_t> launches;  // up to each: all operations of a graph are one
      for (const std::uint32_t o : queue.ops) {
        const bool same = !launches.empty() && model_->ops_[o].call != kNone &&
                          model_->ops_[o].call == model_->ops_[queue.ops[launches.size() - 1]].call;
        launches.push_back((launches.empty() ? 0 : launches.back()) + (same ? 0 : 1));
      }
      for (std::size_t i = kQueueHolds; i < queue.ops.size(); ++i) {
        if (launches[i] < kQueueHolds || launches[i] == launches[i - 1]) continue;
        if (const std::uint32_t call = model_->ops_[queue.ops[i]].call; call != kNone)
          take_room(model_->calls_[call], queue, launches, launches[i] - kQueueHolds);
      }
    }
  }

  // `most`: as many launches, at most, have begun when the call returns, if it found its queue full.
  void take_room(HostCall& call, const StreamOps& queue, const std::vector<std::uint32_t>& launches, std::uint32_t most) {
    const auto later = [&](Ns t, std::uint32_t o) { return t < model_->ops_[o].span.begin; };
    const auto begun = std::upper_bound(queue.ops.begin(), queue.ops.end(), call.span.end, later) - queue.ops.begin();
    if (begun < 2 || launches[static_cast<std::size_t>(begun) - 1] > most || call.waits_for != kNone) return;
    const std::uint32_t ended = queue.ops[static_cast<std::size_t>(begun) - 2];
    if (model_->ops_[ended].span.end <= call.span.begin || model_->ops_[ended].span.end > call.span.end) return;
    call.room = ended;
    ++model_->full_;
    add_saturating(model_->full_time_, call.span.length());
  }

  // A copy of pageable memory whose call returns while it lasts has waited for the operation before it: the memory is read once
  // the queue is free. As launches that found no room it waits where Change::full_queues.
  void find_waiting_copies() {
    for (const StreamOps& queue : queues_)
      for (std::size_t i = 1; i < queue.ops.size(); ++i) {
        const Operation& op = model_->ops_[queue.ops[i]];
        if (op.call == kNone || !is_pageable_copy(trace_.name(op.slice))) continue;
        HostCall& call = model_->calls_[op.call];
        if (call.waits_for != kNone || call.room != kNone || call.span.end <= op.span.begin) continue;
        if (model_->ops_[queue.ops[i - 1]].span.end > call.span.begin) call.room = queue.ops[i - 1];
      }
  }

  // Each operation comes after those before it in its queue; calls bring theirs, and what they wait for.
  void order_ops() {
    std::vector<std::uint32_t> place(model_->ops_.size()), done(queues_.size());
    for (const StreamOps& queue : queues_)
      for (std::uint32_t i = 0; i < queue.ops.size(); ++i) place[queue.ops[i]] = i;
    const auto bring = [&](std::uint32_t o) {
      const std::uint32_t q = model_->ops_[o].queue;
      while (done[q] <= place[o]) model_->order_.push_back(queues_[q].ops[done[q]++]);
    };
    const auto size = [&] { return static_cast<std::uint32_t>(model_->order_.size()); };
    for (std::uint32_t c = 0; c < model_->calls_.size(); ++c) {
      HostCall& call = model_->calls_[c];
      call.first = size();
      for (const std::uint32_t o : ops_of_call(c)) bring(o);
      if (call.waits_for != kNone) bring(call.waits_for);
      call.end = size();
    }
    for (const StreamOps& queue : queues_) bring(queue.ops.back());
  }

  // Their part of a gap is none of the queue's.
  void find_event_waits() {
    model_->event_waits_ = event_waits(trace_, names_, *model_, queues_);
    for (std::uint32_t i = 0; i < model_->event_waits_.size(); ++i) {
      const ReplayModel::EventWait& wait = model_->event_waits_[i];
      Operation& op = model_->ops_[wait.op];
      if (op.event_wait == kNone) op.event_wait = i;
      op.gap = std::min(op.gap, op.span.begin - model_->ops_[wait.after].span.end);
    }
  }

  void gather_steps() {
    const StepMarks marks = step_marks(trace_);
    for (const StepMarks::Mark& m : marks.steps)
      model_->steps_.push_back({m.slice, m.span, clocks_->of(trace_.lane_id(m.slice))});
    model_->clocks_ = clocks_->count();
    model_->whole_steps_ = marks.by_profiler;
  }

  void find_run() {
    const auto& [ops, calls, steps] = std::tie(model_->ops_, model_->calls_, model_->steps_);
    Span& run = model_->run_;
    if (model_->whole_steps_) {
      run = steps.front().span;
      for (const auto& s : steps) run.end = std::max(run.end, s.span.end);
    } else {
      run = ops.front().span;
      if (!calls.empty()) run.begin = std::min(run.begin, calls.front().span.begin);
      for (const HostCall& c : calls) run.end = std::max(run.end, c.span.end);
    }
    for (const Operation& op : ops) run.end = std::max(run.end, op.span.end);
  }

  const Trace& trace_;
  const NameIndex& names_;
  const std::vector<GpuOp>& gpu_;
  ReplayModel* model_ = nullptr;
  std::vector<StreamOps> queues_;
  std::vector<std::uint32_t> first_of_call_, ops_by_call_;  // positions in ops(), call by call
  IdMap<std::uint32_t> call_at_;                            // by slice
  std::optional<ThreadClocks> clocks_;
};

std::unique_ptr<const ReplayModel> ReplayModel::make(const Trace& trace, const NameIndex& names, const std::vector<GpuOp>& ops,
                                                     const std::atomic<bool>* cancel) {
  return ModelMaker(trace, names, ops).make(cancel);
}

}  // namespace gapscope
