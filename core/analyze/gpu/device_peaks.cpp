// Dense peaks by device: half of what data sheets print for sparse matrices.
#include <array>

#include "core/analyze/operators/flops.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

struct DevicePeak {
  std::string_view part;                     // of the device's name, without case; the more telling ones come first
  double fp64, fp32, tf32, fp16, bf16, fp8;  // 10^12 operations a second; 0 where the device lacks it
};

constexpr auto kPeaks = std::to_array<DevicePeak>({
    // NVIDIA HGX B200 data sheet, per GPU, dense. fp64 and fp32 on the ordinary cores.
    {"B200", 37, 75, 1100, 2250, 2250, 4500},
    // NVIDIA H200 data sheet: the same compute as H100 SXM. fp64 on tensor cores.
    {"H200 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5},
    {"H200", 67, 67, 494.5, 989.5, 989.5, 1979},
    // NVIDIA H100 Tensor Core GPU Architecture white paper, table 2, PCIe and SXM5; H100 NVL from its data sheet.
    {"H100 PCIe", 51, 51, 378, 756, 756, 1513},
    {"H100 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5},
    {"H100", 67, 67, 494.5, 989.5, 989.5, 1979},
    // NVIDIA A100 Tensor Core GPU data sheet. fp64 on tensor cores.
    {"A100", 19.5, 19.5, 156, 312, 312, 0},
    // NVIDIA L40S data sheet.
    {"L40S", 0, 91.6, 183, 362, 362, 733},
    // NVIDIA L4 data sheet, sparse figures halved.
    {"NVIDIA L4", 0, 30.3, 60, 121, 121, 242.5},
    // NVIDIA A10 data sheet; the A10G of clouds is another chip and not listed.
    {"A10G", 0, 0, 0, 0, 0, 0},
    {"NVIDIA A10", 0, 31.2, 62.5, 125, 125, 0},
    // NVIDIA Ada GPU Architecture white paper, appendix A: RTX 4090, products summed in fp32.
    {"RTX 4090", 1.29, 82.6, 82.6, 165.2, 165.2, 330.3},
    // NVIDIA Ampere GA102 white paper: RTX 3090, products summed in fp32.
    {"RTX 3090 Ti", 0, 0, 0, 0, 0, 0},
    {"RTX 3090", 0.556, 35.6, 35.6, 71, 71, 0},
    // NVIDIA V100 data sheet, SXM2 and PCIe.
    {"V100-PCIE", 7, 14, 0, 112, 0, 0},
    {"V100-SXM2", 7.8, 15.7, 0, 125, 0, 0},
    // NVIDIA T4 data sheet.
    {"Tesla T4", 0, 8.1, 0, 65, 0, 0},
    // AMD Instinct MI300X data sheet, matrix figures.
    {"MI300X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9},
    // AMD Instinct MI210 data sheet, matrix figures.
    {"MI210", 45.3, 45.3, 0, 181, 181, 0},
});

double peak_of(const DevicePeak& d, MathType type) {
  switch (type) {
    case MathType::fp64: return d.fp64;
    case MathType::fp32: return d.fp32;
    case MathType::tf32: return d.tf32;
    case MathType::fp16: return d.fp16;
    case MathType::bf16: return d.bf16;
    case MathType::fp8: return d.fp8;
  }
  return 0;
}

}  // namespace

std::string_view math_type_name(MathType type) {
  constexpr std::array<std::string_view, 6> kNames = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8"};
  return kNames[static_cast<std::size_t>(type)];
}

std::optional<double> dense_peak(std::string_view device_name, MathType type) {
  for (const DevicePeak& device : kPeaks) {
    if (!contains_ignore_case(device_name, device.part)) continue;
    const double peak = peak_of(device, type);
    return peak > 0 ? std::optional(peak * 1e12) : std::nullopt;
  }
  return {};
}

}  // namespace gapscope
