#include "core/analyze/gpu/idle_gaps.h"

#include <algorithm>

#include "core/analyze/account/time_walk.h"
#include "core/analyze/steps.h"
#include "core/base/counted_steps.h"
#include "core/base/gallop.h"
#include "core/base/max_tree.h"

namespace gapscope {
namespace {

IdleClass class_of(const GpuOp& next, Span gap) {
  if (next.linked() && next.launch_span.begin > gap.begin) return IdleClass::host_wait;
  return gap.length() < kKernelWaitLimit ? IdleClass::kernel_wait : IdleClass::other;
}

// Slices of one CPU lane that can hold up a launch, by begin; answers which of them covers most of a gap.
class Suspects {
 public:
  // In order of begin.
  void add(const Trace& trace, SliceId slice) {
    const auto at = static_cast<std::uint32_t>(list_.size());
    const bool ends_last = at == 0 || trace.end(list_[longest_.back()]) < trace.end(slice);
    list_.push_back(slice);
    longest_.push_back(ends_last ? at : longest_.back());
  }

  // Keeps the better of `best` and what covers more. Of those that begin before the gap only the one that ends last counts.
  // Those that begin inside are looked at one by one where they are few; many streams may each have a gap that holds them all.
  // `near`: of the gap asked for before, 0 at first; gaps mostly come in time order, so the search begins there.
  void cover(const Trace& trace, Span gap, std::size_t& near, SliceId& best, Ns& best_ns) {
    const auto take = [&](SliceId s) {
      const Ns covered = intersect(trace.span_of(s), gap).length();
      if (covered <= best_ns) return;
      best_ns = covered;
      best = s;
    };
    near = first_after(trace, gap.begin, near);
    if (near > 0) take(list_[longest_[near - 1]]);
    const std::size_t few = std::min(near + kFew, list_.size());
    std::size_t i = near;
    for (; i < few && trace.begin(list_[i]) < gap.end; ++i) take(list_[i]);
    count_.steps += i - near;
    if (i == list_.size() || trace.begin(list_[i]) >= gap.end) return;
    // Of what begins inside, all before the first that outlasts the gap lie in it whole, so the longest of them counts; and
    // none that comes later covers more than that first one.
    make_trees(trace);
    const std::size_t stop = first_from(trace, gap.end, i);
    const std::size_t outlasting = std::min(ends_.first_at_least(i, gap.end), stop);
    if (outlasting > i) take(list_[lengths_.largest(i, outlasting)]);
    if (outlasting < stop) take(list_[outlasting]);
  }

 private:
  // The first that begins later than `t`.
  std::size_t first_after(const Trace& trace, Ns t, std::size_t near) const {
    const auto later = [&](std::size_t i) { return trace.begin(list_[i]) > t; };
    if (near > 0 && later(near - 1)) near = 0;
    return first_where(near, list_.size(), later);
  }

  // The first from `from` on that begins at `t` or later.
  std::size_t first_from(const Trace& trace, Ns t, std::size_t from) const {
    const auto begins_before = [&](SliceId s, Ns time) { return trace.begin(s) < time; };
    return static_cast<std::size_t>(
        std::lower_bound(list_.begin() + static_cast<std::ptrdiff_t>(from), list_.end(), t, begins_before) - list_.begin());
  }
  void make_trees(const Trace& trace) {
    count_.steps += 100;  // a few searches, each about two a level
    if (ends_.size() != 0) return;
    ends_.resize(list_.size());
    lengths_.resize(list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i) {
      ends_.set(i, trace.end(list_[i]));
      lengths_.set(i, trace.duration(list_[i]));
    }
    count_.steps += list_.size();
  }

