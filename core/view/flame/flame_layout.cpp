#include "core/view/flame/flame_layout.h"

#include <algorithm>
#include <cmath>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr double kLeastPx = 1;

class FlameDrawing {
 public:
  FlameDrawing(const CallPaths& paths, PathOrder order, double width) : paths_(paths), order_(order), width_(width) {}

  std::vector<FlameBox> run(std::uint32_t zoom) {
    for (std::uint32_t up = zoom; up != 0; up = paths_.parent[up])
      add(paths_.parent[up], 0, 0, width_, paths_.total[paths_.parent[up]]);
    std::reverse(boxes_.begin(), boxes_.end());
    open_.push_back({zoom, 0, width_});
    while (!open_.empty()) {
      const Open node = open_.back();
      open_.pop_back();
      add(node.node, 0, node.x0, node.x1, paths_.total[node.node]);
      add_children(node);
    }
    return std::move(boxes_);
  }

 private:
  struct Open {
    std::uint32_t node;
    double x0, x1;
  };

  // Whole pixels, so that neighbours neither overlap nor leave a seam.
  void add(std::uint32_t node, std::uint32_t folded, double x0, double x1, Ns total) {
    const auto a = static_cast<float>(std::round(x0)), b = static_cast<float>(std::round(x1));
    if (a < b) boxes_.push_back({node, folded, paths_.depth[node], a, b, total});
  }

  void add_children(const Open& parent) {
    const auto children = paths_.children(parent.node, order_);
    Ns below = 0;  // more than their parent took where they overlap each other
    for (const std::uint32_t child : children) add_saturating(below, paths_.total[child]);
    const Ns whole = std::max(paths_.total[parent.node], below);
    if (whole <= 0) return;
    const double px_per_ns = (parent.x1 - parent.x0) / static_cast<double>(whole);
    const auto x_at = [&](Ns t) { return parent.x0 + static_cast<double>(t) * px_per_ns; };
    Ns at = 0, fold_begin = 0;
    std::size_t fold_first = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const Ns total = paths_.total[children[i]];
      const bool wide = static_cast<double>(total) * px_per_ns >= kLeastPx;
      // By width all the rest is narrow too.
      if (!wide && order_ == PathOrder::widest)
        return add_fold(children, i, children.size(), x_at(at), x_at(below), below - at);
      if (wide) {
        add_fold(children, fold_first, i, x_at(fold_begin), x_at(at), at - fold_begin);
        open_.push_back({children[i], x_at(at), x_at(at + total)});
        fold_first = i + 1;
        fold_begin = at + total;
      }
      at += total;
    }
    add_fold(children, fold_first, children.size(), x_at(fold_begin), x_at(at), at - fold_begin);
  }

  void add_fold(std::span<const std::uint32_t> children, std::size_t first, std::size_t last, double x0, double x1, Ns total) {
    if (first < last) add(children[first], static_cast<std::uint32_t>(last - first), x0, x1, total);
  }

  const CallPaths& paths_;
  PathOrder order_;
  double width_;
  std::vector<FlameBox> boxes_;
  std::vector<Open> open_;
};

}  // namespace

std::vector<FlameBox> lay_out_flame(const CallPaths& paths, PathOrder order, std::uint32_t zoom, float width_px) {
  if (paths.size() == 0 || width_px < 1) return {};
  return FlameDrawing(paths, order, static_cast<double>(width_px)).run(zoom);
}

}  // namespace gapscope
