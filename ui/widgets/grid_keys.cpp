#include "ui/widgets/grid_keys.h"

#include <algorithm>
#include <utility>

#include <imgui.h>

namespace gapscope {
namespace {

constexpr int kPage = 10;  // rows
constexpr int kGone = 2;   // frames in which a table was not drawn: its tab is closed

// The UI thread's own, as the delay of tooltips is.
struct GridKeys {
  std::size_t owner = 0;
  int drawn = 0;          // frame in which the owner was last
  std::int64_t row = -1;  // of it, clicked or walked to
  int step = 0;           // rows to walk in this frame
  int filter_drawn = 0;   // frame in which a field that filters was last
  bool to_filter = false;
  bool pointer_rests = false;
  bool opened = false;
};
GridKeys keys;

bool is_recent(int frame) { return frame <= ImGui::GetFrameCount() && ImGui::GetFrameCount() - frame <= kGone; }

int step_of(const KeyPress& press) {
  if (press.mods != kNoMods) return 0;
  switch (press.key) {
    case Key::up: return -1;
    case Key::down: return 1;
    case Key::page_up: return -kPage;
    case Key::page_down: return kPage;
    default: return 0;
  }
}

}  // namespace

std::vector<KeyPress> take_grid_keys(std::span<const KeyPress> presses) {
  keys.step = 0;
  keys.to_filter = false;
  if (ImGui::IsMouseClicked(0) || !is_recent(keys.drawn)) keys.owner = 0;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  if (moved.x != 0 || moved.y != 0) keys.pointer_rests = false;
  std::vector<KeyPress> rest;
  for (const KeyPress& press : presses) {
    if (press.key == Key::escape) keys.owner = 0;
    const bool to_filter = press == KeyPress{Key::f, kCtrl, press.repeat} && is_recent(keys.filter_drawn);
    if (keys.owner != 0 && step_of(press) != 0)
      keys.step += step_of(press);
    else if (keys.owner != 0 && to_filter)
      keys.to_filter = true;
    else
      rest.push_back(press);
  }
  return rest;
}

std::int64_t walked_row(std::size_t grid, std::int64_t selected, std::size_t rows) {
  if (grid != keys.owner) return -1;
  keys.drawn = ImGui::GetFrameCount();
  if (keys.step == 0 || rows == 0) return -1;
  keys.pointer_rests = true;
  const std::int64_t from = selected >= 0 ? selected : keys.row;
  const std::int64_t last = static_cast<std::int64_t>(rows) - 1;
  return keys.row = std::clamp<std::int64_t>(from + keys.step, 0, last);
}

void give_grid_keys(std::size_t grid, std::int64_t row) {
  keys.owner = grid;
  keys.row = row;
  keys.drawn = ImGui::GetFrameCount();
}

bool has_grid_keys(std::size_t grid) { return grid == keys.owner; }

void open_row() { keys.opened = true; }

bool take_opened_row() { return std::exchange(keys.opened, false); }

bool pointer_rests() { return keys.pointer_rests; }

bool take_filter_keys() {
  keys.filter_drawn = ImGui::GetFrameCount();
  return std::exchange(keys.to_filter, false);
}

}  // namespace gapscope
