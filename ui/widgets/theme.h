#pragma once
// The colours of the window, dark and light with the same hues, and Dear ImGui's style made of them.
#include <imgui.h>
#include "core/view/timeline/rgb.h"
#include "core/view/view_state.h"

namespace gapscope {

struct Theme {
  Rgb background;  // behind lanes
  Rgb surface;     // panels, bars
  Rgb raised;      // headers, controls
  Rgb line;        // hairlines
  Rgb text;
  Rgb muted;  // second-rank text
  Rgb accent;
  Rgb costly, notable, informational, good;
  Rgb selection;  // outline of the selected slice
  Rgb flow;       // arrows
};

const Theme& theme_of(ThemeName name);
inline const Theme& theme_of(const WindowState& window) { return theme_of(window.settings.theme); }

// What is behind everything, as 0xRRGGBB.
unsigned background_of(ThemeName name);

ImU32 colour(Rgb rgb, float alpha = 1);
ImVec4 colour_vec(Rgb rgb, float alpha = 1);

// Sets all of ImGuiStyle; cheap enough for every frame.
void apply_theme(ThemeName name, float scale);

}  // namespace gapscope
