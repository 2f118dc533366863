#pragma once
// What the parts of the tab "Ranks" share. Over core/view/ranks.
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/view_state.h"
#include "ui/requests.h"
#include "ui/widgets/theme.h"

namespace gapscope {

struct RanksPanel {
  const Document& document;
  ViewState& view;
  Requests& out;
  const Theme& theme;
  RanksState& state;
  const RanksAnswer& answer;
};

// Whether that rank's file (position) is the open one.
bool is_open(const RanksPanel& panel, std::size_t rank);

// One GPU band a rank, exactly under the lanes of the open one, in the rest of the current window as far as `x1`.
void draw_rank_bands(RanksPanel& panel, float x1);
// What the colours of the bands mean, in a line.
void draw_band_legend(const RanksPanel& panel);

}  // namespace gapscope
