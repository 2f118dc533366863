#include "core/analyze/operators/call_paths.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/analyze/op_table/op_events.h"
#include "core/base/saturating.h"
#include "core/index/parent_walk.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNoNode = ~std::uint32_t{0};
constexpr std::uint32_t kCancelEvery = 1u << 12;            // slices between two looks at `cancel`
constexpr std::uint64_t kLaneKey = std::uint64_t{1} << 31;  // apart from names in the lower half of a key

class Builder {
 public:
  Builder(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const Area& area, const std::atomic<bool>* cancel)
      : t_(trace), lanes_(lanes), links_(links), area_(area), cancel_(cancel), names_(trace.strings.size()) {
    add_node(0, {}, {}, {}, area.span.end);
  }

  bool add_cpu() {
    for (const LaneId lane : area_.lanes) {
      if (!is_cpu(lane)) continue;
      add_lane(lane);
      if (stop_ || stopped()) return false;
    }
    return true;
  }

  bool add_gpu() {
    const bool any = std::any_of(area_.lanes.begin(), area_.lanes.end(), [&](LaneId l) { return is_gpu(l); });
    for (const LaneId lane : any ? area_.lanes : whole_area(t_).lanes) {
      if (is_gpu(lane) && (stopped() || !add_gpu_lane(lane))) return false;
    }
    return true;
  }

  CallPaths finish(PathTime time) {
    own_and_totals(time);
    order_children(out_);
    return std::move(out_);
  }

 private:
  bool is_gpu(LaneId lane) const { return t_.lane(lane).kind == LaneKind::gpu_stream; }
  bool is_cpu(LaneId lane) const { return t_.lane(lane).kind == LaneKind::cpu_thread || t_.lane(lane).kind == LaneKind::other; }
  bool stopped() const { return cancel_ != nullptr && *cancel_; }

  std::uint32_t add_node(std::uint32_t parent, StringId name, SliceId slice, LaneId lane, Ns begin) {
    const auto node = static_cast<std::uint32_t>(out_.size());
    out_.depth.push_back(node == 0 ? 0 : out_.depth[parent] + 1);
    out_.parent.push_back(parent);
    out_.name.push_back(name);
    out_.slice.push_back(slice);
    out_.lane.push_back(lane);
    out_.total.push_back(0);
    out_.own.push_back(0);
    out_.count.push_back(0);
    out_.begin.push_back(begin);
    return node;
  }

  std::uint32_t lane_node(LaneId lane) {
    const auto [at, is_new] = known_.try_emplace(kLaneKey | lane.value, kNoNode);
    if (is_new) at->second = add_node(0, {}, {}, lane, area_.span.end);
    return at->second;
  }

  // The first of the names that share a row name: all steps are one path.
  StringId path_name(StringId name) {
    StringId& known = names_[name.index()];
    if (known) return known;
    const std::string_view text = t_.strings[name], row = row_name(text);
    if (row == text) return known = name;
    return known = steps_.try_emplace(row, name).first->second;
  }

  std::uint32_t child(std::uint32_t parent, SliceId slice, Ns begin) {
    const StringId name = path_name(t_.name_id(slice));
    const auto [at, is_new] = known_.try_emplace((static_cast<std::uint64_t>(parent) << 32) | name.value, kNoNode);
    if (is_new) at->second = add_node(parent, name, slice, {}, begin);
    out_.begin[at->second] = std::min(out_.begin[at->second], begin);
    return at->second;
  }

  void count(std::uint32_t node, Ns time) {
    add_saturating(out_.total[node], time);
    ++out_.count[node];
  }

  std::vector<RowPart> parts_of(LaneId id) const {
    const Lane& lane = t_.lane(id);
    std::vector<RowPart> parts;
    for (std::uint32_t d = 0; d < lane.depth_count; ++d) {
      const auto [first, last] = slices_touching(t_, t_.rows[lane.first_row + d], area_.span);
      parts.push_back({first, last});
    }
    return parts;
  }

  void add_lane(LaneId lane) {
    std::vector<std::uint32_t> open(t_.lane(lane).depth_count, kNoNode);  // the node of each depth's last slice
    walk_with_parents(t_, lanes_, lane, area_.span, parts_of(lane), [&](SliceId s, SliceId above, Ns taken) {
      if (s.value % kCancelEvery == 0) stop_ = stop_ || stopped();
      if (stop_) return;
      const Span span = t_.span_of(s);
      const std::uint32_t parent = above ? open[t_.depth(above)] : lane_node(lane);
      const std::uint32_t node = child(parent, s, std::max(span.begin, area_.span.begin));
      open[t_.depth(s)] = node;
      const Ns time = intersect(span, area_.span).length();
      count(node, time);
      add_saturating(out_.own[node], time);
      if (above) out_.own[parent] = difference_saturating(out_.own[parent], taken);
    });
  }

