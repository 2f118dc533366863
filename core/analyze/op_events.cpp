#include "core/analyze/op_events.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/analyze/profiler_frames.h"
#include "core/index/lane_walk.h"

namespace gapscope {
namespace {

// Names that PyTorch leaves out of its table.
constexpr std::array<std::string_view, 8> kLeftOut = {
    "[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new", "profiler::_record_function_exit",
    "aten::is_leaf", "aten::output_nr", "aten::_version"};

bool is_pytorch_side(Kind k) { return k == Kind::op || k == Kind::annotation || k == Kind::python; }
bool is_gpu_row(Kind k) { return is_gpu_work(k) || k == Kind::sync || k == Kind::gpu_annotation; }
bool is_row(Kind k) { return k == Kind::op || k == Kind::annotation || is_call(k) || k == Kind::overhead || is_gpu_row(k); }

// How far ahead of a loop over events their slices are fetched.
constexpr std::size_t kAhead = 16;

bool is_op_or_annotation(Kind k) { return k == Kind::op || k == Kind::annotation; }

}  // namespace

std::string_view row_name(std::string_view name) { return name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name; }

// Fills the columns one after another: what one needs is freed before the next is there.
class OpEvents::Maker {
 public:
  Maker(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, KeepTree keep, OpEvents& out)
      : t_(trace), lanes_(lanes), links_(links), exact_(out.mode_ == TableMode::exact),
        keep_(keep == KeepTree::yes), out_(out) {}

  void run() {
    find_names();
    find_unfinished();
    find_stop_thread();
    put_in_order();
    if (exact_) inherit_overhead_ids();
    if (keep_) find_joins();
    find_own_cuda();
    build_tree();
    fold();
    sum_up();
    if (t_.memory.empty() && !keep_) out_.parent_ = {};
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
  bool is_left_out(StringId name) const {
    return std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end();
  }

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
  }

  bool counts(SliceId s, Kind k) const {
    return is_row(k) && !is_left_out(t_.name_id(s)) && !std::binary_search(endless_.begin(), endless_.end(), s);
  }