  static constexpr std::size_t kFew = 64;
  std::vector<SliceId> list_;
  MaxTree ends_, lengths_;  // by place in the list, from the first gap on that holds many
  StepCount count_;
  std::vector<std::uint32_t> longest_;  // of the suspects so far, the one that ends last
};

// Calls and data loading by their thread's lane, profiler overheads at the end: they hold up every thread.
std::vector<Suspects> find_suspects(const Trace& trace) {
  std::vector<bool> loader(trace.strings.size());
  bool any_loader = false;
  for (std::size_t i = 0; i < loader.size(); ++i) any_loader |= loader[i] = is_data_loader_name(trace.strings[StringId(i)]);
  const auto is_op = [](Kind k) { return k == Kind::op || k == Kind::annotation; };
  const auto wanted =
      categories_of(trace, [&](Kind k) { return is_call(k) || k == Kind::overhead || (any_loader && is_op(k)); });
  std::vector<Suspects> lanes(trace.lanes.size() + 1);
  walk_by_time(trace, all_rows(trace), wanted, {}, [&](SliceId s, Ns) {
    const Kind kind = trace.kind(s);
    if (is_op(kind) && !loader[trace.name_id(s).index()]) return;
    lanes[kind == Kind::overhead ? trace.lanes.size() : trace.lane_id(s).index()].add(trace, s);
  });
  return lanes;
}

// Finds causes for the gaps of one stream after another.
class Causes {
 public:
  explicit Causes(const Trace& trace) : t_(trace), lanes_(find_suspects(trace)), near_(lanes_.size()) {}

  SliceId of(const IdleGap& gap, const GpuOp& next) {
    if (!next.linked()) return {};
    SliceId best;
    Ns covered = 0;
    for (const std::size_t lane : {t_.lane_id(next.launch).index(), lanes_.size() - 1})
      lanes_[lane].cover(t_, gap.span, near_[lane], best, covered);
    if (covered > gap.span.length() - covered) return best;
    return gap.idle_class == IdleClass::host_wait ? next.launch : SliceId{};
  }

 private:
  const Trace& t_;
  std::vector<Suspects> lanes_;
  std::vector<std::size_t> near_;
};

}  // namespace

std::string_view idle_class_name(IdleClass c) {
  constexpr std::array<std::string_view, kIdleClasses> kNames = {"host_wait", "kernel_wait", "other"};
  return kNames[static_cast<std::size_t>(c)];
}

Idle find_idle(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<StreamOps>& streams) {
  Idle idle{IdleGaps(trace), {}};
  idle.gaps.reserve(ops.size());
  Causes causes(trace);
  for (const StreamOps& stream : streams) {
    StreamIdle& sums = idle.streams.emplace_back(StreamIdle{stream.device, stream.stream, {}, {}});
    const GpuOp* last = nullptr;
    for (const std::uint32_t i : stream.ops) {
      const GpuOp& op = ops[i];
      if (last && op.span.begin > last->span.end) {
        IdleGap gap{{last->span.end, op.span.begin}, stream.device, stream.stream, IdleClass::other, last->slice, op.slice, {}};
        gap.idle_class = class_of(op, gap.span);
        gap.cause = causes.of(gap, op);
        sums.time[static_cast<std::size_t>(gap.idle_class)] += gap.span.length();
        ++sums.count[static_cast<std::size_t>(gap.idle_class)];
        idle.gaps.add(gap);
      }
      if (!last || op.span.end >= last->span.end) last = &op;
    }
  }
  return idle;
}

void IdleGaps::reserve(std::size_t gaps) {
  for (std::vector<SliceId>* column : {&before_, &after_, &cause_}) column->reserve(gaps);
  class_.reserve(gaps);
}

void IdleGaps::add(const IdleGap& gap) {
  if (streams_.empty() || streams_.back().device != gap.device || streams_.back().stream != gap.stream)
    streams_.push_back({size(), gap.device, gap.stream});
  before_.push_back(gap.before);
  after_.push_back(gap.after);
  cause_.push_back(gap.cause);
  class_.push_back(gap.idle_class);
}

IdleGap IdleGaps::operator[](std::size_t i) const {
  const auto after =
      std::upper_bound(streams_.begin(), streams_.end(), i, [](std::size_t at, const Stream& s) { return at < s.first; });
  const Stream& stream = *(after - 1);
  return {{trace_->end(before_[i]), trace_->begin(after_[i])},
          stream.device,
          stream.stream,
          class_[i],
          before_[i],
          after_[i],
          cause_[i]};
}

}  // namespace gapscope
