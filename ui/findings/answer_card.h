#pragma once
// The answer at the top of the panel at the right (core/view/overview/answer_card.h), with a button that shows its cause.
#include "core/view/view_state.h"

namespace gapscope {

struct Document;

// Nothing before the document is judged. Its height depends on the document and the width alone.
void draw_answer_card(const Document& document, TraceView& view, WindowState& window);

}  // namespace gapscope
