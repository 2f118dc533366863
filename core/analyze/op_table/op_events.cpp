// Over 400 lines: one walk over the events in the order of time, and what it keeps.
#include "core/analyze/op_table/op_events.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/analyze/account/time_walk.h"
#include "core/analyze/op_table/profiler_frames.h"
#include "core/base/radix_sort.h"
#include "core/base/saturating.h"
#include "core/index/lane_walk.h"

namespace gapscope {
namespace {

// Names that PyTorch leaves out of its table.
constexpr std::array<std::string_view, 8> kLeftOut = {"[memory]",
                                                      "[OutOfMemory]",
                                                      "profiler::_record_function_enter",
                                                      "profiler::_record_function_enter_new",
                                                      "profiler::_record_function_exit",
                                                      "aten::is_leaf",
                                                      "aten::output_nr",
                                                      "aten::_version"};

bool is_pytorch_side(Kind k) { return k == Kind::op || k == Kind::annotation || k == Kind::python; }
bool is_gpu_row(Kind k) { return is_gpu_work(k) || k == Kind::sync || k == Kind::gpu_annotation; }
bool is_row(Kind k) { return k == Kind::op || k == Kind::annotation || is_call(k) || k == Kind::overhead || is_gpu_row(k); }

// How far ahead of a loop over events their slices are fetched.
constexpr std::size_t kAhead = 16;

bool is_op_or_annotation(Kind k) { return k == Kind::op || k == Kind::annotation; }

}  // namespace

std::string_view row_name(std::string_view name) { return name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name; }

// One walk in the order of time builds the trees and fills the columns.
class OpEvents::Maker {
 public:
  Maker(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, KeepTree keep, OpEvents& out)
      : t_(trace),
        lanes_(lanes),
        links_(links),
        exact_(out.mode_ == TableMode::exact),
        keep_(keep == KeepTree::yes),
        out_(out) {}

  void run() {
    find_names();
    find_unfinished();
    find_stop_thread();
    LinkedCuda cuda = cuda_by_link();
    prepare_columns();
    if (exact_) {  // ids are handed down in the order of all events
      put_in_order([](std::uint32_t) {});
      inherit_overhead_ids();
      if (keep_) find_joins();
      for (std::uint32_t i = 0; i < out_.size(); ++i) add(i, cuda);
    } else {
      put_in_order([&](std::uint32_t i) { add(i, cuda); });
      if (keep_) find_joins();
    }
    finish_columns();
  }

 private:
  Kind kind(SliceId s) const { return t_.kind(s); }
  std::uint64_t external_id(SliceId s) const { return t_.slices.external_id[s.index()]; }
  std::uint64_t offset(SliceId s) const { return t_.slices.offset[s.index()]; }

  void find_names() {
    for (const std::string_view name : kLeftOut) {
      if (const StringId id = t_.strings.find(name)) left_out_.push_back(id);
    }
  }
  bool is_left_out(StringId name) const { return std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end(); }

  // Operators that never ended were stretched to the end of the window; they end with what they lie in, or are left out.
  void find_unfinished() {
    for (const OpRow& op : t_.ops) {
      if (!op.unfinished) continue;
      const SliceId around = lanes_.parent(op.slice);
      if (around) {
        out_.cut_.emplace_back(op.slice, std::min(t_.end(op.slice), t_.end(around)));
      } else {
        endless_.push_back(op.slice);
      }
    }
    all_count_ = left_out_.empty() && endless_.empty();
  }

  bool counts(SliceId s, Kind k) const {
    if (all_count_) return is_row(k);
    return is_row(k) && !is_left_out(t_.name_id(s)) &&
           (endless_.empty() || !std::binary_search(endless_.begin(), endless_.end(), s));
  }

