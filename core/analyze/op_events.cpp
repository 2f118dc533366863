#include "core/analyze/op_events.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "core/analyze/profiler_frames.h"
#include "core/base/id_map.h"
#include "core/index/lane_walk.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNone = 0xFFFF'FFFFu;

// Names that PyTorch leaves out of its table.
constexpr std::array<std::string_view, 8> kLeftOut = {
    "[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new", "profiler::_record_function_exit",
    "aten::is_leaf", "aten::output_nr", "aten::_version"};

bool is_pytorch_side(Kind k) { return k == Kind::op || k == Kind::annotation || k == Kind::python; }
bool is_gpu_row(Kind k) { return is_gpu_work(k) || k == Kind::sync || k == Kind::gpu_annotation; }
bool is_row(Kind k) { return k == Kind::op || k == Kind::annotation || is_call(k) || k == Kind::overhead || is_gpu_row(k); }

// One row event while it is put together.
struct Draft {
  Ns begin = 0, end = 0;
  std::uint64_t offset = 0;
  std::uint64_t id = 0;      // own id
  std::uint64_t link = 0;    // the operator it belongs to
  SliceId slice;
  LaneId thread;
  Kind kind = Kind::other;
};

class Maker {
 public:
  Maker(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, TableMode mode)
      : t_(trace), lanes_(lanes), links_(links), exact_(mode == TableMode::exact) {}

  std::vector<OpEvent> run() {
    find_names();
    find_stop_thread();
    collect();
    place_calls();
    if (exact_) inherit_overhead_ids();
    sum_kernels();
    return build_tree();
  }

 private:
  void find_names() {
    left_out_.assign(t_.strings.size(), false);
    for (const std::string_view name : kLeftOut) {
      if (const StringId id = t_.strings.find(name)) left_out_[id.index()] = true;
    }
  }

