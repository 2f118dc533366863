#pragma once
// What is typed into the search field and into the box of the command palette, and what was found.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/view/search/search_model.h"

namespace gapscope {

struct SearchState {
  SearchQuestion typed;
  bool wants_keys = false;        // the field is to take the keyboard
  bool has_keys = false;          // it has; written by the field
  bool caret_to_end = false;      // where it takes them
  bool open = false;              // what was found is listed below the field
  std::uint8_t slash_frames = 0;  // in which the slash that led here may still arrive as text
};

enum class BoxKind : std::uint8_t { none, commands, lanes, time };

// The box at the top in which commands, lanes and times are typed.
struct BoxState {
  BoxKind kind = BoxKind::none;
  std::string text;
  std::size_t chosen = 0;
  bool fresh = false;  // opened in this frame
};

}  // namespace gapscope
