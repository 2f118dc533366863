#include "core/view/preferences.h"

namespace gapscope {

Preferences preferences_of(const TraceView& view, const WindowSettings& settings) {
  Preferences p;
  p.light = settings.theme == ThemeName::light;
  p.colour_blind = settings.slice_colours == Palette::colour_blind;
  p.animate = settings.animate;
  p.tour_seen = settings.tour_seen;
  p.bottom_open = settings.sizes.bottom_open;
  p.findings_open = settings.findings.open;
  p.python_folded = view.folds.python_folded;
  p.thin_lanes = view.folds.compact;
  p.zoom = settings.zoom;
  p.titles_px = settings.sizes.titles_px;
  p.bottom_px = settings.sizes.bottom_px;
  p.findings_px = settings.sizes.findings_px;
  return p;
}

void prefer(TraceView& view, WindowSettings& settings, const Preferences& p) {
  settings.theme = p.light ? ThemeName::light : ThemeName::dark;
  settings.slice_colours = p.colour_blind ? Palette::colour_blind : Palette::usual;
  settings.animate = p.animate;
  settings.tour_seen = p.tour_seen;
  settings.sizes = {p.titles_px, p.bottom_px, p.findings_px, p.bottom_open};
  settings.findings.open = p.findings_open;
  view.folds.python_folded = p.python_folded;
  view.folds.compact = p.thin_lanes;
  ++view.folds.revision;
  settings.zoom = p.zoom;
}

}  // namespace gapscope
