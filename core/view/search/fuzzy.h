#pragma once
// How well a few typed letters fit a title: they must all occur in their order, whatever the case, spaces left out. A
// heuristic.
#include <optional>
#include <string_view>

namespace gapscope {

// Higher is better: letters side by side, at the start of words and of the text count more; letters between cost. None where
// they do not fit; 0 for no letters.
std::optional<int> fuzzy_score(std::string_view text, std::string_view letters);

}  // namespace gapscope
