#pragma once
// The header Range (RFC 9110, 14.2), as far as it is answered: one range of bytes.
#include <cstdint>
#include <string_view>

namespace gapscope {

struct ByteRange {
  enum class Kind {
    whole,  // nothing is asked, something that is not understood, or several ranges: all of it
    part,
    none  // 416: there is nothing there
  };
  Kind kind = Kind::whole;
  std::uint64_t first = 0;  // of a part
  std::uint64_t bytes = 0;  // at least one
};

// `header`: the value of "Range:", empty without one. `size`: of the file.
ByteRange byte_range(std::string_view header, std::uint64_t size);

}  // namespace gapscope