  bool add_gpu_lane(LaneId lane) {
    const Lane& of = t_.lane(lane);
    for (std::uint32_t d = 0; d < of.depth_count; ++d) {
      const auto [first, last] = slices_touching(t_, t_.rows[of.first_row + d], area_.span);
      for (std::uint32_t s = first; s < last; ++s) {
        if (s % kCancelEvery == 0 && stopped()) return false;
        if (is_gpu_work(t_.kind(SliceId(s)))) add_work(SliceId(s), lane);
      }
    }
    return true;
  }

  void add_work(SliceId work, LaneId gpu_lane) {
    const Span span = t_.span_of(work);
    const Ns begin = std::max(span.begin, area_.span.begin);
    SliceId by = links_.call_of(work);
    if (!by) by = links_.owner_op(work);
    const std::uint32_t parent = by ? path_of(by) : lane_node(gpu_lane);
    const std::uint32_t node = child(parent, work, begin);
    count(node, intersect(span, area_.span).length());
  }

  // The node of a CPU slice below everything that encloses it.
  std::uint32_t path_of(SliceId slice) {
    std::vector<SliceId> unknown;  // from the inside out: thousands deep in some files
    std::uint32_t node = kNoNode;
    for (SliceId at = slice; at && node == kNoNode; at = lanes_.parent(at)) {
      const auto known = node_of_slice_.find(at.value);
      if (known != node_of_slice_.end())
        node = known->second;
      else
        unknown.push_back(at);
    }
    if (node == kNoNode) node = lane_node(t_.lane_id(slice));
    for (; !unknown.empty(); unknown.pop_back()) {
      node = child(node, unknown.back(), area_.span.end);
      node_of_slice_.emplace(unknown.back().value, node);
    }
    return node;
  }

  // Lanes and, by GPU time, all that launched: the sum of what is below. Children come after their parents.
  void own_and_totals(PathTime time) {
    const std::size_t n = out_.size();
    std::vector<Ns> below(n);
    for (std::size_t i = n; i-- > 1;) {
      if (out_.count[i] == 0 || time == PathTime::gpu) add_saturating(out_.total[i], below[i]);
      add_saturating(below[out_.parent[i]], out_.total[i]);
      out_.begin[out_.parent[i]] = std::min(out_.begin[out_.parent[i]], out_.begin[i]);
    }
    out_.total[0] = below[0];
    if (time == PathTime::gpu)  // work has nothing below it, and what launched it no time of its own
      for (std::size_t i = 0; i < n; ++i) out_.own[i] = difference_saturating(out_.total[i], below[i]);
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  const Area& area_;
  const std::atomic<bool>* cancel_;
  bool stop_ = false;
  CallPaths out_;
  std::vector<StringId> names_;                             // by name: its path_name(), once known
  std::unordered_map<std::string_view, StringId> steps_;    // row names that differ from the name
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // (parent, name) or a lane -> node
  std::unordered_map<std::uint32_t, std::uint32_t> node_of_slice_;
};

template <class Key>
void sort_children(const CallPaths& paths, std::vector<std::uint32_t>& nodes, const Key& key) {
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return paths.parent[a] != paths.parent[b] ? paths.parent[a] < paths.parent[b] : key(a) < key(b);
  });
}

}  // namespace

void order_children(CallPaths& paths) {
  const std::size_t n = paths.size();
  paths.first_child.assign(n + 1, 0);
  for (std::size_t i = 1; i < n; ++i) ++paths.first_child[paths.parent[i] + 1];
  std::partial_sum(paths.first_child.begin(), paths.first_child.end(), paths.first_child.begin());
  paths.earliest.resize(n - 1);
  std::iota(paths.earliest.begin(), paths.earliest.end(), 1u);
  paths.widest = paths.earliest;
  sort_children(paths, paths.earliest, [&](std::uint32_t i) { return paths.begin[i]; });
  sort_children(paths, paths.widest, [&](std::uint32_t i) { return -paths.total[i]; });
}

std::optional<CallPaths> call_paths(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const Area& area,
                                    PathTime time, const std::atomic<bool>* cancel) {
  Builder builder(trace, lanes, links, area, cancel);
  if (!(time == PathTime::cpu ? builder.add_cpu() : builder.add_gpu())) return std::nullopt;
  return builder.finish(time);
}

}  // namespace gapscope
