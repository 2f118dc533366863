#include "core/view/preferences.h"

namespace gapscope {

Preferences preferences_of(const ViewState& view) {
  Preferences p;
  p.light = view.theme == ThemeName::light;
  p.colour_blind = view.slice_colours == Palette::colour_blind;
  p.animate = view.animate;
  p.tour_seen = view.tour.seen;
  p.bottom_open = view.sizes.bottom_open;
  p.findings_open = view.findings.open;
  p.python_folded = view.active().folds.python_folded;
  p.thin_lanes = view.active().folds.compact;
  p.zoom = view.zoom;
  p.titles_px = view.sizes.titles_px;
  p.bottom_px = view.sizes.bottom_px;
  p.findings_px = view.sizes.findings_px;
  return p;
}

void prefer(ViewState& view, const Preferences& p) {
  view.theme = p.light ? ThemeName::light : ThemeName::dark;
  view.slice_colours = p.colour_blind ? Palette::colour_blind : Palette::usual;
  view.animate = p.animate;
  view.tour.seen = p.tour_seen;
  view.sizes = {p.titles_px, p.bottom_px, p.findings_px, p.bottom_open};
  view.findings.open = p.findings_open;
  view.active().folds.python_folded = p.python_folded;
  view.active().folds.compact = p.thin_lanes;
  ++view.active().folds.revision;
  view.zoom = p.zoom;
}

}  // namespace gapscope
