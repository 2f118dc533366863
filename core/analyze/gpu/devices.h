#pragma once
// What GPUs can do at best, by the names that CUDA and HIP give them: dense peaks by math type, memory bandwidth, and how much
// the last cache before memory holds. The figures of the vendors' documents; which, stands in the table.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analyze/operators/flops.h"

namespace gapscope {

std::optional<MathType> math_type_named(std::string_view name);

// What is known better than the table, or of devices that it lacks: by flags or the settings.
struct RoofOptions {
  std::vector<std::pair<MathType, double>> peaks;  // operations a second
  std::optional<double> bandwidth;                 // bytes a second
  friend bool operator==(const RoofOptions&, const RoofOptions&) = default;
};
// "bf16=989e12", "bandwidth=4.8e12": adds it. False where it is neither.
bool read_peak(std::string_view text, RoofOptions& options);

// For the whole program, all devices, from then on: dense_peak() of flops.h and memory_bandwidth() prefer it to the table. Any
// thread.
void state_roofs(RoofOptions options);

// Bytes a second to and from the device's memory.
std::optional<double> memory_bandwidth(std::string_view device_name);
// Bytes; 0 where not known.
double last_cache_bytes(std::string_view device_name);
// The table has it.
bool is_known_device(std::string_view device_name);

// What to ask for the GPU of this number: its name; where ROCm counts the processors as devices, too, the name that all GPUs of
// the file share; and where ROCm names none, the part that its figures are those of. Empty where nothing tells.
std::string_view gpu_name(const Trace& trace, std::int32_t device);

}  // namespace gapscope
