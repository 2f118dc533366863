#pragma once
// Figures as the words of a sentence: counts with their nouns, shares with their sign.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace gapscope {

// "1 kernel", "1,234 kernels", "2 launches", "3 copies", "2 pieces of code".
std::string counted(std::uint64_t count, std::string_view noun);

// "12.3 %" of a whole, for columns; less than all is never 100 %: ">99.9 %". `of_nothing` where there is no whole.
std::string format_part(Ns part, Ns whole, std::string_view of_nothing = "");

}  // namespace gapscope
