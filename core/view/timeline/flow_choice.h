#pragma once
// The arrow of the selected slice that a key chose, and the way along it.
#include <optional>

#include "core/view/details/chain.h"
#include "core/view/view_state.h"

namespace gapscope {

// None while no arrow of the selected slice is chosen.
std::optional<Arrow> chosen_arrow(const TraceView& view);
// Chooses the next (by = 1) or previous (-1) arrow of the selected slice, round and round, and brings it into view.
void walk_arrows(const Document& document, TraceView& view, const WindowState& window, int by);
// Where an arrow leads from the selected slice, forwards or against its direction: the chosen one if it goes that way,
// else the first that does. None where none does.
SliceId end_of_arrow(const Document& document, const TraceView& view, bool forward);

// "Arrows: launches" and so on, for menus and the status.
const char* flow_show_text(FlowShow show);
FlowShow next_flow_show(FlowShow show);
// "1,234 arrows start here, 200 drawn"; empty while only the selection's are shown.
std::string flow_figures(const FlowsState& flows);

}  // namespace gapscope
