#include "core/compare/operator_diff.h"

#include <algorithm>
#include <string>

#include "core/base/hash.h"
#include "core/compare/align.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostNamesOfGroup = 4;  // what fits into a row

using Places = std::vector<std::uint32_t>;

struct Tree {
  const SideData& data;
  const std::vector<TreeNode>& nodes;

  std::string name(std::uint32_t at) const {
    const TreeNode& node = nodes[at];
    if (node.slice) return std::string(data.input->session.trace().name(node.slice));
    return at == 0 ? data.side.picked : data.side.steps_of;
  }
  Places children(std::uint32_t at) const {
    Places out;
    for (std::uint32_t c = at + 1; c < nodes[at].end; c = nodes[c].end) out.push_back(c);
    return out;
  }
  bool is_region(std::uint32_t at) const { return nodes[at].compiled; }
  bool works(const Places& list) const {
    return std::any_of(list.begin(), list.end(), [&](std::uint32_t at) { return nodes[at].kernels > 0; });
  }
  bool has_region(const Places& list) const {
    return std::any_of(list.begin(), list.end(), [&](std::uint32_t at) { return is_region(at); });
  }
  // Operators that launch something themselves: what a compiled call and the calls that it replaces have in common.
  void add_launching(std::uint32_t at, Places& out) const {
    const Places inside = children(at);
    const bool launches = nodes[at].kind != TreeKind::op || std::any_of(inside.begin(), inside.end(), [&](std::uint32_t c) {
                            return nodes[c].kind == TreeKind::call;
                          });
    if (launches) {
      out.push_back(at);
    } else {
      for (const std::uint32_t c : inside) add_launching(c, out);
    }
  }
  Places launching(const Places& list) const {
    Places out;
    for (const std::uint32_t at : list) add_launching(at, out);
    return out;
  }
  std::vector<AlignKey> keys(const Places& list) const {
    std::vector<AlignKey> out;
    for (const std::uint32_t at : list)
      out.push_back({nodes[at].name_key, mix64(nodes[at].name_key ^ (nodes[at].work_key * 3))});
    return out;
  }
};

class Differ {
 public:
  Differ(Tree a, Tree b, const std::atomic<bool>* cancel) : a_(a), b_(b), cancel_(cancel) {}

  OperatorDiff run() {
    add_pair(0, 0, -1, 0);
    return std::move(out_);
  }

 private:
  std::size_t add_node(NodeState state, std::int32_t parent, std::uint32_t depth) {
    OperatorNode node;
    node.state = state;
    node.parent = parent;
    node.depth = depth;
    out_.nodes.push_back(std::move(node));
    return out_.nodes.size() - 1;
  }
  void fill_a(OperatorNode& node, std::uint32_t at) const {
    const TreeNode& from = a_.nodes[at];
    node.name_a = a_.name(at), node.slice_a = from.slice;
    node.cpu_a = from.cpu, node.gpu_a = from.gpu, node.kernels_a = from.kernels, node.launches_a = from.launches;
  }
  void fill_b(OperatorNode& node, std::uint32_t at) const {
    const TreeNode& from = b_.nodes[at];
    node.name_b = b_.name(at), node.slice_b = from.slice;
    node.cpu_b = from.cpu, node.gpu_b = from.gpu, node.kernels_b = from.kernels, node.launches_b = from.launches;
  }
  void finish(std::size_t at) { out_.nodes[at].end = static_cast<std::uint32_t>(out_.nodes.size()); }

  void add_pair(std::uint32_t a, std::uint32_t b, std::int32_t parent, std::uint32_t depth) {
    const std::size_t at = add_node(NodeState::matched, parent, depth);
    fill_a(out_.nodes[at], a);
    fill_b(out_.nodes[at], b);
    add_children(a_.children(a), b_.children(b), static_cast<std::int32_t>(at), depth + 1, true);
    finish(at);
  }
  void add_only_a(std::uint32_t a, std::int32_t parent, std::uint32_t depth) {
    const std::size_t at = add_node(NodeState::only_a, parent, depth);
    fill_a(out_.nodes[at], a);
    for (const std::uint32_t c : a_.children(a)) add_only_a(c, static_cast<std::int32_t>(at), depth + 1);
    finish(at);
  }
  void add_only_b(std::uint32_t b, std::int32_t parent, std::uint32_t depth) {
    const std::size_t at = add_node(NodeState::only_b, parent, depth);
    fill_b(out_.nodes[at], b);
    for (const std::uint32_t c : b_.children(b)) add_only_b(c, static_cast<std::int32_t>(at), depth + 1);
    finish(at);
  }

