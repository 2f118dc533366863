#pragma once
// A field of several lines for SQL: keywords, texts, numbers and comments in colours of their own, Tab completes the word
// before the caret.
#include <string>

#include "core/view/sql/sql_model.h"
#include "core/view/view_state.h"

namespace gapscope {

// `height` in px of the display. `known` (may be null) has the words that can be completed. True when what is typed is to be
// run (Ctrl+Enter).
bool draw_sql_editor(SqlState& state, const SqlAnswer* known, float height, const WindowState& window);

}  // namespace gapscope
