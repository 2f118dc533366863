#include "core/analyze/modules/module_paths.h"

#include "core/base/saturating.h"

namespace gapscope {

CallPaths module_paths(const Trace& trace, const ModuleUse& use) {
  CallPaths out;
  const auto add = [&](std::uint32_t parent, StringId name, SliceId slice, Ns begin) {
    out.depth.push_back(out.parent.empty() ? 0 : out.depth[parent] + 1);
    out.parent.push_back(parent);
    out.name.push_back(name);
    out.slice.push_back(slice);
    out.lane.emplace_back();
    out.total.push_back(0);
    out.own.push_back(0);
    out.count.push_back(0);
    out.begin.push_back(begin);
  };
  add(0, {}, {}, trace.span.begin);
  std::vector<std::uint32_t> place(use.tree.size(), 0);
  for (std::size_t n = 0; n < use.tree.size(); ++n) {
    const ModuleNode& node = use.tree[n];
    const std::uint32_t parent = node.parent == ModuleNode::kNoParent ? 0 : place[node.parent];
    place[n] = parent;
    if (!node.first) continue;
    place[n] = static_cast<std::uint32_t>(out.size());
    add(parent, use.rows[node.row].frame_name, node.first, trace.begin(node.first));
    out.total.back() = node.totals.gpu();
    out.own.back() = sum_saturating(node.totals.self_forward, node.totals.self_backward);
    out.count.back() = node.totals.calls;
    if (parent == 0) add_saturating(out.total[0], out.total.back());
  }
  order_children(out);
  return out;
}

}  // namespace gapscope
