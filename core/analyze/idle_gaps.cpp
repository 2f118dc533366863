#include "core/analyze/idle_gaps.h"

#include <algorithm>
#include <unordered_map>

#include "core/analyze/span_set.h"
#include "core/analyze/steps.h"

namespace gapscope {
namespace {

IdleClass class_of(const GpuOp& next, Span gap) {
  if (next.linked() && next.launch_span.begin > gap.begin) return IdleClass::host_wait;
  return gap.length() < kKernelWaitLimit ? IdleClass::kernel_wait : IdleClass::other;
}

// Slices of one CPU lane that can hold up a launch, by begin; answers which of them covers most of a gap.
class Suspects {
 public:
  void add(SliceId slice, Span span) { list_.push_back({span, slice}); }

  void finish() {
    const auto before = [](const Suspect& a, const Suspect& b) { return a.span.begin < b.span.begin; };
    if (!std::is_sorted(list_.begin(), list_.end(), before)) std::stable_sort(list_.begin(), list_.end(), before);
    longest_.resize(list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i)
      longest_[i] = i > 0 && list_[longest_[i - 1]].span.end >= list_[i].span.end ? longest_[i - 1] : static_cast<std::uint32_t>(i);
  }

  // Keeps the better of `best` and what covers more. Of those that begin before the gap only the one that ends last counts;
  // those that begin inside are all looked at, and each begins in one gap of a stream.
  void cover(Span gap, SliceId& best, Ns& best_ns) const {
    const auto first = std::upper_bound(list_.begin(), list_.end(), gap.begin, [](Ns t, const Suspect& s) { return t < s.span.begin; });
    const auto take = [&](const Suspect& s) {
      const Ns covered = intersect(s.span, gap).length();
      if (covered <= best_ns) return;
      best_ns = covered;
      best = s.slice;
    };
    if (first != list_.begin()) take(list_[longest_[static_cast<std::size_t>(first - list_.begin()) - 1]]);
    for (auto s = first; s != list_.end() && s->span.begin < gap.end; ++s) take(*s);
  }

 private:
  struct Suspect {
    Span span;
    SliceId slice;
  };
  std::vector<Suspect> list_;
  std::vector<std::uint32_t> longest_;  // of the suspects so far, the one that ends last
};

using SuspectsByLane = std::unordered_map<LaneId, Suspects>;

// Calls and data loading under their thread's lane, profiler overheads under lane "none": they hold up every thread.
SuspectsByLane find_suspects(const Trace& trace) {
  std::vector<std::int8_t> loader(trace.strings.size(), -1);
  SuspectsByLane lanes;
  for (const Row& row : trace.rows) {
    Suspects* list = nullptr;
    for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
      const Kind kind = trace.categories[trace.slices.category[s]].kind;
      bool suspect = is_call(kind) || kind == Kind::overhead;
      if (kind == Kind::op || kind == Kind::annotation) {
        std::int8_t& known = loader[trace.slices.name[s].index()];
        if (known < 0) known = is_data_loader_name(trace.strings[trace.slices.name[s]]) ? 1 : 0;
        suspect = known == 1;
      }
      if (!suspect) continue;
      if (kind == Kind::overhead) {
        lanes[LaneId{}].add(SliceId(s), {trace.slices.begin[s], trace.slices.end[s]});
        continue;
      }
      if (!list) list = &lanes[row.lane];
      list->add(SliceId(s), {trace.slices.begin[s], trace.slices.end[s]});
    }
  }
  for (auto& [lane, suspects] : lanes) suspects.finish();
  return lanes;
}

SliceId cause_of(const Trace& trace, const SuspectsByLane& lanes, const IdleGap& gap, const GpuOp& next) {
  if (!next.linked()) return {};
  SliceId best;
  Ns covered = 0;
  for (const LaneId lane : {trace.lane_id(next.launch), LaneId{}}) {
    const auto suspects = lanes.find(lane);
    if (suspects != lanes.end()) suspects->second.cover(gap.span, best, covered);
  }
  if (covered > gap.span.length() - covered) return best;
  return gap.idle_class == IdleClass::host_wait ? next.launch : SliceId{};
}

}  // namespace

std::string_view idle_class_name(IdleClass c) {
  constexpr std::array<std::string_view, kIdleClasses> kNames = {"host_wait", "kernel_wait", "other"};
  return kNames[static_cast<std::size_t>(c)];
}

std::vector<IdleGap> idle_gaps(const Trace& trace, const std::vector<GpuOp>& ops) {
  const SuspectsByLane suspects = find_suspects(trace);
  std::vector<IdleGap> gaps;
  gaps.reserve(ops.size());
  for (const StreamOps& stream : streams_of(ops)) {
    const GpuOp* last = nullptr;
    for (const std::uint32_t i : stream.ops) {
      const GpuOp& op = ops[i];
      if (last && op.span.begin > last->span.end) {
        IdleGap gap{{last->span.end, op.span.begin}, stream.device, stream.stream, IdleClass::other, last->slice, op.slice, {}};
        gap.idle_class = class_of(op, gap.span);
        gap.cause = cause_of(trace, suspects, gap, op);
        gaps.push_back(gap);
      }
      if (!last || op.span.end >= last->span.end) last = &op;
    }
  }
  return gaps;
}

IdleGaps::IdleGaps(const Trace& trace, const std::vector<IdleGap>& gaps) : trace_(&trace) {
  gaps_.reserve(gaps.size());
  for (const IdleGap& g : gaps) {
    if (streams_.empty() || streams_.back().device != g.device || streams_.back().stream != g.stream)
      streams_.push_back({gaps_.size(), g.device, g.stream});
    gaps_.push_back({g.before, g.after, g.cause, g.idle_class});
  }
}

IdleGap IdleGaps::operator[](std::size_t i) const {
  const Short& g = gaps_[i];
  const auto after = std::upper_bound(streams_.begin(), streams_.end(), i, [](std::size_t at, const Stream& s) { return at < s.first; });
  const Stream& stream = *(after - 1);
  return {{trace_->end(g.before), trace_->begin(g.after)}, stream.device, stream.stream, g.idle_class, g.before, g.after, g.cause};
}

std::vector<StreamIdle> idle_by_stream(const std::vector<GpuOp>& ops, const std::vector<IdleGap>& gaps) {
  std::vector<StreamIdle> out;
  auto gap = gaps.begin();
  for (const StreamOps& stream : streams_of(ops)) {
    StreamIdle idle{stream.device, stream.stream, {}, {}};
    for (; gap != gaps.end() && gap->device == stream.device && gap->stream == stream.stream; ++gap) {
      idle.time[static_cast<std::size_t>(gap->idle_class)] += gap->span.length();
      ++idle.count[static_cast<std::size_t>(gap->idle_class)];
    }
    out.push_back(idle);
  }
  return out;
}

}  // namespace gapscope