  // Where events without a parent go: the thread that stopped the profiler. The one with ProfilerStep#, else that of the
  // latest device synchronization without a link, else the one with most operators.
  void find_stop_thread() {
    std::vector<bool> is_step(t_.strings.size());
    for (std::size_t i = 0; i < is_step.size(); ++i) is_step[i] = t_.strings[StringId(i)].starts_with("ProfilerStep#");
    const std::array<StringId, 2> syncs = {t_.strings.find("cudaDeviceSynchronize"),
                                           t_.strings.find("hipDeviceSynchronize")};
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

  // The next event of a row, while the rows are merged.
  struct Head {
    Span span;
    std::uint32_t at, stop;
    Kind kind;
  };
  bool find_next(Head& head) const {
    for (; head.at < head.stop; ++head.at) {
      const SliceId s(head.at);
      head.kind = kind(s);
      if (!counts(s, head.kind)) continue;
      head.span = out_.span_of(s, head.kind);
      return true;
    }
    return false;
  }
  bool before(const Head& a, const Head& b) const {
    if (a.span.begin != b.span.begin) return a.span.begin < b.span.begin;
    if (a.span.end != b.span.end) return a.span.end > b.span.end;
    return std::tuple(!is_pytorch_side(a.kind), offset(SliceId(a.at))) <
           std::tuple(!is_pytorch_side(b.kind), offset(SliceId(b.at)));
  }
  // Puts the first of a heap, which has changed, where it belongs.
  void sink(std::vector<Head>& heap) const {
    const Head moved = heap.front();
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap.size(); child = 2 * at + 1) {
      if (child + 1 < heap.size() && before(heap[child + 1], heap[child])) ++child;
      if (!before(heap[child], moved)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = moved;
  }

  // Rows hold their slices in order, so they are merged; sorting them all would take several times as long.
  void put_in_order() {
    std::size_t size = 0;
    for (const std::uint16_t c : t_.slices.category) size += is_row(t_.categories[c].kind) ? 1 : 0;
    out_.slices_.reserve(size);
    std::vector<Head> heap;
    for (const Row& row : t_.rows) {
      Head head{{}, row.first, row.first + row.count, Kind::other};
      if (find_next(head)) heap.push_back(head);
    }
    const auto later = [this](const Head& a, const Head& b) { return before(b, a); };
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      Head& head = heap.front();
      out_.slices_.push_back(SliceId(head.at++));
      if (!find_next(head)) {
        head = heap.back();
        heap.pop_back();
      }
      if (!heap.empty()) sink(heap);
    }
    mend_order();
  }

  // A row's own order is another than ours only where slices of no length begin with others, or GPU annotations end up a
  // nanosecond later: moving a few by a few places mends it.
  void mend_order() {
    std::vector<SliceId>& order = out_.slices_;
    std::size_t moves = 0;
    const std::size_t too_many = order.size() + 1024;
    for (std::size_t i = 1; i < order.size(); ++i) {
      for (std::size_t at = i; at > 0 && before(order[at], order[at - 1]); --at) {
        std::swap(order[at], order[at - 1]);
        ++moves;
      }
      if (moves <= too_many) continue;
      std::sort(order.begin(), order.end(), [this](SliceId a, SliceId b) { return before(a, b); });
      return;
    }
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

  // GPU time by the id of the operator it is linked to. Few events own any, so most questions end at one bit.
  class LinkedCuda {
   public:
    void add(std::uint64_t link, Ns time) { sums_.emplace_back(link, time); }
    void finish() {
      std::sort(sums_.begin(), sums_.end());
      std::size_t last = 0;
      for (std::size_t i = 1; i < sums_.size(); ++i) {
        if (sums_[i].first == sums_[last].first) {
          sums_[last].second += sums_[i].second;
        } else {
          sums_[++last] = sums_[i];
        }
      }
      if (!sums_.empty()) sums_.resize(last + 1);
      maybe_.resize(std::bit_ceil(sums_.size() * 16 + 1));
      for (const auto& [link, sum] : sums_) maybe_[link & (maybe_.size() - 1)] = true;
    }
    Ns of(std::uint64_t link) const {
      if (!maybe_[link & (maybe_.size() - 1)]) return 0;
      const auto at = std::lower_bound(sums_.begin(), sums_.end(), std::pair(link, std::numeric_limits<Ns>::min()));
      return at != sums_.end() && at->first == link ? at->second : 0;
    }

   private:
    std::vector<std::pair<std::uint64_t, Ns>> sums_;
    std::vector<bool> maybe_;  // whether an id with these lower bits is among them
  };
  LinkedCuda cuda_by_link() const {
    LinkedCuda cuda;
    for (std::uint32_t i = 0; i < t_.slice_count(); ++i) {
      const SliceId s(i);
      const Kind k = kind(s);
      if (!(exact_ ? is_gpu_row(k) : is_gpu_work(k)) || !counts(s, k)) continue;
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

  void find_own_cuda() {
    const LinkedCuda cuda = cuda_by_link();
    out_.own_cuda_ = NsColumn(out_.size());
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const SliceId s = out_.slices_[i];
      const std::uint64_t id = owner_id(s, kind(s));
      if (const Ns sum = id != 0 ? cuda.of(id) : 0) out_.own_cuda_.set(i, sum);
    }
  }

  // Groups, parents, and how many children each has: 0, 1, 2 or more.
  void build_tree() {
    struct Open {
      std::uint32_t event;
      Ns end;
    };
    std::vector<std::vector<Open>> stacks(t_.lanes.size() + 1);  // by thread; the last for events of no lane
    const std::size_t size = out_.size();
    out_.group_ = NarrowColumn<std::uint16_t, std::uint32_t>(size);
    out_.parent_.assign(size, kNone);
    children_.assign(size, 0);
    group_of_name_.assign(t_.strings.size() * 4, kNone);
    for (std::uint32_t i = 0; i < size; ++i) {
      out_.prefetch(i);
      const SliceId s = out_.slices_[i];
      const Kind k = kind(s);
      out_.group_.set(i, group_of(s, k) + 1);
      if (is_gpu_row(k)) continue;
      const Span span = out_.span_of(s, k);
      const LaneId thread = thread_of(s, k);
      std::vector<Open>& stack = stacks[thread ? thread.index() : t_.lanes.size()];
      while (!stack.empty() && (span.begin >= stack.back().end || span.end > stack.back().end)) stack.pop_back();
      if (!stack.empty()) {
        out_.parent_[i] = stack.back().event;
        std::uint8_t& children = children_[stack.back().event];
        children = static_cast<std::uint8_t>(std::min(children + 1, 2));
      }
      stack.push_back({i, span.end});
    }
    group_of_name_ = {};
  }

  std::uint32_t group_of(SliceId s, Kind k) {
    const StringId name = t_.name_id(s);
    const bool annotation = k == Kind::annotation || k == Kind::gpu_annotation;
    const std::size_t variant = (is_gpu_row(k) ? 2u : 0u) + (annotation ? 1u : 0u);
    std::uint32_t& known = group_of_name_[name.index() * 4 + variant];
    if (known != kNone) return known;
    const bool steps = row_name(t_.strings[name]) != t_.strings[name];
    if (steps && step_group_[variant] != kNone) return known = step_group_[variant];
    out_.groups_.push_back({name, is_gpu_row(k), annotation, steps});
    known = static_cast<std::uint32_t>(out_.groups_.size() - 1);
    if (steps) step_group_[variant] = known;
    return known;
  }

  bool same_row_name(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return true;
    const OpGroup &x = out_.groups_[a], &y = out_.groups_[b];
    return x.name == y.name || (x.steps && y.steps);
  }

  // An only child of its parent's name is merged into it (aten::sum inside aten::sum). Parents come before children, so
  // one pass folds whole chains: what is folded knows by then into what.
  void fold() {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      std::uint32_t& parent = out_.parent_[i];
      if (parent == kNone) continue;
      if (out_.group(parent) == kNone) parent = out_.parent_[parent];
      if (children_[parent] != 1 || !same_row_name(out_.group(parent), out_.group(i))) continue;
      children_[parent] = children_[i];
      out_.own_cuda_.set(parent, exact_ ? out_.own_cuda_[i] : out_.own_cuda_[parent] + out_.own_cuda_[i]);
      if (keep_ && exact_) out_.join_[parent] = out_.join_[i];
      out_.group_.set(i, 0);
    }
    children_ = {};
  }

  // Children come after parents, so one pass from the end gives the totals.
  void sum_up() {
    out_.self_cpu_ = NsColumn(out_.size());
    out_.total_cuda_ = NsColumn(out_.size());
    for (std::size_t i = out_.size(); i-- > 0;) {
      if (i >= 2 * kAhead) out_.prefetch(i - 2 * kAhead);  // it looks kAhead on, and this loop runs back
      const std::uint32_t group = out_.group(i);
      if (group == kNone || out_.groups_[group].on_gpu) continue;
      const Ns duration = out_.span(i).end - out_.span(i).begin;
      const Ns total = out_.total_cuda_[i] + out_.own_cuda_[i];
      out_.self_cpu_.add(i, duration);
      if (total != 0) out_.total_cuda_.set(i, total);
      const std::uint32_t parent = out_.parent_[i];
      if (parent == kNone) continue;
      out_.self_cpu_.add(parent, -duration);
      if (total != 0) out_.total_cuda_.add(parent, total);
    }
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  const bool exact_, keep_;
  OpEvents& out_;
  std::vector<StringId> left_out_;
  std::vector<SliceId> endless_;  // operators that never end in anything
  LaneId stop_thread_;
  std::unordered_map<SliceId, std::uint64_t> overhead_id_;
  std::vector<std::uint8_t> children_;
  std::vector<std::uint32_t> group_of_name_;
  std::array<std::uint32_t, 4> step_group_{kNone, kNone, kNone, kNone};
};

OpEvents::OpEvents(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, TableMode mode, KeepTree keep)
    : trace_(trace), mode_(mode) {
  Maker(trace, lanes, links, keep, *this).run();
}

Span OpEvents::span_of(SliceId slice, Kind kind) const {
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