  void add_children(const Places& a, const Places& b, std::int32_t parent, std::uint32_t depth, bool may_group) {
    if (cancel_ != nullptr && *cancel_) return;
    const Alignment alignment = align(a_.keys(a), b_.keys(b));
    out_.in_pieces |= alignment.in_pieces;
    std::uint32_t at_a = 0, at_b = 0;
    const auto gap_to = [&](std::uint32_t to_a, std::uint32_t to_b) {
      add_gap({a.begin() + at_a, a.begin() + to_a}, {b.begin() + at_b, b.begin() + to_b}, parent, depth, may_group);
      at_a = to_a + 1, at_b = to_b + 1;
    };
    for (const auto& [i, j] : alignment.matches) {
      gap_to(i, j);
      add_pair(a[i], b[j], parent, depth);
    }
    gap_to(static_cast<std::uint32_t>(a.size()), static_cast<std::uint32_t>(b.size()));
  }

  // What is between two matches on both sides.
  void add_gap(const Places& a, const Places& b, std::int32_t parent, std::uint32_t depth, bool may_group) {
    if (may_group && a_.works(a) && b_.works(b) && a_.has_region(a) != b_.has_region(b)) return add_group(a, b, parent, depth);
    for (const std::uint32_t at : a) add_only_a(at, parent, depth);
    for (const std::uint32_t at : b) add_only_b(at, parent, depth);
  }

  void add_group(const Places& a, const Places& b, std::int32_t parent, std::uint32_t depth) {
    const std::size_t at = add_node(NodeState::matched, parent, depth);
    OperatorNode& node = out_.nodes[at];
    node.replaced = true;
    for (const std::uint32_t i : a) {
      OperatorNode one;
      fill_a(one, i);
      if (!node.slice_a) node.slice_a = one.slice_a;
      node.cpu_a += one.cpu_a, node.gpu_a += one.gpu_a, node.kernels_a += one.kernels_a, node.launches_a += one.launches_a;
    }
    for (const std::uint32_t j : b) {
      OperatorNode one;
      fill_b(one, j);
      if (!node.slice_b) node.slice_b = one.slice_b;
      node.cpu_b += one.cpu_b, node.gpu_b += one.gpu_b, node.kernels_b += one.kernels_b, node.launches_b += one.launches_b;
    }
    node.name_a = joined(a_, a), node.name_b = joined(b_, b);
    add_children(a_.launching(a), b_.launching(b), static_cast<std::int32_t>(at), depth + 1, false);
    finish(at);
  }

  // The names of those that do GPU work: "aten::mm + aten::add".
  static std::string joined(const Tree& tree, const Places& list) {
    std::string out;
    std::size_t names = 0, left = 0;
    for (const std::uint32_t at : list) {
      if (tree.nodes[at].kernels == 0) continue;
      if (names == kMostNamesOfGroup) {
        ++left;
        continue;
      }
      out += (names++ == 0 ? "" : " + ") + tree.name(at);
    }
    return left == 0 ? out : out + " + " + std::to_string(left) + " more";
  }

  Tree a_, b_;
  const std::atomic<bool>* cancel_;
  OperatorDiff out_;
};

}  // namespace

OperatorDiff diff_operators(const SideData& a, const StepTree& tree_a, const SideData& b, const StepTree& tree_b,
                            const std::atomic<bool>* cancel) {
  return Differ({a, tree_a.nodes}, {b, tree_b.nodes}, cancel).run();
}

}  // namespace gapscope
