#pragma once
// How a person likes the window: what is saved between two runs, whatever file is open. Typed values with the names that
// the settings file gives them.
#include <array>
#include <string_view>
#include <variant>

#include "core/view/view_state.h"

namespace gapscope {

constexpr float kLeastZoom = 0.6f, kMostZoom = 3;

struct Preferences {
  bool light = false;
  bool colour_blind = false;
  bool animate = true;
  bool tour_seen = false;
  bool bottom_open = true;
  bool findings_open = true;
  bool python_folded = true;
  bool thin_lanes = false;
  float zoom = 1;
  float titles_px = PanelSizes{}.titles_px;
  float bottom_px = PanelSizes{}.bottom_px;
  float findings_px = PanelSizes{}.findings_px;

  friend bool operator==(const Preferences&, const Preferences&) = default;
};

struct PreferenceField {
  std::string_view name;
  std::variant<bool Preferences::*, float Preferences::*> value;
  float least = 0, most = 0;  // of a number
};
constexpr auto kPreferenceFields = std::to_array<PreferenceField>({
    {"light", &Preferences::light},
    {"colour_blind", &Preferences::colour_blind},
    {"animate", &Preferences::animate},
    {"tour_seen", &Preferences::tour_seen},
    {"bottom_open", &Preferences::bottom_open},
    {"findings_open", &Preferences::findings_open},
    {"python_folded", &Preferences::python_folded},
    {"thin_lanes", &Preferences::thin_lanes},
    {"zoom", &Preferences::zoom, kLeastZoom, kMostZoom},
    {"titles_px", &Preferences::titles_px, 90, 2000},
    {"drawer_px", &Preferences::bottom_px, 0, 4000},
    {"findings_px", &Preferences::findings_px, 120, 4000},
});

Preferences preferences_of(const TraceView& view, const WindowSettings& settings);
void prefer(TraceView& view, WindowSettings& settings, const Preferences& preferences);

}  // namespace gapscope
