#pragma once
// A field of several lines for SQL: keywords, texts, numbers and comments in colours of their own, long lines wrapped, Tab
// completes the word before the caret.
#include <cstddef>
#include <string>
#include <string_view>

#include "core/view/sql/sql_model.h"
#include "core/view/view_state.h"

namespace gapscope {

// `height` in px of the display. `known` (may be null) has the words that can be completed. True when what is typed is to be
// run (Ctrl+Enter).
bool draw_sql_editor(SqlState& state, const SqlAnswer* known, float height, const WindowState& window);

// The text as the field shows it: spaces at which a line longer than so many letters continues in the next one are line feeds.
// As long as the text, so that a place in the one is that in the other.
std::string wrapped_query(std::string_view text, std::size_t letters);

// The field gets the keyboard as soon as no menu is open.
void give_keys_to_sql_editor();
// To be called where the pointer is on what belongs to the field; a letter that is typed there begins in the field.
void point_at_sql_editor();
// Whether one is typed; the field then has asked for the keyboard.
bool typing_at_sql_editor(SqlState& state);

}  // namespace gapscope
