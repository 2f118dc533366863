#pragma once
// A critical path as the timeline draws it: what holds the run back in each pixel column.
#include <array>
#include <cstdint>
#include <vector>

#include "core/replay/path.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

// Columns [x0, x1) that one stretch fills, or that look alike: `by` holds the run back for most of each.
struct PathRect {
  int x0 = 0, x1 = 0;
  HeldBy by{};
  std::uint32_t first = 0;  // of the stretches in it, by position in the path
  std::uint32_t count = 0;  // how many begin or continue in it
  std::uint32_t longest = 0;
};

class PathRow {
 public:
  // `path`: stretches in time order that touch. Keeps it. 5 bytes a stretch on top.
  explicit PathRow(std::vector<PathStretch> path);

  const std::vector<PathStretch>& path() const { return path_; }
  // Time by HeldBy in `span`. O(log n).
  std::array<Ns, kHeldBy> within(Span span) const;
  // Position of the stretch at `t`, or path().size().
  std::size_t at(Ns t) const;
  // Appends what the grid shows of it: at most one a column. O(columns * log n).
  void paint(const PixelGrid& grid, std::vector<PathRect>& out) const;

 private:
  static constexpr std::size_t kBlock = 64;
  std::vector<PathStretch> path_;
  std::vector<std::array<Ns, kHeldBy>> before_;  // of all stretches before block i
};

}  // namespace gapscope
