#pragma once
// A slice's name cut to the room it has: whole, or without its namespaces, or its beginning and an ellipsis, behind which stand
// the first facts of a function whose name alone is too long. Of names cut to 24 letters, next to each other on a stream, 285
// of 7585 read the same so (transformer_baseline and the public recordings of B200, MI300 and 2021's resnet50); by their
// beginning alone 2397, by both ends 498.
#include <array>
#include <string>
#include <string_view>

#include "core/trace/trace.h"

namespace gapscope {

// Advance widths in px of the font that labels are drawn in.
struct GlyphWidths {
  std::array<float, 128> ascii{};
  float other = 8;     // every code point beyond ASCII
  float ellipsis = 8;  // of "…" (or of what represents it)

  float of(std::string_view text) const;
};

// "void at::native::reduce_kernel<512>(...)" -> "reduce_kernel<512>(...)"; "aten::mm" -> "mm";
// "torch/nn/modules/module.py(1783): _call_impl" -> "module.py(1783): _call_impl".
std::string_view without_namespaces(std::string_view name);
// The last part of a Python frame or module: "module.py(1783): _call_impl" -> "_call_impl"; others stay.
std::string_view without_place(std::string_view name);

// What a slice is called: shown_name(), which is worked out once a name. Until the next call.
std::string_view label_text(const Trace& trace, SliceId slice);

// Writes the label into `out`, empty when only a letter or two and an ellipsis would fit. Control characters become
// spaces.
void fit_label(std::string_view name, float room_px, const GlyphWidths& widths, std::string& out);

}  // namespace gapscope
