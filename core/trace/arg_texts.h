#pragma once
// The value of one arg of chosen slices, read again from the file: equal texts once.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace gapscope {

struct ArgTexts {
  static constexpr std::uint32_t kNone = 0;

  std::vector<SliceId> slices;       // ascending
  std::vector<std::uint32_t> texts;  // of each, into `text`; kNone where the event has no such arg
  std::vector<std::string> text{""};

  std::uint32_t place(SliceId slice) const {
    const auto at = std::lower_bound(slices.begin(), slices.end(), slice);
    return at != slices.end() && *at == slice ? texts[static_cast<std::size_t>(at - slices.begin())] : kNone;
  }
  std::string_view of(SliceId slice) const { return text[place(slice)]; }
};

}  // namespace gapscope
