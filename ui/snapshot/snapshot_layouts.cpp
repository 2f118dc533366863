#include "ui/snapshot/snapshot_layouts.h"

#include <algorithm>

namespace gapscope {
namespace {

constexpr float kLeastBox = 1;      // px
constexpr float kSegmentGap = 3;    // px between two of a row
constexpr float kLeastSegment = 3;  // px
constexpr std::size_t kMostBoxes = 200'000;

class FlameLayout {
 public:
  FlameLayout(const HolderTree& tree, float width) : tree_(tree), width_(width) {}

  std::vector<HolderBox> run(std::uint32_t zoom) {
    if (zoom >= tree_.nodes.size()) zoom = 0;
    for (std::uint32_t at = zoom;; at = tree_.nodes[at].parent) {
      boxes_.push_back({at, 0, tree_.nodes[at].depth, 0, width_});
      if (at == 0) break;
    }
    place_children(zoom, 0, width_);
    return std::move(boxes_);
  }

 private:
  // Depth is bounded by holder_tree(); children come with most bytes first, so that the narrow ones are the last.
  void place_children(std::uint32_t at, float x0, float x1) {
    const HolderNode& node = tree_.nodes[at];
    if (node.bytes <= 0) return;
    const double scale = static_cast<double>(x1 - x0) / static_cast<double>(node.bytes);
    double x = static_cast<double>(x0);
    for (std::uint32_t i = node.first_child; i < node.first_child + node.children; ++i) {
      const HolderNode& child = tree_.nodes[i];
      const double end = std::min(x + static_cast<double>(child.bytes) * scale, static_cast<double>(x1));
      if (end - x < static_cast<double>(kLeastBox)) {
        if (static_cast<double>(x1) - x >= 0.5)
          boxes_.push_back({i, node.first_child + node.children - i, child.depth, static_cast<float>(x), x1});
        return;
      }
      boxes_.push_back({i, 0, child.depth, static_cast<float>(x), static_cast<float>(end)});
      place_children(i, static_cast<float>(x), static_cast<float>(end));
      x = end;
    }
  }

  const HolderTree& tree_;
  const float width_;
  std::vector<HolderBox> boxes_;
};

class MapLayout {
 public:
  MapLayout(const SnapshotState& state, float width) : state_(state) { map_.width = width; }

  SegmentMap run() {
    std::vector<std::size_t> order(state_.pools.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return state_.pools[i].reserved; });
    for (const std::size_t pool : order) place_pool(pool);
    return std::move(map_);
  }

 private:
  static double length(const HeldSegment& s) { return static_cast<double>(s.end - s.begin); }

  void place_pool(std::size_t pool) {
    std::vector<std::uint32_t> segments;
    double largest = 1;
    for (std::uint32_t i = 0; i < state_.segments.size(); ++i) {
      if (state_.segments[i].pool != pool) continue;
      segments.push_back(i);
      largest = std::max(largest, length(state_.segments[i]));
    }
    if (segments.empty()) return;
    std::ranges::stable_sort(segments, std::ranges::greater{}, [&](std::uint32_t i) { return length(state_.segments[i]); });
    const std::uint32_t first = map_.rows;
    float x = 0;
    for (const std::uint32_t segment : segments) {
      const float wide =
          std::max(static_cast<float>(static_cast<double>(map_.width) * length(state_.segments[segment]) / largest),
                   std::min(kLeastSegment, map_.width));
      if (x > 0 && x + wide > map_.width) ++map_.rows, x = 0;
      place_segment(segment, x, wide);
      x += wide + kSegmentGap;
    }
    ++map_.rows;
    map_.pools.push_back({pool, first, map_.rows - first});
  }

  // A hole has a box of its own where it is a pixel wide; blocks narrower than that are joined.
  void place_segment(std::uint32_t segment, float x0, float wide) {
    const HeldSegment& s = state_.segments[segment];
    const double scale = static_cast<double>(wide) / std::max(length(s), 1.0);
    const auto x_of = [&](std::uint64_t address) {
      return x0 + static_cast<float>(static_cast<double>(std::clamp(address, s.begin, s.end) - s.begin) * scale);
    };
    const auto add = [&](std::uint32_t held, std::uint64_t begin, std::uint64_t end) {
      if (begin >= end || map_.boxes.size() >= kMostBoxes) return;
      const float from = x_of(begin), to = x_of(end);
      if (to - from < kLeastBox && !map_.boxes.empty()) {
        MapBox& last = map_.boxes.back();
        const bool joins =
            last.segment == segment && (last.held != MapBox::kHole) == (held != MapBox::kHole) && last.end == begin;
        if (joins && to - last.x0 < 2 * kLeastBox) {
          last.x1 = to;
          last.end = end;
          ++last.blocks;
          return;
        }
      }
      map_.boxes.push_back({held, 1, segment, map_.rows, from, to, begin, end});
    };
    auto at = std::ranges::lower_bound(state_.held, s.begin, {}, &HeldBlock::address);
    std::uint64_t free_from = s.begin;
    for (; at != state_.held.end() && at->address < s.end; ++at) {
      add(MapBox::kHole, free_from, at->address);
      const std::uint64_t end = std::min(rounded_end(*at), s.end);
      add(static_cast<std::uint32_t>(at - state_.held.begin()), std::max(at->address, free_from), end);
      free_from = std::max(free_from, end);
    }
    add(MapBox::kHole, free_from, s.end);
  }

  const SnapshotState& state_;
  SegmentMap map_;
};

}  // namespace

std::vector<HolderBox> holder_boxes(const HolderTree& tree, std::uint32_t zoom, float width_px) {
  return FlameLayout(tree, width_px).run(zoom);
}

SegmentMap segment_map(const SnapshotState& state, float width_px) { return MapLayout(state, width_px).run(); }

}  // namespace gapscope
