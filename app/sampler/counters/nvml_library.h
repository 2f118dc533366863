#pragma once
// NVML, found when it is asked for: power, clocks, temperature, and why clocks are held back.
#include <optional>
#include <string>

#include "app/sampler/counters/readings.h"

namespace gapscope::sampler {

class NvmlLibrary {
 public:
  using Handle = void*;
  NvmlLibrary() = default;
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // Empty, or a sentence.
  std::string load();
  // Null where NVML does not know it. `pci_bus_id`: as CUDA writes it, "0000:3B:00.0".
  Handle find(const std::string& pci_bus_id) const;
  bool is_divided(Handle gpu) const;  // MIG
  // Without its device and time.
  HealthReading read(Handle gpu) const;

 private:
  // NVML's field values: an id and a scope asked, a number of a type given. As in its header since version 4.
  struct Field {
    unsigned id = 0, scope = 0;
    long long timestamp = 0, latency = 0;
    unsigned type = 0;
    int result = 0;
    union {
      double as_double;
      unsigned as_unsigned;
      unsigned long long as_long;
    } value{};
  };
  std::optional<double> instant_watts(Handle gpu) const;

  bool begun_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*by_bus_id_)(const char*, Handle*) = nullptr;
  int (*power_)(Handle, unsigned*) = nullptr;               // mW
  int (*clock_)(Handle, int, unsigned*) = nullptr;          // MHz
  int (*temperature_)(Handle, int, unsigned*) = nullptr;    // C
  int (*throttle_)(Handle, unsigned long long*) = nullptr;  // bits
  int (*mig_)(Handle, unsigned*, unsigned*) = nullptr;      // now, after a reset
  int (*fields_)(Handle, int, Field*) = nullptr;
};

}  // namespace gapscope::sampler
