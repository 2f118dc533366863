#pragma once
// What a frame shows, as data: the rows of the lanes, the texts, the parts of the window. For tests, for scripts.
#include <cstdint>
#include <string>
#include <vector>

#include "ui/app_ui.h"
#include "ui/widgets/drawn_text.h"

namespace gapscope {

enum class RowKind : std::uint8_t { kernels, annotations, cpu, counter, other };
const char* row_kind_name(RowKind kind);

struct PictureRow {
  std::string lane;  // its title
  RowKind kind = RowKind::other;
  std::int32_t device = -1, stream = -1;  // -1 where it has none
  TraceSide trace = TraceSide::a;
  Box box;  // of its slices: below each other where they overlap
};

// Boxes in px of the picture, cut to what shows of them; what does not show is not listed.
struct PictureLayout {
  float width = 0, height = 0;
  std::vector<PictureRow> rows;
  std::vector<DrawnText> texts;
  std::vector<PanelPlace> panels;
};

// Of the last frame of `ui`, after ImGui::Render(), in its ImGui context.
PictureLayout picture_layout(const AppUi& ui);

}  // namespace gapscope
