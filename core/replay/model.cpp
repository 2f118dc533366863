// How a recording is taken apart for replaying it.
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/analyze/steps.h"
#include "core/base/max_tree.h"
#include "core/base/saturating.h"
#include "core/replay/replay.h"

namespace gapscope {
namespace {

constexpr Ns kMostLatency = 10 * kNsPerUs;
constexpr std::size_t kLatencyPart = 50;   // the second percentile
constexpr Ns kCopyReturns = kNsPerUs / 2;  // a call that returns so much before its copy ends, at most, has waited for it
constexpr Ns kLateEnd = kNsPerUs;          // clocks of host and GPU disagree by this much
constexpr Ns kMostTime = Ns{1} << 53;      // over a hundred days, no recording is that long
constexpr std::int64_t kLaunchedBefore = std::numeric_limits<std::int64_t>::max();

bool is_wait_name(std::string_view call) {
  return call.ends_with("DeviceSynchronize") || call.ends_with("StreamSynchronize") || call.ends_with("EventSynchronize") ||
         call.ends_with("CtxSynchronize");
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
    const std::array parts = {&ModelMaker::gather_calls, &ModelMaker::gather_ops, &ModelMaker::find_latency,
                              &ModelMaker::find_gaps,    &ModelMaker::find_waits, &ModelMaker::order_ops,
                              &ModelMaker::gather_steps, &ModelMaker::find_run};
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
    std::sort(found.begin(), found.end(), [&](SliceId a, SliceId b) {
      return std::tuple(trace_.begin(a), trace_.slices.offset[a.index()], a) <
             std::tuple(trace_.begin(b), trace_.slices.offset[b.index()], b);
    });
    for (const SliceId s : found) {
      call_at_.emplace(s.value, static_cast<std::uint32_t>(model_->calls_.size()));
      model_->calls_.push_back({s, trace_.span_of(s), clock_of(s)});
    }
  }

  // One a process: its threads take turns.
  std::uint32_t clock_of(SliceId s) {
    const std::uint32_t process = trace_.lane(s).process.value;
    const auto [at, added] = clock_of_process_.emplace(process, model_->clocks_);
    if (added) ++model_->clocks_;
    return at->second;
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
      if (gpu_[i].linked()) op.call = call_at_.at(gpu_[i].launch.value);
    }
    ops_of_call_.resize(model_->calls_.size());
    for (std::uint32_t i = 0; i < model_->ops_.size(); ++i)
      if (const std::uint32_t call = model_->ops_[i].call; call != kNone) ops_of_call_[call].push_back(i);
    for (std::size_t c = 0; c < ops_of_call_.size(); ++c) model_->calls_[c].launches = !ops_of_call_[c].empty();
  }

  void find_latency() {
    std::vector<Ns> all;
    for (std::size_t c = 0; c < ops_of_call_.size(); ++c) {
      if (ops_of_call_[c].empty()) continue;
      const Ns latency = model_->ops_[ops_of_call_[c].front()].span.begin - model_->calls_[c].span.begin;
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
    return std::any_of(ops_of_call_[c].begin(), ops_of_call_[c].end(), [&](std::uint32_t o) {
      const Operation& op = model_->ops_[o];
      return op.gpu_class == GpuClass::copy && model_->calls_[c].span.end >= op.span.end - kCopyReturns;
    });
  }

  // What a waiting call waits for: of what was launched before it, or by itself, or before the recording, what ends last
  // while it waits.
  void find_waits() {
    std::vector<std::uint32_t> by_end(model_->ops_.size());
    std::iota(by_end.begin(), by_end.end(), 0u);
    std::stable_sort(by_end.begin(), by_end.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return model_->ops_[a].span.end < model_->ops_[b].span.end; });
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
      for (const std::uint32_t o : ops_of_call_[c])
        if (model_->ops_[o].span.end <= call.span.end + kLateEnd) take_wait(call, o);
      if (call.waits_for != kNone) ++model_->waits_;
    }
  }

  void take_wait(HostCall& call, std::uint32_t o) const {
    const Ns end = model_->ops_[o].span.end;
    if (end > call.span.begin && (call.waits_for == kNone || end > model_->ops_[call.waits_for].span.end)) call.waits_for = o;
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
      for (const std::uint32_t o : ops_of_call_[c]) bring(o);
      if (call.waits_for != kNone) bring(call.waits_for);
      call.end = size();
    }
    for (const StreamOps& queue : queues_) bring(queue.ops.back());
  }

  void gather_steps() {
    for (const SliceId s : profiler_steps(trace_)) model_->steps_.push_back({s, trace_.span_of(s), clock_of(s)});
  }

  void find_run() {
    const auto& [ops, calls, steps] = std::tie(model_->ops_, model_->calls_, model_->steps_);
    Span& run = model_->run_;
    run = steps.empty() ? ops.front().span : steps.front().span;
    if (steps.empty() && !calls.empty()) run.begin = std::min(run.begin, calls.front().span.begin);
    for (const auto& s : steps) run.end = std::max(run.end, s.span.end);
    if (steps.empty())
      for (const HostCall& c : calls) run.end = std::max(run.end, c.span.end);
    for (const Operation& op : ops) run.end = std::max(run.end, op.span.end);
  }

  const Trace& trace_;
  const NameIndex& names_;
  const std::vector<GpuOp>& gpu_;
  ReplayModel* model_ = nullptr;
  std::vector<StreamOps> queues_;
  std::vector<std::vector<std::uint32_t>> ops_of_call_;       // by call: positions in ops(), in time order
  std::unordered_map<std::uint32_t, std::uint32_t> call_at_;  // by slice
  std::unordered_map<std::uint32_t, std::uint32_t> clock_of_process_;
};

std::unique_ptr<const ReplayModel> ReplayModel::make(const Trace& trace, const NameIndex& names, const std::vector<GpuOp>& ops,
                                                     const std::atomic<bool>* cancel) {
  return ModelMaker(trace, names, ops).make(cancel);
}

}  // namespace gapscope
