#pragma once
// Small controls that several panels share.
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/view/view_state.h"
#include "ui/requests.h"
#include "ui/widgets/theme.h"

namespace gapscope {

struct Document;

// What the parts of a panel are given; `state`: what was chosen in it.
template <class State>
struct PanelOf {
  const Document& document;
  TraceView& view;
  WindowState& window;
  Requests& out;
  State& state;
  const Theme& theme = theme_of(window);
};

struct Choice {
  const char* title;
  const char* help;
};
// Buttons side by side, one of them down; the position of the one that is down now.
std::size_t draw_choice(const char* id, std::span<const Choice> choices, std::size_t chosen, const WindowState& window);

// What comes next is next to the last item where `width` fits there, which it returns, else below.
bool go_on(float width, float gap);

// With a frame that shows also where it is not ticked.
bool draw_checkbox(const char* label, bool* on);

// "range 1.20 ms - 3.40 ms  x" when a range is selected; a click clears it.
void draw_range_chip(const Document& document, TraceView& view, const WindowState& window);
std::string range_text(const Trace& trace, Span range);
// While a range is selected, a line in a tab that does not follow it.
void draw_whole_note(const TraceView& view, const WindowState& window);

// "Copy CSV" and "Save CSV" at the right end of the line. `text` is called when one is pressed; `ending` of the saved file:
// ".kernels.csv".
float csv_buttons_width();
void draw_csv_buttons(const char* ending, const std::function<std::string()>& text, Requests& out);

// Allows source files below a folder to be read and shown; a sentence above it says which.
void draw_allow_sources(const std::string& folder, Requests& out);

// A sentence in place of what is missing.
void draw_absence(const WindowState& window, std::string_view sentence);
// Of a document that is only the beginning of its file, a sentence in place of what would be wrong of a part: "findings
// follow". False, and nothing drawn, of a whole one.
bool draw_part_note(const Document& document, const WindowState& window, std::string_view what);
// "Working out the kernels, 43 %": while the document's analyses are under way; or why they came to no end.
void draw_working(const Document& document, const WindowState& window, std::string_view what, Requests& out);
// Where something came to no answer: why, and a button. Says whether that was pressed.
bool draw_try_again(std::string_view why, const WindowState& window);
// Draws why that question came to no answer; what is to be asked again is forgotten. False where nothing went wrong.
template <class Q>
bool draw_trouble(const Document& document, const WindowState& window) {
  Asked<Q>& at = asked<Q>(document);
  if (at.trouble.empty()) return false;
  if (draw_try_again(at.trouble, window)) at.forget();
  return true;
}

}  // namespace gapscope
