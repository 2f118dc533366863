#pragma once
// What the user chose about arrows. Part of TraceView.
#include <cstddef>
#include <cstdint>

#include "core/base/ids.h"

namespace gapscope {

// Which arrows are drawn besides those of the selection.
enum class FlowShow : std::uint8_t { selection, launches, forward_backward, all };
constexpr std::size_t kFlowShows = 4;

struct FlowsState {
  FlowShow show = FlowShow::selection;
  // The arrow of `of` that a key chose; counts only while `of` is selected.
  SliceId of, from, to;
  // Of what is visible, written by the timeline each frame: arrows that start in sight, and how many arrows are drawn.
  std::size_t in_sight = 0, drawn = 0;
  // Of the selection, likewise: arrows that it has, and how many of them are drawn wherever they lie.
  std::size_t of_selection = 0, of_selection_drawn = 0;
};

}  // namespace gapscope