  // Where events without a parent go: the thread that stopped the profiler. The one with ProfilerStep#, else that of the
  // latest device synchronization without a link, else the one with most operators.
  void find_stop_thread() {
    std::vector<bool> is_step(t_.strings.size());
    for (std::size_t i = 0; i < is_step.size(); ++i) is_step[i] = t_.strings[StringId(i)].starts_with("ProfilerStep#");
    const std::array<StringId, 2> syncs = {t_.strings.find("cudaDeviceSynchronize"), t_.strings.find("hipDeviceSynchronize")};
    LaneId most;
    std::uint32_t most_ops = 0;
    SliceId last_sync;
    for (std::uint32_t l = 0; l < t_.lanes.size() && !stop_thread_; ++l) {
      const Lane& lane = t_.lanes[l];
      if (lane.kind != LaneKind::cpu_thread) continue;
      std::uint32_t ops = 0;
      for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s) {
        const SliceId slice(s);
        const Kind k = kind(slice);
        ops += k == Kind::op ? 1 : 0;
        if (is_op_or_annotation(k) && is_step[t_.name_id(slice).index()]) {
          stop_thread_ = LaneId(l);
          break;
        }
        if (!is_call(k) || external_id(slice) != 0) continue;
        const bool sync = t_.name_id(slice) && (t_.name_id(slice) == syncs[0] || t_.name_id(slice) == syncs[1]);
        if (sync && (!last_sync || t_.begin(slice) > t_.begin(last_sync))) last_sync = slice;
      }
      if (ops > most_ops) {
        most_ops = ops;
        most = LaneId(l);
      }
    }
    if (!stop_thread_) stop_thread_ = last_sync ? t_.lane_id(last_sync) : most;
  }

  // PyTorch's base order.
  bool before(SliceId a, SliceId b) const {
    const Kind ka = kind(a), kb = kind(b);
    const Span x = out_.span_of(a, ka), y = out_.span_of(b, kb);
    return std::tuple(x.begin, -x.end, !is_pytorch_side(ka), offset(a)) <
           std::tuple(y.begin, -y.end, !is_pytorch_side(kb), offset(b));
  }

  // They come in order of begin. The order of those that begin together is another, and GPU annotations end up a nanosecond
  // later: events wait until none can come before them. Calls in_order(i) for each.
  template <class InOrder>
  void put_in_order(InOrder in_order) {
    std::vector<SliceId>& order = out_.slices_;
    order.reserve(t_.slice_count());
    std::size_t waiting = 0;  // from there on
    const auto settle = [&] {
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(waiting);
      if (order.size() - waiting > 1) std::sort(first, order.end(), [this](SliceId a, SliceId b) { return before(a, b); });
      for (; waiting < order.size(); ++waiting) in_order(static_cast<std::uint32_t>(waiting));
    };
    Ns last = std::numeric_limits<Ns>::min();
    const auto take = [&](SliceId s, Ns begin) {
      const Kind k = kind(s);
      if (!counts(s, k)) return;
      if (begin > last) settle();
      order.push_back(s);
      last = std::max(last, k == Kind::gpu_annotation ? begin + 1 : begin);
    };
    walk_by_time(t_, all_rows(t_), categories_of(t_, is_row), columns_to_come(), take);
    settle();
  }
  // What in_order() asks of an event's slice.
  std::vector<ColumnToCome> columns_to_come() const {
    const Slices& s = t_.slices;
    return {column_to_come(s.end), column_to_come(s.name), column_to_come(s.row), column_to_come(s.external_id)};
  }

  std::uint64_t correlation(SliceId s, Kind k) const {
    if (is_call(k)) {
      const Call* call = t_.call(s);
      return call != nullptr ? call->correlation : 0;
    }
    const GpuRow* row = t_.gpu_row(s);
    return row != nullptr ? row->correlation : 0;
  }

  // Its own id.
  std::uint64_t id_of(SliceId s, Kind k) const {
    if (is_op_or_annotation(k) || k == Kind::gpu_annotation) return external_id(s);
    if (k != Kind::overhead) return correlation(s, k);
    const auto inherited = overhead_id_.find(s);
    return inherited == overhead_id_.end() ? 0 : inherited->second;
  }
  // That of the operator it belongs to.
  std::uint64_t link_of(SliceId s, Kind k) const {
    if (is_call(k) || is_gpu_work(k)) return external_id(s);
    if (k == Kind::sync) return external_id(s) != correlation(s, k) ? external_id(s) : 0;
    return 0;
  }

  // The thread of the operator with an id; of two the first in time counts.
  LaneId thread_of_id(std::uint64_t id) const {
    const SliceId op = links_.op_with_external_id(id);
    return op && counts(op, kind(op)) ? t_.lane_id(op) : LaneId{};
  }

  // Calls lie on the thread of the operator they are linked to, those of none and overheads on the stop thread.
  LaneId thread_of(SliceId s, Kind k) const {
    if (k == Kind::overhead) return stop_thread_;
    if (!is_call(k)) return t_.lane_id(s);
    const LaneId owner = external_id(s) != 0 ? thread_of_id(external_id(s)) : LaneId{};
    return owner ? owner : stop_thread_;
  }

