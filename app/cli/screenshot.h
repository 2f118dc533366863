#pragma once
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/view/document.h"
#include "core/view/view_state.h"

namespace gapscope {

struct ScreenshotOptions {
  std::vector<std::string> traces;  // none: the start screen; several, or a folder: as the window opens them
  std::string compare;              // a second trace below it; empty: none
  std::string output;               // a PNG
  std::string layout;               // a JSON file: what the picture shows as data; empty: none
  int width = 1600;
  int height = 900;
  float scale = 1;
  std::string from, to;  // of the visible time, as parse_window() reads them; empty: all
  std::string select;    // a slice's whole name, a part of it, or its index
  std::string tab;       // id or title of a panel below the lanes, in any case; empty: the first
  std::string finding;   // id of a rule: its costliest finding is chosen and brought into view; empty: none
  std::string what_if;   // changes of the tab What if, as read_what_if() has them
  bool path = false;     // the critical path is shown
  ThemeName theme = ThemeName::dark;
};

// `gapscope screenshot [TRACE...] -o FILE.png`: the real interface, rendered off screen. The exit code; an error is one
// sentence on stderr.
int screenshot(const ScreenshotOptions& options);

// "1600x900" -> width and height, each 1 to 16384.
Result<std::pair<int, int>> parse_size(const std::string& text);

// The first slice in time with this whole name, else of a name that holds it (letters without case), else the index.
Result<SliceId> find_slice(const Document& doc, const std::string& name_or_index);

}  // namespace gapscope
