#pragma once
// Names side by side in a column that is too narrow for some of them.
#include <cstddef>
#include <string>
#include <vector>

namespace gapscope {

// Each of at most `chars` code points. What fits stays whole. Of what does not, the beginning and the end that it has in common
// with another one of the list are cut first, so that what distinguishes it remains in sight; dots represent what was cut.
std::vector<std::string> distinct_names(const std::vector<std::string>& names, std::size_t chars);

}  // namespace gapscope