  bool has_parent(SliceId s, Kind k) const {
    if (k == Kind::overhead || k == Kind::gpu_annotation) return false;
    if (is_gpu_row(k) && links_.call_of(s)) return true;
    const std::uint64_t link = link_of(s, k);
    return link != 0 && thread_of_id(link).valid();
  }

  void inherit_overhead_ids() {
    std::vector<FrameEvent> frames;
    std::vector<SliceId> overheads;
    for (const SliceId s : out_.slices_) {
      const Kind k = kind(s);
      if (is_pytorch_side(k) || has_parent(s, k)) continue;
      const Span span = out_.span_of(s, k);
      FrameEvent f{span.begin, span.end, offset(s), k == Kind::overhead ? 0 : id_of(s, k), true, k == Kind::overhead, -1};
      if (k == Kind::overhead) {
        f.overhead = static_cast<std::int32_t>(overheads.size());
        overheads.push_back(s);
      }
      frames.push_back(f);
    }
    if (overheads.empty() || !stop_thread_) return;
    walk_lane(t_, stop_thread_, [&](SliceId s) {
      const Kind k = kind(s);
      if (!is_pytorch_side(k)) return;
      frames.push_back({t_.begin(s), t_.end(s), offset(s), k != Kind::python ? external_id(s) : 0, false, false, -1});
    });
    std::sort(frames.begin(), frames.end(), [](const FrameEvent& a, const FrameEvent& b) {
      return std::tuple(a.begin, a.from_kineto, a.offset) < std::tuple(b.begin, b.from_kineto, b.offset);
    });
    const std::vector<std::uint64_t> ids = inherited_ids(frames, overheads.size());
    for (std::size_t i = 0; i < overheads.size(); ++i) overhead_id_[overheads[i]] = ids[i];
  }

  // GPU time by the id of the operator it is linked to. Few events own any, so most questions end at one bit; the others come
  // in time order, so ids mostly grow and an answer is near the one before.
  class LinkedCuda {
   public:
    explicit LinkedCuda(std::size_t most) { sums_.reserve(most); }
    void add(std::uint64_t link, Ns time) { sums_.push_back({link, time}); }
    void finish() {
      std::vector<Sum> other;
      radix_sort(sums_, other, [](const Sum& s) { return s.link; });
      std::size_t last = 0;
      for (std::size_t i = 1; i < sums_.size(); ++i) {
        if (sums_[i].link == sums_[last].link)
          add_saturating(sums_[last].time, sums_[i].time);
        else
          sums_[++last] = sums_[i];
      }
      if (!sums_.empty()) sums_.resize(last + 1);
      maybe_.resize(std::bit_ceil(sums_.size() * 16 + 1));
      for (const Sum& s : sums_) maybe_[s.link & (maybe_.size() - 1)] = true;
    }
    Ns of(std::uint64_t link) {
      if (!maybe_[link & (maybe_.size() - 1)]) return 0;
      std::size_t low = 0, high = sums_.size(), step = 1;  // the answer is in [low, high)
      if (near_ < high && sums_[near_].link <= link) {
        for (low = near_; low + step < high && sums_[low + step].link <= link; step *= 2) low += step;
        high = std::min(high, low + step);
      } else {
        for (high = near_; high > step && sums_[high - step].link > link; step *= 2) high -= step;
        low = high > step ? high - step : 0;
      }
      const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(low),
                 end = sums_.begin() + static_cast<std::ptrdiff_t>(high);
      const auto at = std::lower_bound(begin, end, link, [](const Sum& s, std::uint64_t l) { return s.link < l; });
      if (at == end || at->link != link) return 0;
      near_ = static_cast<std::size_t>(at - sums_.begin());
      return at->time;
    }

   private:
    struct Sum {
      std::uint64_t link;
      Ns time;
    };
    std::vector<Sum> sums_;
    std::vector<bool> maybe_;  // whether an id with these lower bits is among them
    std::size_t near_ = 0;     // of the answer before
  };
  LinkedCuda cuda_by_link() const {
    LinkedCuda cuda(t_.gpu.size());
    const std::vector<std::uint8_t> wanted = categories_of(t_, exact_ ? is_gpu_row : is_gpu_work);
    for (std::uint32_t i = 0; i < t_.slice_count(); ++i) {
      if (wanted[t_.slices.category[i]] == 0) continue;
      const SliceId s(i);
      const Kind k = kind(s);
      if (!counts(s, k)) continue;
      if (const std::uint64_t link = link_of(s, k)) cuda.add(link, t_.duration(s));
    }
    cuda.finish();
    return cuda;
  }

