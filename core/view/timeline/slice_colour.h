#pragma once
// One hue for each kind of slice, a shade for each name, and text that can be read on it.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"
#include "core/view/timeline/rgb.h"

namespace gapscope {

enum class Hue : std::uint8_t {
  gemm,
  attention,
  convolution,
  elementwise,
  reduction,
  copy,
  memset,
  collective,
  kernel,
  op,
  annotation,
  call,
  python,
  overhead,
  wait,
  other,
  count_
};
constexpr std::size_t kHues = static_cast<std::size_t>(Hue::count_);
constexpr std::size_t kShades = 4;

// The colours of slices: the usual ones, or those of Okabe and Ito, which are distinguished with any colour vision
// (Color Universal Design, https://jfly.uni-koeln.de/color/).
enum class Palette : std::uint8_t { usual, colour_blind };

struct Paint {
  Rgb fill;
  Rgb edge;  // darker, drawn at the right end so that equal neighbours stay apart
  Rgb text;  // contrast with `fill` of 4.5 or more
};

// By the kind that the name decodes to (core/analyze/kernel_name/kernel_name.h).
Hue hue_of_kernel(std::string_view name);
Hue hue_of(Kind kind, std::string_view name);
// Stable across traces: the same name has the same shade everywhere.
std::uint8_t shade_of(std::string_view name);
const Paint& paint_of(Palette palette, Hue hue, std::uint8_t shade);

// The paint of each name of a trace, worked out when first drawn.
class SliceColours {
 public:
  explicit SliceColours(const Trace& trace) : trace_(trace), by_name_(trace.strings.size(), kUnknown) {}
  struct Class {
    Hue hue;
    std::uint8_t shade;
  };
  Class of(SliceId slice);

 private:
  static constexpr std::uint8_t kUnknown = 0xFF;
  static constexpr std::size_t kNotDecoded = kHues;  // in place of a hue
  const Trace& trace_;
  std::vector<std::uint8_t> by_name_;  // hue * kShades + shade; the hue is that of a kernel
};

}  // namespace gapscope
