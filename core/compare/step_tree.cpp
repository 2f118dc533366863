#include "core/compare/step_tree.h"

#include <algorithm>
#include <array>

#include "core/base/hash.h"
#include "core/index/lane_walk.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

class Builder {
 public:
  Builder(const SideData& data, PlainNameKeys& keys) : data_(data), trace_(data.input->session.trace()), keys_(keys) {}

  StepTree build() {
    const bool many = data_.picked.size() != 1;
    if (many) open(TreeKind::step, {}, hash_text("all steps"));
    for (const std::size_t s : data_.picked) add_step(data_.steps[s]);
    if (many) close();
    roll_up();
    return std::move(tree_);
  }

 private:
  void open(TreeKind kind, SliceId slice, std::uint64_t key) {
    TreeNode node;
    node.kind = kind;
    node.name_key = key;
    node.slice = slice;
    node.parent = stack_.empty() ? 0 : stack_.back();
    node.depth = static_cast<std::uint32_t>(stack_.size());
    if (slice && kind != TreeKind::gpu) node.cpu = trace_.duration(slice);
    node.compiled = kind == TreeKind::op && is_compiled_region_name(trace_.name(slice));
    stack_.push_back(static_cast<std::uint32_t>(tree_.nodes.size()));
    tree_.nodes.push_back(node);
  }
  void close() {
    tree_.nodes[stack_.back()].end = static_cast<std::uint32_t>(tree_.nodes.size());
    stack_.pop_back();
  }
  void close_to(std::size_t size) {
    while (stack_.size() > size) close();
  }

  void add_step(const ComparedStep& step) {
    open(TreeKind::step, step.slice, hash_text("step"));
    tree_.nodes[stack_.back()].cpu = step.cpu.length();
    const std::size_t inside = stack_.size();
    for (const LaneId lane : lanes_of(step)) add_lane(lane, step, inside);
    if (!data_.any_linked)
      for (const std::uint32_t i : step.ops) add_gpu(data_.ops()[i].slice);
    close();
  }

  // The step's own thread first, then the others of its process by their first slice in it.
  std::vector<LaneId> lanes_of(const ComparedStep& step) const {
    std::vector<LaneId> lanes;
    for (std::size_t l = 0; l < trace_.lanes.size(); ++l) {
      const Lane& lane = trace_.lanes[l];
      if (lane.kind != LaneKind::cpu_thread) continue;
      if (step.slice && lane.process != trace_.lane(step.slice).process) continue;
      lanes.push_back(LaneId(l));
    }
    if (step.slice)
      std::stable_partition(lanes.begin(), lanes.end(), [&](LaneId l) { return l == trace_.lane_id(step.slice); });
    return lanes;
  }

  std::vector<RowPart> parts_of(LaneId id, const ComparedStep& step) const {
    const Lane& lane = trace_.lane(id);
    std::vector<RowPart> parts;
    const auto& begin = trace_.slices.begin;
    for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) {
      const Row& row = trace_.rows[lane.first_row + depth];
      RowPart part{row.first, row.first + row.count};
      if (step.slice) {
        const auto first = begin.begin() + part.first, last = begin.begin() + part.last;
        part.first = static_cast<std::uint32_t>(std::lower_bound(first, last, step.cpu.begin) - begin.begin());
        part.last = static_cast<std::uint32_t>(std::lower_bound(first, last, step.cpu.end) - begin.begin());
      }
      parts.push_back(part);
    }
    return parts;
  }

  void add_lane(LaneId lane, const ComparedStep& step, std::size_t inside) {
    walk_parts(trace_, parts_of(lane, step), [&](SliceId s) {
      if (s == step.slice && trace_.span_of(s) == step.cpu) return;
      const Kind kind = trace_.kind(s);
      if (is_call(kind)) return add_call(s, inside);
      if (kind != Kind::op && kind != Kind::annotation) return;
      enter(s, inside);
      if (stack_.size() < kMostTreeDepth)
        open(TreeKind::op, s, keys_.key(s));
      else
        tree_.cut = true;
    });
    close_to(inside);
  }

  // Leaves the nodes that do not hold `s`.
  void enter(SliceId s, std::size_t inside) {
    while (stack_.size() > inside) {
      const SliceId top = tree_.nodes[stack_.back()].slice;
      const bool holds =
          trace_.end(s) <= trace_.end(top) && (trace_.begin(s) < trace_.end(top) || trace_.begin(top) == trace_.end(top));
      if (holds) return;
      close();
    }
  }

  void add_call(SliceId call, std::size_t inside) {
    const auto launched = data_.input->session.links().launched_by(call);
    if (std::none_of(launched.begin(), launched.end(), [&](SliceId g) { return is_gpu_work(trace_.kind(g)); })) return;
    enter(call, inside);
    open(TreeKind::call, call, keys_.key(call));
    for (const SliceId g : launched)
      if (is_gpu_work(trace_.kind(g))) add_gpu(g);
    close();
  }

  void add_gpu(SliceId slice) {
    open(TreeKind::gpu, slice, keys_.key(slice));
    TreeNode& node = tree_.nodes.back();
    node.gpu = trace_.duration(slice);
    node.kernels = 1;
    node.work_key = node.name_key;
    close();
  }

  void roll_up() {
    auto& nodes = tree_.nodes;
    for (std::size_t i = nodes.size(); i-- > 1;) {
      TreeNode& node = nodes[i];
      if (node.kind == TreeKind::call) node.launches = 1;
      TreeNode& parent = nodes[node.parent];
      parent.gpu += node.gpu;
      parent.kernels += node.kernels;
      parent.launches += node.launches;
      if (node.work_key != 0) parent.work_key = mix64(parent.work_key * 31 + node.work_key) | 1;
    }
  }

  const SideData& data_;
  const Trace& trace_;
  PlainNameKeys& keys_;
  StepTree tree_;
  std::vector<std::uint32_t> stack_;
};

// The levels that fit into `most` nodes.
void cut_deep_levels(StepTree& tree, std::size_t most) {
  std::vector<std::size_t> at_depth;
  for (const TreeNode& node : tree.nodes) {
    if (node.depth >= at_depth.size()) at_depth.resize(node.depth + 1, 0);
    ++at_depth[node.depth];
  }
  std::size_t count = 0, levels = 0;
  while (levels < at_depth.size() && (levels == 0 || count + at_depth[levels] <= most)) count += at_depth[levels++];
  std::vector<std::uint32_t> place(tree.nodes.size() + 1, 0);
  std::vector<TreeNode> nodes;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    place[i] = static_cast<std::uint32_t>(nodes.size());
    if (tree.nodes[i].depth < levels) nodes.push_back(tree.nodes[i]);
  }
  place.back() = static_cast<std::uint32_t>(nodes.size());
  for (TreeNode& node : nodes) node.parent = place[node.parent], node.end = place[node.end];
  tree.nodes = std::move(nodes);
  tree.cut = true;
}

}  // namespace

StepTree step_tree(const SideData& data, PlainNameKeys& keys, std::size_t most) {
  StepTree tree = Builder(data, keys).build();
  if (tree.nodes.size() > most) cut_deep_levels(tree, most);
  return tree;
}

}  // namespace gapscope
