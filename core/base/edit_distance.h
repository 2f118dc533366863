#pragma once
// How far a mistyped word is from one that is known. Source: Levenshtein, "Binary codes capable of correcting deletions,
// insertions, and reversals" (1966).
#include <cstddef>
#include <string_view>

namespace gapscope {

// How many bytes to add, drop or change. Time: a.size() * b.size().
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace gapscope
