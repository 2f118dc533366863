#pragma once
// What the parts of the page of a memory snapshot share in a frame. Included by ui/snapshot/*.cpp only.
#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/view/timeline/slice_colour.h"
#include "ui/snapshot/snapshot_page.h"
#include "ui/widgets/theme.h"

namespace gapscope {

struct SnapshotPage::Drawing {
  const OpenedSnapshot& opened;
  const SnapshotMoment& moment;  // that is shown: the wanted one, or the last one before it is there
  bool is_late;                  // it is not the wanted one yet
  WindowState& window;
  const TimelineKeys& keys;
  double delta_s;
  const Theme& theme = theme_of(window);

  const Snapshot& snapshot() const { return opened.snapshot; }
  const OpenedDevice& device(std::size_t i) const { return opened.devices[i]; }
  float px(float size) const { return std::round(size * window.frame.scale); }
};

inline std::string bytes_text(std::int64_t n) {
  const auto size = static_cast<std::uint64_t>(n);
  return n < 0 ? "-" + format_bytes(0 - size) : format_bytes(size);
}
inline std::string count_text(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

// A holder has a colour of its own; the last band, which is all others, is grey.
inline const Paint& band_paint(const WindowState& window, const BlockHistory& history, std::size_t band) {
  constexpr Hue kBandHues[] = {Hue::gemm,      Hue::op,          Hue::attention, Hue::elementwise, Hue::annotation,
                               Hue::reduction, Hue::convolution, Hue::copy,      Hue::call};
  constexpr std::size_t kHueCount = std::size(kBandHues);
  const bool is_rest = band + 1 == kHolderBands && history.bands().size() == kHolderBands;
  return paint_of(window.settings.slice_colours, is_rest ? Hue::other : kBandHues[band % kHueCount],
                  static_cast<std::uint8_t>(is_rest ? 0 : band / kHueCount % kShades));
}

}  // namespace gapscope
