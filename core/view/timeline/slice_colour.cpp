#include "core/view/timeline/slice_colour.h"

#include <array>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/hash.h"

namespace gapscope {
namespace {

// In the order of KernelKind.
constexpr std::array<Hue, kKernelKinds> kHueOfKernelKind = {
    Hue::gemm,      Hue::attention,   Hue::convolution, Hue::elementwise, Hue::reduction,
    Hue::reduction, Hue::reduction,   Hue::reduction,   Hue::collective,  Hue::copy,
    Hue::memset,    Hue::elementwise, Hue::elementwise, Hue::kernel,      Hue::kernel};

// In the order of Hue.
constexpr std::array<Rgb, kHues> kFills = {
    rgb(0x2BB3A3), rgb(0x5FBF5F), rgb(0x38B6D8), rgb(0xC9A227), rgb(0xE0853D), rgb(0xD66BA0), rgb(0x7C8594), rgb(0xC65BD0),
    rgb(0x8FA8B2), rgb(0x4E7FBF), rgb(0x7D6BD0), rgb(0xA58A5C), rgb(0x56616F), rgb(0x8C4A46), rgb(0x3F4957), rgb(0x6B7A8F)};

// Their eight colours go to the work of GPUs and to operators; what is left is grey, brown or dim.
constexpr std::array<Rgb, kHues> kColourBlindFills = {
    rgb(0x009E73), rgb(0xF0E442), rgb(0x56B4E9), rgb(0xE69F00), rgb(0xD55E00), rgb(0xCC79A7), rgb(0x7C8594), rgb(0x0072B2),
    rgb(0x8FA8B2), rgb(0x5F86B3), rgb(0x8B83B8), rgb(0xA58A5C), rgb(0x56616F), rgb(0x6E4A46), rgb(0x3F4957), rgb(0x6B7A8F)};

// How far a shade goes away from its text: all shades of a hue carry the same colour of text, and none reads worse.
constexpr std::array<float, kShades> kShadeSteps = {0.0f, 0.07f, 0.14f, 0.21f};
constexpr Rgb kWhite = rgb(0xFFFFFF);
constexpr Rgb kInk = rgb(0x05070A);
constexpr Rgb kDeep = rgb(0x14171C);
constexpr float kEdgeDarker = 0.45f;

Paint mix_paint(Rgb base, std::size_t shade) {
  const bool ink = contrast(base, kInk) >= contrast(base, kWhite);
  const Rgb fill = blend(base, ink ? kWhite : kDeep, kShadeSteps[shade]);
  return {fill, blend(fill, kDeep, kEdgeDarker), ink ? kInk : kWhite};
}

using PaintTable = std::array<std::array<Paint, kShades>, kHues>;
PaintTable mix_paints(const std::array<Rgb, kHues>& fills) {
  PaintTable table;
  for (std::size_t hue = 0; hue < kHues; ++hue) {
    for (std::size_t shade = 0; shade < kShades; ++shade) table[hue][shade] = mix_paint(fills[hue], shade);
  }
  return table;
}

}  // namespace

Hue hue_of_kernel(std::string_view name) { return kHueOfKernelKind[static_cast<std::size_t>(decode(name).kind)]; }

Hue hue_of(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::kernel: return hue_of_kernel(name);
    case Kind::memcpy: return Hue::copy;
    case Kind::memset: return Hue::memset;
    case Kind::op: return Hue::op;
    case Kind::annotation:
    case Kind::gpu_annotation: return Hue::annotation;
    case Kind::runtime:
    case Kind::driver: return Hue::call;
    case Kind::python: return Hue::python;
    case Kind::overhead: return Hue::overhead;
    case Kind::sync: return Hue::wait;
    case Kind::profiler:
    case Kind::other: break;
  }
  return Hue::other;
}

std::uint8_t shade_of(std::string_view name) { return static_cast<std::uint8_t>(hash_text(name) % kShades); }

const Paint& paint_of(Palette palette, Hue hue, std::uint8_t shade) {
  static const PaintTable usual = mix_paints(kFills), colour_blind = mix_paints(kColourBlindFills);
  return (palette == Palette::usual ? usual : colour_blind)[static_cast<std::size_t>(hue)][shade];
}

SliceColours::Class SliceColours::of(SliceId slice) {
  const Kind kind = trace_.kind(slice);
  std::uint8_t& known = by_name_[trace_.name_id(slice).index()];
  if (known == kUnknown) known = static_cast<std::uint8_t>(kNotDecoded * kShades + shade_of(trace_.name(slice)));
  const auto shade = static_cast<std::uint8_t>(known % kShades);
  if (kind != Kind::kernel) return {hue_of(kind, {}), shade};
  // Only names that a kernel has are decoded: Inductor's operators and kernels share theirs.
  if (known / kShades == kNotDecoded)
    known = static_cast<std::uint8_t>(static_cast<std::size_t>(hue_of_kernel(trace_.name(slice))) * kShades + shade);
  return {static_cast<Hue>(known / kShades), shade};
}

}  // namespace gapscope
