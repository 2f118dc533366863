#include "ui/widgets/theme.h"

namespace gapscope {
namespace {

constexpr Theme kDark{rgb(0x14171C), rgb(0x1B1F26), rgb(0x232934), rgb(0x2D3440), rgb(0xE6E9EF), rgb(0x8B94A3), rgb(0x5AA9FF),
                      rgb(0xFF6B5E), rgb(0xFFB454), rgb(0x5AA9FF), rgb(0x4CC38A), rgb(0xFFFFFF), rgb(0xFFD479)};
constexpr Theme kLight{rgb(0xFBFCFD), rgb(0xF1F3F6), rgb(0xE4E8ED), rgb(0xCDD3DB), rgb(0x1A1F27), rgb(0x5C6675), rgb(0x1B66C4),
                       rgb(0xBE3529), rgb(0x945700), rgb(0x1B66C4), rgb(0x187347), rgb(0x0B0E13), rgb(0xB36B00)};

void set_sizes(ImGuiStyle& style) {
  style.WindowPadding = {8, 8};
  style.FramePadding = {8, 3};
  style.CellPadding = {6, 3};
  style.ItemSpacing = {8, 4};
  style.ItemInnerSpacing = {6, 4};
  style.ScrollbarSize = 12;
  style.WindowRounding = 4;
  style.ChildRounding = 0;
  style.PopupRounding = 4;
  style.FrameRounding = 3;
  style.GrabRounding = 3;
  style.ScrollbarRounding = 3;
  style.TabRounding = 3;
  style.WindowBorderSize = 1;
  style.PopupBorderSize = 1;
  style.ChildBorderSize = 0;
  style.FrameBorderSize = 0;
}

void set_surfaces(ImVec4* c, const Theme& t) {
  c[ImGuiCol_Text] = colour_vec(t.text);
  c[ImGuiCol_TextDisabled] = colour_vec(t.muted);
  c[ImGuiCol_WindowBg] = colour_vec(t.surface);
  c[ImGuiCol_ChildBg] = colour_vec(t.surface, 0);
  c[ImGuiCol_PopupBg] = colour_vec(t.raised);
  c[ImGuiCol_Border] = colour_vec(t.line);
  c[ImGuiCol_MenuBarBg] = colour_vec(t.surface);
  c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = colour_vec(t.raised);
  c[ImGuiCol_ScrollbarBg] = colour_vec(t.surface, 0);
  c[ImGuiCol_Separator] = colour_vec(t.line);
  c[ImGuiCol_TableHeaderBg] = colour_vec(t.raised);
  c[ImGuiCol_TableBorderStrong] = c[ImGuiCol_TableBorderLight] = colour_vec(t.line);
  c[ImGuiCol_TableRowBgAlt] = colour_vec(t.raised, 0.4f);
  c[ImGuiCol_ModalWindowDimBg] = colour_vec(t.background, 0.6f);
}

void set_controls(ImVec4* c, const Theme& t) {
  const Rgb hovered = blend(t.raised, t.text, 0.10f);
  const Rgb pressed = blend(t.raised, t.accent, 0.35f);
  c[ImGuiCol_FrameBg] = c[ImGuiCol_Button] = colour_vec(t.raised);
  c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_ButtonHovered] = colour_vec(hovered);
  c[ImGuiCol_FrameBgActive] = c[ImGuiCol_ButtonActive] = colour_vec(pressed);
  c[ImGuiCol_Header] = colour_vec(t.accent, 0.20f);
  c[ImGuiCol_HeaderHovered] = colour_vec(t.accent, 0.28f);
  c[ImGuiCol_HeaderActive] = colour_vec(t.accent, 0.40f);
  c[ImGuiCol_Tab] = colour_vec(t.surface);
  c[ImGuiCol_TabHovered] = colour_vec(hovered);
  c[ImGuiCol_ScrollbarGrab] = colour_vec(t.line);
  c[ImGuiCol_ScrollbarGrabHovered] = c[ImGuiCol_ScrollbarGrabActive] = colour_vec(t.muted);
  c[ImGuiCol_CheckMark] = c[ImGuiCol_SliderGrab] = c[ImGuiCol_SliderGrabActive] = colour_vec(t.accent);
  c[ImGuiCol_SeparatorHovered] = c[ImGuiCol_SeparatorActive] = colour_vec(t.accent);
  c[ImGuiCol_ResizeGrip] = colour_vec(t.line);
  c[ImGuiCol_PlotHistogram] = c[ImGuiCol_PlotLines] = colour_vec(t.accent);
  c[ImGuiCol_TextSelectedBg] = colour_vec(t.accent, 0.35f);
#if IMGUI_VERSION_NUM >= 19100
  c[ImGuiCol_TabSelected] = colour_vec(t.raised);
  c[ImGuiCol_TabDimmed] = colour_vec(t.surface);
  c[ImGuiCol_TabDimmedSelected] = colour_vec(t.raised);
  c[ImGuiCol_TabSelectedOverline] = colour_vec(t.accent);
#else
  c[ImGuiCol_TabActive] = c[ImGuiCol_TabUnfocusedActive] = colour_vec(t.raised);
  c[ImGuiCol_TabUnfocused] = colour_vec(t.surface);
#endif
}

}  // namespace

const Theme& theme_of(ThemeName name) { return name == ThemeName::light ? kLight : kDark; }

unsigned background_of(ThemeName name) {
  const Rgb back = theme_of(name).background;
  return static_cast<unsigned>(back.r) << 16 | static_cast<unsigned>(back.g) << 8 | back.b;
}

ImU32 colour(Rgb rgb, float alpha) { return IM_COL32(rgb.r, rgb.g, rgb.b, static_cast<int>(alpha * 255 + 0.5f)); }

ImVec4 colour_vec(Rgb rgb, float alpha) {
  return {static_cast<float>(rgb.r) / 255, static_cast<float>(rgb.g) / 255, static_cast<float>(rgb.b) / 255, alpha};
}

void apply_theme(ThemeName name, float scale) {
  ImGuiStyle style;
  if (name == ThemeName::light)
    ImGui::StyleColorsLight(&style);
  else
    ImGui::StyleColorsDark(&style);
  set_sizes(style);
  set_surfaces(style.Colors, theme_of(name));
  set_controls(style.Colors, theme_of(name));
  style.ScaleAllSizes(scale);
  ImGuiStyle& live = ImGui::GetStyle();
#if IMGUI_VERSION_NUM >= 19200
  // Dear ImGui keeps the current font's size in the style.
  style.FontSizeBase = live.FontSizeBase;
  style.FontScaleMain = live.FontScaleMain;
  style.FontScaleDpi = live.FontScaleDpi;
  style._NextFrameFontSizeBase = live._NextFrameFontSizeBase;
#endif
  live = style;
}

}  // namespace gapscope
