#pragma once
// A colour as 8-bit sRGB, and how well text can be read on it (WCAG 2.1, relative luminance and contrast ratio).
#include <cstdint>

namespace gapscope {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend constexpr bool operator==(Rgb, Rgb) = default;
};

// 0x2BB3A3 -> {0x2B, 0xB3, 0xA3}.
constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex)};
}

// 0 is a, 1 is b.
constexpr Rgb blend(Rgb a, Rgb b, float t) {
  const auto mix = [t](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(static_cast<float>(x) + (static_cast<float>(y) - static_cast<float>(x)) * t + 0.5f);
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)};
}

double luminance(Rgb colour);
double contrast(Rgb a, Rgb b);

}  // namespace gapscope
