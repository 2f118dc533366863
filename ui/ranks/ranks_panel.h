#pragma once
// What the parts of the tab "Ranks" share. Over core/view/ranks.
#include "core/view/ranks/ranks_model.h"
#include "ui/widgets/controls.h"

namespace gapscope {

struct RanksPanel : PanelOf<RanksState> {
  const RanksAnswer& answer;
};

// Whether that rank's file (position) is the open one.
bool is_open(const RanksPanel& panel, std::size_t rank);

// They are read, and are those of the open trace.
bool knows_ranks(const Document& document, const RanksState& ranks);

// Reads the ranks of a run that was opened as one, as the tab Ranks does.
void ask_for_run(const Document& document, RanksState& ranks, Requests& out);

// One GPU band a rank, exactly under the lanes of the open one, in the rest of the current window as far as `x1`.
void draw_rank_bands(RanksPanel& panel, float x1);
// What the colours of the bands mean, in a line.
void draw_band_legend(const RanksPanel& panel);

}  // namespace gapscope
