#pragma once
// The panel at the right: the verdict, and every finding with its proof, its meaning and what to do.
#include "core/view/document.h"
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

void draw_findings(const Document& document, TraceView& view, WindowState& window, Requests& out);
// The findings alone, while the tab "Overview" shows verdict and account.
void draw_findings_alone(const Document& document, TraceView& view, WindowState& window, Requests& out);

}  // namespace gapscope
