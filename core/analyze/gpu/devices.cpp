// Dense peaks: half of what data sheets print for sparse matrices. Products of GeForce cards are those that sum in fp32.
// Products in int8 and in types of 4 bits have no column: they are not rated. Where documents print two figures the higher one
// is taken, so that nothing reads better than it is.
// Caches: of NVIDIA the white paper of the architecture; of AMD "AMD GPU specifications" in ROCm's documentation (L3, else L2).
// Not found in a document of the vendor: fp32 of B100 (twice its fp64, as of B200), and the L2 of B100 to GB300 (cudaDeviceProp
// of a B200 says 126.5 MiB).
#include "core/analyze/gpu/devices.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/base/text.h"
#include "core/trace/trace.h"

namespace gapscope {
namespace {

struct Device {
  std::string_view part;                     // of the device's name, without case; the more telling ones come first
  double fp64, fp32, tf32, fp16, bf16, fp8;  // 10^12 operations a second; 0 where the device lacks it
  double bandwidth;                          // 10^9 bytes a second
  double cache;                              // MiB of L2; of MI300 and later the Infinity Cache
};

constexpr auto kDevices = std::to_array<Device>({
    // NVIDIA GB300 NVL72 and HGX B300 specifications, by GPU: HGX's 10, 600, 18000, 36000, 72000 TFLOP/s of 8, sparse from tf32
    // on.
    {"GB300", 1.3, 80, 1250, 2500, 2500, 5000, 8000, 126.5},
    {"B300", 1.25, 75, 1125, 2250, 2250, 4500, 8000, 126.5},
    // NVIDIA Blackwell Architecture Technical Brief (GB200, HGX B200, HGX B100): 45, 40, 30 TFLOP/s in fp64. HGX B200's later
    // specification says 37, and 1125 in tf32 where the brief has 1100; GB200 NVL72's 40.
    {"GB200", 45, 80, 1250, 2500, 2500, 5000, 8000, 126.5},
    {"B200", 40, 80, 1125, 2250, 2250, 4500, 8000, 126.5},
    {"B100", 30, 60, 900, 1750, 1750, 3500, 8000, 126.5},
    // NVIDIA GH200 Grace Hopper Superchip data sheet: the compute of H100 SXM; 96 GB of HBM3 or 144 GB of HBM3e.
    {"GH200 144G", 67, 67, 494.5, 989.5, 989.5, 1979, 4900, 50},
    {"GH200", 67, 67, 494.5, 989.5, 989.5, 1979, 4000, 50},
    // NVIDIA H200 data sheet: the same compute as H100 SXM. fp64 on tensor cores.
    {"H200 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 4800, 50},
    {"H200", 67, 67, 494.5, 989.5, 989.5, 1979, 4800, 50},
    // NVIDIA H100 Tensor Core GPU Architecture white paper, table 2, PCIe and SXM5; H100 NVL from its data sheet.
    {"H100 PCIe", 51, 51, 378, 756, 756, 1513, 2039, 50},
    {"H100 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 3938, 50},
    {"H100", 67, 67, 494.5, 989.5, 989.5, 1979, 3352, 50},
    // NVIDIA A100 Tensor Core GPU data sheets, 40 and 80 GB. fp64 on tensor cores.
    {"A100 80GB PCIe", 19.5, 19.5, 156, 312, 312, 0, 1935, 40},
    {"A100-SXM4-80GB", 19.5, 19.5, 156, 312, 312, 0, 2039, 40},
    {"A100-SXM-80GB", 19.5, 19.5, 156, 312, 312, 0, 2039, 40},
    {"A100", 19.5, 19.5, 156, 312, 312, 0, 1555, 40},
    // NVIDIA A30, A40, A10 data sheets; the A10G of clouds is another chip, whose rates NVIDIA does not publish.
    {"NVIDIA A30", 10.3, 10.3, 82, 165, 165, 0, 933, 24},
    {"NVIDIA A40", 0, 37.4, 74.8, 149.7, 149.7, 0, 696, 6},
    {"A10G", 0, 0, 0, 0, 0, 0, 600, 6},
    {"NVIDIA A10", 0, 31.2, 62.5, 125, 125, 0, 600, 6},
    // NVIDIA L40S, L40 and L4 data sheets, sparse figures halved.
    {"L40S", 0, 91.6, 183, 362, 362, 733, 864, 96},
    {"NVIDIA L40", 0, 90.5, 90.5, 181, 181, 362, 864, 96},
    {"NVIDIA L4", 0, 30.3, 60, 121, 121, 242.5, 300, 48},
    // NVIDIA RTX Blackwell GPU Architecture white paper, appendix A.
    {"RTX 5090", 1.64, 104.8, 104.8, 209.5, 209.5, 419, 1792, 96},
    {"RTX 5080", 0.88, 56.3, 56.3, 112.6, 112.6, 225.1, 960, 64},
    {"RTX 5070 Ti", 0.69, 43.9, 43.9, 87.9, 87.9, 175.8, 896, 48},
    {"RTX 5070", 0.48, 30.9, 30.9, 61.7, 61.7, 123.5, 672, 48},
    // NVIDIA's comparison of GeForce cards: 4608 and 3840 cores at 2.57 and 2.5 GHz, in the proportions of RTX 5070.
    {"RTX 5060 Ti", 0.37, 23.7, 23.7, 47.4, 47.4, 94.7, 448, 32},
    {"RTX 5060", 0.3, 19.2, 19.2, 38.4, 38.4, 76.8, 448, 32},
    // NVIDIA Ada GPU Architecture white paper, appendix A; SUPER cards from NVIDIA's comparison of GeForce cards.
    {"RTX 4090", 1.29, 82.6, 82.6, 165.2, 165.2, 330.3, 1008, 72},
    {"RTX 4080 SUPER", 0.82, 52.2, 52.2, 104.4, 104.4, 208.8, 736, 64},
    {"RTX 4080", 0.76, 48.7, 48.7, 97.5, 97.5, 194.9, 716.8, 64},
    {"RTX 4070 Ti SUPER", 0.69, 44.1, 44.1, 88.2, 88.2, 176.4, 672, 48},
    {"RTX 4070 Ti", 0.63, 40.1, 40.1, 80.2, 80.2, 160.4, 504, 48},
    {"RTX 4070 SUPER", 0.55, 35.5, 35.5, 70.9, 70.9, 141.9, 504, 48},
    {"RTX 4070", 0.46, 29.1, 29.1, 58.3, 58.3, 116.6, 504, 36},
    {"RTX 4060 Ti", 0.34, 22.1, 22.1, 44.1, 44.1, 88.3, 288, 32},
    {"RTX 4060", 0.24, 15.1, 15.1, 30.2, 30.2, 60.4, 272, 24},
    // NVIDIA Ampere GA102 and GA104 white papers, appendix A.
    {"RTX 3090 Ti", 0.62, 40, 40, 80, 80, 0, 1008, 6},
    {"RTX 3090", 0.556, 35.6, 35.6, 71, 71, 0, 936, 6},
    {"RTX 3080 Ti", 0.53, 34.1, 34.1, 68.2, 68.2, 0, 912, 6},
    {"RTX 3080", 0.47, 29.8, 29.8, 59.5, 59.5, 0, 760, 5},
    {"RTX 3070 Ti", 0.34, 21.7, 21.7, 43.5, 43.5, 0, 608, 4},
    {"RTX 3070", 0.32, 20.3, 20.3, 40.6, 40.6, 0, 448, 4},
    {"RTX 3060 Ti", 0.25, 16.2, 16.2, 32.4, 32.4, 0, 448, 4},
    {"RTX 3060", 0.2, 12.7, 12.7, 25.5, 25.5, 0, 360, 3},
    // NVIDIA Turing GPU Architecture white paper, appendices A and B, Founders Editions; SUPER cards: the comparison's cores
    // and
    // clocks.
    {"RTX 2080 Ti", 0.44, 14.2, 0, 56.9, 0, 0, 616, 5.5},
    {"RTX 2080 SUPER", 0.35, 11.2, 0, 44.6, 0, 0, 496, 4},
    {"RTX 2080", 0.33, 10.6, 0, 42.4, 0, 0, 448, 4},
    {"RTX 2070 SUPER", 0.28, 9.1, 0, 36.2, 0, 0, 448, 4},
    {"RTX 2070", 0.25, 7.9, 0, 31.5, 0, 0, 448, 4},
    {"RTX 2060 SUPER", 0.22, 7.2, 0, 28.7, 0, 0, 448, 4},
    {"RTX 2060", 0.2, 6.5, 0, 25.8, 0, 0, 336, 3},
    // NVIDIA V100 data sheet, SXM2 and PCIe; DGX Station data sheet (500 TFLOP/s of four); V100S data sheet.
    {"V100S-PCIE", 8.2, 16.4, 0, 130, 0, 0, 1134, 6},
    {"V100-PCIE", 7, 14, 0, 112, 0, 0, 900, 6},
    {"V100-SXM2", 7.8, 15.7, 0, 125, 0, 0, 900, 6},
    {"V100-DGXS", 7.8, 15.7, 0, 125, 0, 0, 900, 6},
    // NVIDIA T4 data sheet.
    {"Tesla T4", 0, 8.1, 0, 65, 0, 0, 320, 4},
    // "Introducing AMD CDNA 4 Architecture" white paper, tables 1 and 2: 128, 256, 4096, 8192 operations a clock of 256 compute
    // units
    // at 2.4 and 2.2 GHz; tf32 is emulated.
    {"MI355X", 78.6, 157.3, 0, 2516.6, 2516.6, 5033.2, 8000, 256},
    {"MI350X", 72.1, 144.2, 0, 2306.9, 2306.9, 4613.7, 8000, 256},
    // "Introducing AMD CDNA 3 Architecture" white paper and data sheets, matrix figures. Of MI308X AMD states the memory alone.
    {"MI325X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 6000, 256},
    {"MI308X", 0, 0, 0, 0, 0, 0, 5300, 256},
    {"MI300X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 5325, 256},
    {"MI300A", 122.6, 122.6, 490.3, 980.6, 980.6, 1961.2, 5300, 256},
    // "Introducing AMD CDNA 2 Architecture" white paper and data sheets, matrix figures; HIP shows each half of an MI250 as a
    // device.
    {"MI250X", 47.9, 47.9, 0, 191.5, 191.5, 0, 1638, 8},
    {"MI250", 45.3, 45.3, 0, 181, 181, 0, 1638, 8},
    {"MI210", 45.3, 45.3, 0, 181, 181, 0, 1638, 8},
});

// GeForce names hold nothing more, or it is another chip (Laptop GPU, D); others continue with memory and form after the word's
// end
// ("NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-16GB"). A part of a GPU (MIG) has a part of its peaks.
bool is_named(std::string_view name, std::string_view part) {
  if (contains_ignore_case(name, " MIG ")) return false;
  const auto ends_here = [&](std::size_t end) {
    return end == name.size() || (!part.starts_with("RTX") && std::isalnum(static_cast<unsigned char>(name[end])) == 0);
  };
  for (std::size_t at = 0; at + part.size() <= name.size(); ++at)
    if (contains_ignore_case(name.substr(at, part.size()), part) && ends_here(at + part.size())) return true;
  return false;
}

// Asked three times for each row of calls, nearly always of the same GPU: without what was found last, looking it up was a
// sixth of the time from a loaded file to its findings (35 MB of ResNet-50, 2 cores).
const Device* device_named(std::string_view name) {
  // Nothing that a thread's end has to destroy: the C library ends the program where it lacks the memory to note that.
  thread_local std::array<char, 64> last{};
  thread_local std::size_t size = 0;
  thread_local const Device* found = nullptr;  // as of the empty name
  if (name == std::string_view(last.data(), size)) return found;
  const auto* at = std::find_if(kDevices.begin(), kDevices.end(), [&](const Device& d) { return is_named(name, d.part); });
  const Device* const device = at == kDevices.end() ? nullptr : at;
  if (name.size() > last.size()) return device;
  std::copy(name.begin(), name.end(), last.begin());
  size = name.size();
  return found = device;
}

double figure_of(const Device& d, MathType type) {
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

// AMD's parts by architecture, compute units and memory, as far as these show (AMD Instinct data sheets).
struct Figures {
  std::int64_t major, minor, sms;
  std::int64_t least_bytes, most_bytes;
  std::string_view name;
};
constexpr std::int64_t kGb = 1'000'000'000;
constexpr auto kFigures = std::to_array<Figures>({
    {9, 4, 304, 190 * kGb, 215 * kGb, "AMD Instinct MI300X"},
    {9, 4, 304, 250 * kGb, 290 * kGb, "AMD Instinct MI325X"},
    {9, 4, 228, 100 * kGb, 140 * kGb, "AMD Instinct MI300A"},
    {9, 0, 110, 60 * kGb, 70 * kGb, "AMD Instinct MI250X"},
    {9, 0, 104, 60 * kGb, 70 * kGb, "AMD Instinct MI210"},
});

std::string_view name_of(const DeviceProperties& device) {
  if (!device.name.empty()) return device.name;
  const auto* at = std::find_if(kFigures.begin(), kFigures.end(), [&](const Figures& f) {
    return f.major == device.compute_major && f.minor == device.compute_minor && f.sms == device.sms &&
           device.total_global_mem >= f.least_bytes && device.total_global_mem <= f.most_bytes;
  });
  return at == kFigures.end() ? std::string_view{} : at->name;
}

constexpr std::array<std::string_view, 6> kNames = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8"};

}  // namespace

std::string_view math_type_name(MathType type) { return kNames[static_cast<std::size_t>(type)]; }

std::optional<MathType> math_type_named(std::string_view name) {
  const auto* at = std::find(kNames.begin(), kNames.end(), name);
  return at == kNames.end() ? std::nullopt : std::optional(static_cast<MathType>(at - kNames.begin()));
}

bool read_peak(std::string_view text, StatedRoofs& roofs) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const bool is_bandwidth = text.substr(0, equals) == "bandwidth";
  const auto type = math_type_named(text.substr(0, equals));
  const std::string_view number = text.substr(equals + 1);
  double peak = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), peak);
  if ((!type && !is_bandwidth) || error != std::errc() || end != number.data() + number.size() || !(peak > 0) || peak > 1e21)
    return false;
  if (is_bandwidth)
    roofs.bandwidth = peak;
  else
    roofs.peaks.emplace_back(*type, peak);
  return true;
}

std::optional<double> dense_peak(const StatedRoofs& stated, std::string_view device_name, MathType type) {
  const auto& peaks = stated.peaks;
  const auto at = std::find_if(peaks.rbegin(), peaks.rend(), [&](const auto& p) { return p.first == type; });
  if (at != peaks.rend()) return at->second;
  const Device* device = device_named(device_name);
  const double peak = device ? figure_of(*device, type) : 0;
  return peak > 0 ? std::optional(peak * 1e12) : std::nullopt;
}

std::optional<double> memory_bandwidth(const StatedRoofs& stated, std::string_view device_name) {
  if (stated.bandwidth) return stated.bandwidth;
  const Device* device = device_named(device_name);
  return device ? std::optional(device->bandwidth * 1e9) : std::nullopt;
}

double last_cache_bytes(std::string_view device_name) {
  const Device* device = device_named(device_name);
  return device ? device->cache * 1024 * 1024 : 0;
}

std::string_view gpu_name(const Trace& trace, std::int32_t device) {
  if (const DeviceProperties* own = trace.device(device)) return name_of(*own);
  const auto& all = trace.header.devices;
  if (all.empty()) return {};
  const auto alike = [&](const DeviceProperties& other) { return name_of(other) == name_of(all.front()); };
  return std::all_of(all.begin(), all.end(), alike) ? name_of(all.front()) : std::string_view{};
}

bool is_known_device(std::string_view device_name) { return device_named(device_name) != nullptr; }

}  // namespace gapscope
