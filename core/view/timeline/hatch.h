#pragma once
// Patterns that tell areas apart without their colour.
#include <cstdint>

namespace gapscope {

enum class Hatch : std::uint8_t { none, rising, falling, crossed, level, upright, dotted };

}  // namespace gapscope
