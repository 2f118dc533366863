#include "core/view/slice_colour.h"

#include <array>

#include "core/base/hash.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

struct NamePattern {
  std::string_view part;  // compared without case
  Hue hue;
};

// The first that occurs in the name decides, so the more telling ones come first.
constexpr std::array kKernelPatterns = std::to_array<NamePattern>({
    {"nccl", Hue::collective},
    {"rccl", Hue::collective},
    {"allreduce", Hue::collective},
    {"all_reduce", Hue::collective},
    {"allgather", Hue::collective},
    {"reduce_scatter", Hue::collective},
    {"flash", Hue::attention},
    {"fmha", Hue::attention},
    {"attention", Hue::attention},
    {"attn", Hue::attention},
    {"_mla_", Hue::attention},
    {"fprop", Hue::convolution},
    {"dgrad", Hue::convolution},
    {"wgrad", Hue::convolution},
    {"conv", Hue::convolution},
    {"winograd", Hue::convolution},
    {"softmax", Hue::reduction},
    {"layer_norm", Hue::reduction},
    {"layernorm", Hue::reduction},
    {"rms_norm", Hue::reduction},
    {"rmsnorm", Hue::reduction},
    {"batch_norm", Hue::reduction},
    {"bn_fw", Hue::reduction},
    {"bn_bw", Hue::reduction},
    {"reduce", Hue::reduction},
    {"triton_red", Hue::reduction},
    {"triton_per", Hue::reduction},
    {"elementwise", Hue::elementwise},
    {"triton_poi", Hue::elementwise},
    {"multi_tensor_apply", Hue::elementwise},
    {"pointwise", Hue::elementwise},
    {"gemm", Hue::gemm},
    {"gemv", Hue::gemm},
    {"cutlass", Hue::gemm},
    {"cijk_", Hue::gemm},
    {"nvjet", Hue::gemm},
    {"matmul", Hue::gemm},
    {"splitk", Hue::gemm},
    {"bmm", Hue::gemm},
    {"triton_mm", Hue::gemm},
    {"moe", Hue::gemm},
    {"argmax", Hue::reduction},
    {"cumsum", Hue::reduction},
    {"scan", Hue::reduction},
    {"topk", Hue::reduction},
    {"sort", Hue::reduction},
    {"norm", Hue::reduction},
    {"pool", Hue::reduction},
    {"transpose", Hue::copy},
    {"memcpy", Hue::copy},
    {"copy", Hue::copy},
    {"catarray", Hue::copy},
    {"memset", Hue::memset},
    {"fill", Hue::elementwise},
    {"dropout", Hue::elementwise},
    {"gelu", Hue::elementwise},
    {"silu", Hue::elementwise},
    {"act_and_mul", Hue::elementwise},
    {"quant", Hue::elementwise},
    {"rotary", Hue::elementwise},
    {"index", Hue::elementwise},
    {"embedding", Hue::elementwise},
    {"foreach", Hue::elementwise},
});

// In the order of Hue.
constexpr std::array<Rgb, kHues> kFills = {rgb(0x2BB3A3), rgb(0x5FBF5F), rgb(0x38B6D8), rgb(0xC9A227),
                                           rgb(0xE0853D), rgb(0xD66BA0), rgb(0x7C8594), rgb(0x9A7CE0),
                                           rgb(0x8FA8B2), rgb(0x4E7FBF), rgb(0x7D6BD0), rgb(0xA58A5C),
                                           rgb(0x56616F), rgb(0x8C4A46), rgb(0x3F4957), rgb(0x6B7A8F)};

// How far a shade goes away from its text: all shades of a hue carry the same colour of text, and none reads worse.
constexpr std::array<float, kShades> kShadeSteps = {0.0f, 0.07f, 0.14f, 0.21f};
constexpr Rgb kWhite = rgb(0xFFFFFF);
constexpr Rgb kInk = rgb(0x05070A);
constexpr Rgb kDeep = rgb(0x14171C);
constexpr float kEdgeDarker = 0.45f;

Paint mix_paint(Hue hue, std::size_t shade) {
  const Rgb base = kFills[static_cast<std::size_t>(hue)];
  const bool ink = contrast(base, kInk) >= contrast(base, kWhite);
  const Rgb fill = blend(base, ink ? kWhite : kDeep, kShadeSteps[shade]);
  return {fill, blend(fill, kDeep, kEdgeDarker), ink ? kInk : kWhite};
}

using PaintTable = std::array<std::array<Paint, kShades>, kHues>;
PaintTable mix_paints() {
  PaintTable table;
  for (std::size_t hue = 0; hue < kHues; ++hue) {
    for (std::size_t shade = 0; shade < kShades; ++shade) table[hue][shade] = mix_paint(static_cast<Hue>(hue), shade);
  }
  return table;
}

}  // namespace

Hue hue_of_kernel(std::string_view name) {
  for (const NamePattern& pattern : kKernelPatterns) {
    if (contains_ignore_case(name, pattern.part)) return pattern.hue;
  }
  return Hue::kernel;
}

Hue hue_of(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::kernel:
      return hue_of_kernel(name);
    case Kind::memcpy:
      return Hue::copy;
    case Kind::memset:
      return Hue::memset;
    case Kind::op:
      return Hue::op;
    case Kind::annotation:
    case Kind::gpu_annotation:
      return Hue::annotation;
    case Kind::runtime:
    case Kind::driver:
      return Hue::call;
    case Kind::python:
      return Hue::python;
    case Kind::overhead:
      return Hue::overhead;
    case Kind::sync:
      return Hue::wait;
    case Kind::profiler:
    case Kind::other:
      break;
  }
  return Hue::other;
}

std::uint8_t shade_of(std::string_view name) { return static_cast<std::uint8_t>(hash_text(name) % kShades); }

const Paint& paint_of(Hue hue, std::uint8_t shade) {
  static const PaintTable table = mix_paints();
  return table[static_cast<std::size_t>(hue)][shade];
}

SliceColours::Class SliceColours::of(SliceId slice) {
  const Kind kind = trace_.kind(slice);
  std::uint8_t& known = by_name_[trace_.name_id(slice).index()];
  if (known == kUnknown) {
    const std::string_view name = trace_.name(slice);
    // For every kind: Inductor's operators and kernels share their names.
    known = static_cast<std::uint8_t>(static_cast<std::size_t>(hue_of_kernel(name)) * kShades + shade_of(name));
  }
  const auto shade = static_cast<std::uint8_t>(known % kShades);
  return {kind == Kind::kernel ? static_cast<Hue>(known / kShades) : hue_of(kind, {}), shade};
}

}  // namespace gapscope
