#pragma once
// Patterns that distinguish areas without their colour.
#include <cstdint>

namespace gapscope {

enum class Hatch : std::uint8_t { none, rising, falling, crossed, level, upright, dotted };

}  // namespace gapscope
