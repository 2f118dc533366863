#pragma once
// The tables of the tab "Memory".
#include "core/analyze/memory/memory.h"
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

// Who holds the peak. `device`: of the marked range, where one is.
void draw_holders(const Document& document, const MemoryDevice& device, TraceView& view, WindowState& window, Requests& out);
// Who asked for memory of this device.
void draw_operators(const Document& document, TraceView& view, WindowState& window, const MemoryUse& use,
                    const MemoryDevice& device, Requests& out);

}  // namespace gapscope