  // The id under which an event owns GPU work; 0: owns none.
  std::uint64_t owner_id(SliceId s, Kind k) const {
    if (is_op_or_annotation(k)) return external_id(s);
    if (!exact_ || is_gpu_row(k) || link_of(s, k) != 0) return 0;
    return id_of(s, k);
  }

  void find_joins() {
    out_.join_.reserve(out_.size());
    for (const SliceId s : out_.slices_) {
      const Kind k = kind(s);
      const bool links = is_gpu_work(k) || (exact_ && is_gpu_row(k));
      out_.join_.push_back(is_gpu_row(k) ? (links ? link_of(s, k) : 0) : owner_id(s, k));
    }
  }

  // An event that has begun and not ended, while its thread's events are gone through.
  struct Sums {
    Ns own = 0;     // GPU time
    Ns below = 0;   // that of its children and theirs
    Ns inside = 0;  // durations of its children
  };
  struct Open {
    std::uint32_t event = kNone;
    std::uint32_t children = 0;
    Ns end = 0, duration = 0;
    Sums sums;
    std::uint32_t last_child = kNone;
    Sums of_last_child;
  };

  void prepare_columns() {
    const std::size_t most = t_.slice_count();
    stacks_.resize(t_.lanes.size() + 1);
    own_.reserve(most);
    below_.reserve(most);
    out_.group_.reserve(most);
    out_.self_cpu_.reserve(most);
    keep_parents_ = keep_ || !t_.memory.empty();
    if (keep_parents_) out_.up_.reserve(most);
    group_of_name_.assign(t_.strings.size() * 4, kNone);
  }

  // The next event in order. Parents begin before their children and end after them, so all that the columns say of an
  // event is known when it ends.
  void add(std::uint32_t i, LinkedCuda& cuda) {
    const SliceId s = out_.slices_[i];
    const Kind k = kind(s);
    out_.group_.push_back(group_of(s, k) + 1);
    out_.self_cpu_.push_back(0);
    std::uint32_t up = 0;
    if (!is_gpu_row(k)) {
      const Span span = out_.span_of(s, k);
      const LaneId thread = thread_of(s, k);
      std::vector<Open>& stack = stacks_[thread ? thread.index() : t_.lanes.size()];
      while (!stack.empty() && (span.begin >= stack.back().end || span.end > stack.back().end)) close_last(stack);
      if (!stack.empty()) up = i - stack.back().event;
      Open& e = stack.emplace_back();
      e.event = i;
      e.end = span.end;
      e.duration = span.end - span.begin;
      if (const std::uint64_t id = owner_id(s, k)) e.sums.own = cuda.of(id);
    }
    if (keep_parents_) out_.up_.push_back(up);
  }

