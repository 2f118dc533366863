#include "ui/start/tour.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <imgui_internal.h>

#include "ui/commands.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kWidth = 380, kMargin = 16;  // px at scale 1
constexpr const char* kCard = "##tour";

struct Hint {
  const char* title;
  const char* text;
};
constexpr std::array<Hint, 5> kHints = {{
    {"Move through time",
     "W and S zoom about the pointer, A and D pan. Hold a key to go faster. The wheel scrolls the lanes, with Ctrl it zooms. F "
     "shows all."},
    {"Ask a slice",
     "A click selects it. A kernel shows its registers, grid and occupancy below. Arrows lead to its launch and operator. Up "
     "and down go to caller and callee."},
    {"See what costs time",
     "Badges and hatched gaps mark problems. N goes to the next one. The panel at the right shows its meaning, its evidence, "
     "and what to do."},
    {"Count", "Drag in the ruler to restrict the tables below to that time: PyTorch's table, kernels, steps, GPU, memory."},
    {"Everything else", "? lists every key and what the mouse does. Each command is in the menus, too."},
}};

void close(WindowState& window) {
  window.tour.open = false;
  window.settings.tour_seen = true;
}

void draw_buttons(WindowState& window) {
  TourState& tour = window.tour;
  const bool last = tour.hint + 1 == kHints.size();
  if (ImGui::Button(last ? "Done" : "Next")) {
    if (last)
      close(window);
    else
      ++tour.hint;
  }
  draw_hover(last ? "Close the hints. Help > First hints shows them again." : "The next hint.");
  if (last) return;
  ImGui::SameLine();
  if (ImGui::Button("Skip")) close(window);
  draw_hover("Close the hints. Help > First hints shows them again.");
}

}  // namespace

void draw_tour(WindowState& window, std::span<const KeyPress> presses, const Box& room, float drawer, float page) {
  const auto is_use = [](const KeyPress& press) { return press.key != Key::escape; };
  if (window.tour.due && (ImGui::IsMouseClicked(0) || std::any_of(presses.begin(), presses.end(), is_use)))
    window.tour = {.open = true};
  if (!window.tour.open || window.tour.hint >= kHints.size()) return;
  const float margin = kMargin * window.frame.scale;
  const float width = std::min(kWidth * window.frame.scale, room.width() - 2 * margin);
  const ImGuiWindow* last = ImGui::FindWindowByName(kCard);  // in its first frame it is measured, and not shown
  const bool fits = !last || last->Size.y + 2 * margin <= page;
  ImGui::SetNextWindowPos({room.x1 - margin, room.y1 - (fits ? 0 : drawer) - margin}, ImGuiCond_Always, {1, 1});
  ImGui::SetNextWindowSize({width, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {12 * window.frame.scale, 10 * window.frame.scale});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour_vec(theme_of(window).surface));
  ImGui::PushStyleColor(ImGuiCol_Border, colour_vec(theme_of(window).accent));
  ImGui::Begin(kCard, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  const Theme& theme = theme_of(window);
  const Hint& hint = kHints[window.tour.hint];
  draw_text(Face::bold, theme.text, hint.title);
  const std::string count = std::to_string(window.tour.hint + 1) + " of " + std::to_string(kHints.size());
  ImGui::SameLine(width - ImGui::CalcTextSize(count.c_str()).x - 12 * window.frame.scale);
  draw_text(Face::sans, theme.muted, count);
  draw_text(Face::sans, theme.text, hint.text, /*wrap=*/true);
  ImGui::Dummy({0, 4 * window.frame.scale});
  draw_buttons(window);
  ImGui::End();
}

}  // namespace gapscope
