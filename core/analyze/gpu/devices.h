#pragma once
// What GPUs can do at best, by the names that CUDA and HIP give them: dense peaks by math type, memory bandwidth, and how much
// the last cache before memory holds. The figures of the vendors' documents; which, is in the table.
#include <optional>
#include <string_view>

#include "core/analyze/operators/flops.h"

namespace gapscope {

std::optional<MathType> math_type_named(std::string_view name);

// "bf16=989e12", "bandwidth=4.8e12": adds it. False where it is neither.
bool read_peak(std::string_view text, StatedRoofs& roofs);

// Bytes a second to and from the device's memory: what is stated, else of the table.
std::optional<double> memory_bandwidth(const StatedRoofs& stated, std::string_view device_name);
// Bytes; 0 where not known.
double last_cache_bytes(std::string_view device_name);
// The table has it.
bool is_known_device(std::string_view device_name);

// What to ask for the GPU of this number: its name; where ROCm counts the processors as devices, too, the name that all GPUs of
// the file share; and where ROCm names none, the part that its figures are those of. Empty where nothing shows.
std::string_view gpu_name(const Trace& trace, std::int32_t device);

}  // namespace gapscope