  void finish_columns() {
    for (std::vector<Open>& stack : stacks_)
      while (!stack.empty()) close_last(stack);
    out_.own_cuda_ = SparseNs(out_.size(), own_);
    own_ = {};
    out_.cuda_below_ = SparseNs(out_.size(), below_);
    if (keep_parents_ && any_merged_) point_past_merged();
  }
  // Parents come first, so that of a chain of merged ones each points to the one that counts when the next is looked at.
  void point_past_merged() {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const std::uint32_t up = out_.up_[i];
      if (up != 0 && out_.group_[i - up] == 0) out_.up_.set(i, up + out_.up_[i - up]);
    }
  }

  // An only child of its parent's name is merged into it (aten::sum inside aten::sum), and so are whole chains, from the
  // innermost out.
  void close_last(std::vector<Open>& stack) {
    Open& e = stack.back();
    if (e.children == 1 && same_row_name(out_.group(e.event), out_.group(e.last_child))) {
      const Ns own = e.sums.own;
      e.sums = e.of_last_child;
      if (!exact_) add_saturating(e.sums.own, own);
      if (keep_ && exact_) out_.join_[e.event] = out_.join_[e.last_child];
      out_.group_.set(e.last_child, 0);
      any_merged_ = true;
    }
    own_.add(e.event, e.sums.own);
    // Own and below together are asked for, too.
    e.sums.below = std::min(e.sums.below, std::numeric_limits<Ns>::max() - std::max<Ns>(e.sums.own, 0));
    below_.add(e.event, e.sums.below);
    out_.self_cpu_.set(e.event, difference_saturating(e.duration, e.sums.inside));
    if (stack.size() > 1) {
      Open& parent = stack[stack.size() - 2];
      ++parent.children;
      add_saturating(parent.sums.below, sum_saturating(e.sums.own, e.sums.below));
      add_saturating(parent.sums.inside, e.duration);
      parent.last_child = e.event;
      parent.of_last_child = e.sums;
    }
    stack.pop_back();
  }

  std::uint32_t group_of(SliceId s, Kind k) {
    const StringId name = t_.name_id(s);
    const bool annotation = k == Kind::annotation || k == Kind::gpu_annotation;
    const std::size_t variant = (is_gpu_row(k) ? 2u : 0u) + (annotation ? 1u : 0u);
    const std::uint32_t known = group_of_name_[name.index() * 4 + variant];
    return known != kNone ? known : group_of_name_[name.index() * 4 + variant] = new_group(k, name, annotation, variant);
  }
  std::uint32_t new_group(Kind k, StringId name, bool annotation, std::size_t variant) {
    const bool steps = row_name(t_.strings[name]) != t_.strings[name];
    if (steps && step_group_[variant] != kNone) return step_group_[variant];
    out_.groups_.push_back({name, is_gpu_row(k), annotation, steps});
    const auto group = static_cast<std::uint32_t>(out_.groups_.size() - 1);
    if (steps) step_group_[variant] = group;
    return group;
  }

  bool same_row_name(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return true;
    const OpGroup &x = out_.groups_[a], &y = out_.groups_[b];
    return x.name == y.name || (x.steps && y.steps);
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  const bool exact_, keep_;
  OpEvents& out_;
  std::vector<StringId> left_out_;
  std::vector<SliceId> endless_;  // operators that never end in anything
  bool all_count_ = false;        // neither of the two holds any
  LaneId stop_thread_;
  std::unordered_map<SliceId, std::uint64_t> overhead_id_;
  std::vector<std::vector<Open>> stacks_;  // by thread; the last for events of no lane
  SparseNs::Draft own_, below_;
  bool keep_parents_ = false;
  bool any_merged_ = false;  // an event into its parent
  std::vector<std::uint32_t> group_of_name_;
  std::array<std::uint32_t, 4> step_group_{kNone, kNone, kNone, kNone};
};

OpEvents::OpEvents(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, TableMode mode, KeepTree keep)
    : trace_(trace), mode_(mode) {
  Maker(trace, lanes, links, keep, *this).run();
}

Span OpEvents::changed_span_of(SliceId slice, Kind kind) const {
  Span span = trace_.span_of(slice);
  if (kind == Kind::gpu_annotation) {
    ++span.begin;
    span.end = std::max(span.begin, span.end - 1);
  }
  if (cut_.empty()) return span;
  const auto cut = std::lower_bound(cut_.begin(), cut_.end(), slice, [](const auto& c, SliceId s) { return c.first < s; });
  if (cut != cut_.end() && cut->first == slice) span.end = cut->second;
  return span;
}

std::uint32_t OpEvents::parent(std::size_t i) const { return up_[i] == 0 ? kNone : static_cast<std::uint32_t>(i - up_[i]); }

std::pair<std::size_t, std::size_t> OpEvents::begin_in(Span range) const {
  const auto first_from = [this](Ns t) {
    const auto begins_before = [this](SliceId s, Ns time) { return span_of(s, trace_.kind(s)).begin < time; };
    return static_cast<std::size_t>(std::lower_bound(slices_.begin(), slices_.end(), t, begins_before) - slices_.begin());
  };
  return {first_from(range.begin), first_from(range.end)};
}

void OpEvents::prefetch(std::size_t i) const {
  if (i + kAhead >= slices_.size()) return;
  const std::size_t s = slices_[i + kAhead].index();
  __builtin_prefetch(&trace_.slices.begin[s]);
  __builtin_prefetch(&trace_.slices.end[s]);
  __builtin_prefetch(&trace_.slices.category[s]);
}

}  // namespace gapscope
