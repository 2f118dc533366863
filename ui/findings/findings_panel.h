#pragma once
// The panel at the right: the answer, the verdict, and every finding with its proof, its meaning and what to do.
#include <string>

#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

// "Rank 0 alone", "Trace A alone": of several that are open, what findings and verdict are of; empty where there is one.
std::string part_of_what_is_open(const Document& document, const WindowState& window);

// Whether this panel draws the bars of the time account.
bool draws_account(const WindowState& window);

void draw_findings(const Document& document, TraceView& view, WindowState& window, Requests& out);

}  // namespace gapscope