  // Where events without a parent go: the thread that stopped the profiler. The one with ProfilerStep#, else that of the
  // latest device synchronization without a link, else the one with most operators.
  void find_stop_thread() {
    LaneId most;
    std::uint32_t most_ops = 0;
    SliceId last_sync;
    for (std::uint32_t l = 0; l < t_.lanes.size() && !stop_thread_; ++l) {
      const Lane& lane = t_.lanes[l];
      if (lane.kind != LaneKind::cpu_thread) continue;
      std::uint32_t ops = 0;
      for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s) {
        const SliceId slice(s);
        const Kind kind = t_.kind(slice);
        ops += kind == Kind::op ? 1 : 0;
        if ((kind == Kind::annotation || kind == Kind::op) && t_.name(slice).starts_with("ProfilerStep#")) {
          stop_thread_ = LaneId(l);
          break;
        }
        const bool sync = is_call(kind) && t_.slices.external_id[s] == 0 &&
                          (t_.name(slice) == "cudaDeviceSynchronize" || t_.name(slice) == "hipDeviceSynchronize");
        if (sync && (!last_sync || t_.begin(slice) > t_.begin(last_sync))) last_sync = slice;
      }
      if (ops > most_ops) {
        most_ops = ops;
        most = LaneId(l);
      }
    }
    if (!stop_thread_) stop_thread_ = last_sync ? t_.lane_id(last_sync) : most;
  }

  void collect() {
    std::size_t rows = 0;
    for (const std::uint16_t c : t_.slices.category) rows += is_row(t_.categories[c].kind) ? 1 : 0;
    drafts_.reserve(rows);
    thread_of_id_ = IdMap<LaneId>(rows);
    by_link_ = IdMap<Ns>(rows);
    std::size_t gpu = 0, call = 0, op = 0;
    for (std::uint32_t s = 0; s < t_.slice_count(); ++s) {
      const SliceId slice(s);
      const Kind kind = t_.kind(slice);
      while (gpu < t_.gpu.size() && t_.gpu[gpu].slice < slice) ++gpu;
      while (call < t_.calls.size() && t_.calls[call].slice < slice) ++call;
      while (op < t_.ops.size() && t_.ops[op].slice < slice) ++op;
      if (!is_row(kind) || left_out_[t_.name_id(slice).index()]) continue;
      Draft d;
      d.begin = t_.begin(slice);
      d.end = t_.end(slice);
      d.offset = t_.slices.offset[s];
      d.slice = slice;
      d.thread = t_.lane_id(slice);
      d.kind = kind;
      const std::uint64_t external = t_.slices.external_id[s];
      const std::uint64_t correlation = gpu < t_.gpu.size() && t_.gpu[gpu].slice == slice ? t_.gpu[gpu].correlation
                                        : call < t_.calls.size() && t_.calls[call].slice == slice ? t_.calls[call].correlation : 0;
      switch (kind) {
        case Kind::op: case Kind::annotation: d.id = external; break;
        case Kind::gpu_annotation:
          d.id = external;
          d.begin += 1;  // the JSON writer widens them by a nanosecond at both ends
          d.end = std::max(d.begin, d.end - 1);
          break;
        case Kind::overhead: break;
        case Kind::sync:
          d.id = correlation;
          d.link = external != correlation ? external : 0;
          break;
        default:
          d.id = correlation;
          d.link = external;
      }
      const bool unfinished = op < t_.ops.size() && t_.ops[op].slice == slice && t_.ops[op].unfinished;
      if (unfinished && !finish(d)) continue;
      if (d.id != 0 && (kind == Kind::op || kind == Kind::annotation)) note_thread(d);
      drafts_.push_back(d);
    }
  }

  // Operators that never ended were stretched to the end of the window; they end with what they lie in, or are left out.
  bool finish(Draft& d) const {
    const SliceId around = lanes_.parent(d.slice);
    if (!around) return false;
    d.end = std::min(d.end, t_.end(around));
    return true;
  }

  // Of two operators with one id the first in time counts, as in LinkIndex.
  void note_thread(const Draft& d) {
    LaneId& known = thread_of_id_[d.id];
    if (!known) known = d.thread;
  }

  // Calls lie on the thread of the operator they are linked to, those of none and overheads on the stop thread.
  void place_calls() {
    for (Draft& d : drafts_) {
      if (d.kind == Kind::overhead) d.thread = stop_thread_;
      if (!is_call(d.kind)) continue;
      const LaneId owner = d.link != 0 ? thread_of_id_.find(d.link) : LaneId{};
      d.thread = owner ? owner : stop_thread_;
    }
  }

  bool has_parent(const Draft& d) const {
    if (d.kind == Kind::overhead || d.kind == Kind::gpu_annotation) return false;
    if (is_gpu_row(d.kind) && links_.call_of(d.slice)) return true;
    return d.link != 0 && thread_of_id_.find(d.link).valid();
  }

  void inherit_overhead_ids() {
    std::vector<FrameEvent> frames;
    std::vector<std::uint32_t> overheads;
    for (std::uint32_t i = 0; i < drafts_.size(); ++i) {
      const Draft& d = drafts_[i];
      if (is_pytorch_side(d.kind) || has_parent(d)) continue;
      FrameEvent f{d.begin, d.end, d.offset, d.id, true, d.kind == Kind::overhead, -1};
      if (d.kind == Kind::overhead) {
        f.overhead = static_cast<std::int32_t>(overheads.size());
        overheads.push_back(i);
      }
      frames.push_back(f);
    }
    if (overheads.empty() || !stop_thread_) return;
    walk_lane(t_, stop_thread_, [&](SliceId s) {
      const Kind kind = t_.kind(s);
      if (!is_pytorch_side(kind)) return;
      const bool hands_down = kind != Kind::python;
      frames.push_back({t_.begin(s), t_.end(s), t_.slices.offset[s.index()], hands_down ? t_.slices.external_id[s.index()] : 0, false, false, -1});
    });
    std::sort(frames.begin(), frames.end(), [](const FrameEvent& a, const FrameEvent& b) {
      return std::tuple(a.begin, a.from_kineto, a.offset) < std::tuple(b.begin, b.from_kineto, b.offset);
    });
    const std::vector<std::uint64_t> ids = inherited_ids(frames, overheads.size());
    for (std::size_t i = 0; i < overheads.size(); ++i) drafts_[overheads[i]].id = ids[i];
  }

  // GPU time by the id of the operator it is linked to.
  void sum_kernels() {
    for (const Draft& d : drafts_) {
      const bool counts = exact_ ? is_gpu_row(d.kind) : is_gpu_work(d.kind);
      if (counts && d.link != 0) by_link_[d.link] += d.end - d.begin;
    }
  }

  bool may_own(const Draft& d) const {
    if (d.link != 0 || d.id == 0) return false;
    if (d.kind == Kind::op || d.kind == Kind::annotation) return true;
    return exact_ && (d.kind == Kind::overhead || is_call(d.kind));
  }

  std::vector<OpEvent> build_tree() {
    struct Key {
      Ns begin, end;
      std::uint32_t draft;
    };
    std::vector<Key> order(drafts_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = {drafts_[i].begin, drafts_[i].end, i};
    std::sort(order.begin(), order.end(), [&](const Key& a, const Key& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      if (a.end != b.end) return a.end > b.end;
      const Draft& x = drafts_[a.draft];
      const Draft& y = drafts_[b.draft];
      return std::tuple(!is_pytorch_side(x.kind), x.offset) < std::tuple(!is_pytorch_side(y.kind), y.offset);
    });

    std::vector<OpEvent> events;
    events.reserve(order.size());
    std::vector<std::vector<std::uint32_t>> stacks(t_.lanes.size() + 1);  // by thread; the last for events of no lane
    children_.assign(order.size(), 0);
    for (const Key& key : order) {
      const Draft& d = drafts_[key.draft];
      OpEvent e;
      e.slice = d.slice;
      e.name = t_.name_id(d.slice);
      e.begin = d.begin;
      e.end = d.end;
      e.on_gpu = is_gpu_row(d.kind);
      e.annotation = d.kind == Kind::annotation || d.kind == Kind::gpu_annotation;
      const auto at = static_cast<std::uint32_t>(events.size());
      if (e.on_gpu) {
        e.own_cuda = e.total_cuda = d.end - d.begin;
        e.join = exact_ || is_gpu_work(d.kind) ? d.link : 0;
      } else {
        e.self_cpu = d.end - d.begin;
        if (may_own(d)) {
          e.join = d.id;
          e.own_cuda = by_link_.find(d.id);
        }
        std::vector<std::uint32_t>& stack = stacks[d.thread ? d.thread.index() : t_.lanes.size()];
        while (!stack.empty() && (d.begin >= events[stack.back()].end || d.end > events[stack.back()].end)) stack.pop_back();
        if (!stack.empty()) {
          e.parent = stack.back();
          ++children_[e.parent];
        }
        stack.push_back(at);
      }
      events.push_back(e);
    }
    fold(events);
    sum_up(events);
    return events;
  }

  bool same_row_name(StringId a, StringId b) const {
    return a == b || row_name(t_.strings[a]) == row_name(t_.strings[b]);
  }

  // An only child of its parent's name is merged into it (aten::sum inside aten::sum). Parents come before children, so
  // one pass folds whole chains.
  void fold(std::vector<OpEvent>& events) {
    std::vector<std::uint32_t> kept_as(events.size());
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      OpEvent& e = events[i];
      kept_as[i] = i;
      if (e.parent == kNone) continue;
      e.parent = kept_as[e.parent];
      OpEvent& parent = events[e.parent];
      if (!same_row_name(parent.name, e.name) || children_[e.parent] != 1) continue;
      children_[e.parent] = children_[i];
      if (exact_) parent.join = e.join;
      parent.own_cuda = exact_ ? e.own_cuda : parent.own_cuda + e.own_cuda;
      e.folded = true;
      kept_as[i] = e.parent;
    }
  }

  // Children come after parents, so one pass from the end gives the totals.
  static void sum_up(std::vector<OpEvent>& events) {
    for (std::size_t i = events.size(); i-- > 0;) {
      OpEvent& e = events[i];
      if (e.folded) continue;
      if (!e.on_gpu) e.total_cuda += e.own_cuda;
      if (e.parent == kNone) continue;
      events[e.parent].self_cpu -= e.end - e.begin;
      events[e.parent].total_cuda += e.total_cuda;
    }
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  bool exact_;
  std::vector<bool> left_out_;
  LaneId stop_thread_;
  std::vector<Draft> drafts_;
  IdMap<LaneId> thread_of_id_;
  IdMap<Ns> by_link_;
  std::vector<std::uint32_t> children_;
};

}  // namespace

std::string_view row_name(std::string_view name) { return name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name; }

OpEvents::OpEvents(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, TableMode mode)
    : mode_(mode), events_(Maker(trace, lanes, links, mode).run()) {}

}  // namespace gapscope
