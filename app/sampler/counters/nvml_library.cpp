#include "app/sampler/counters/nvml_library.h"

#include <dlfcn.h>

#include "app/sampler/find_function.h"

namespace gapscope::sampler {
namespace {

// nvml.h's numbers.
constexpr int kSuccess = 0;
constexpr int kClockSm = 1, kClockMemory = 2, kSensorGpu = 0;
constexpr unsigned kFieldPowerInstant = 186, kTypeUnsigned = 1;
constexpr unsigned long long kPowerCap = 0x4, kHardwareSlowdown = 0x8, kThermalSoftware = 0x20, kThermalHardware = 0x40,
                             kPowerBrake = 0x80;

}  // namespace

std::string NvmlLibrary::load() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (!library) return "NVML (libnvidia-ml.so.1) was not found: power, clocks and temperature are not recorded.";
  find_function(library, "nvmlInit_v2", init_);
  find_function(library, "nvmlShutdown", shutdown_);
  find_function(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus_id_);
  find_function(library, "nvmlDeviceGetPowerUsage", power_);
  find_function(library, "nvmlDeviceGetClockInfo", clock_);
  find_function(library, "nvmlDeviceGetTemperature", temperature_);
  find_function(library, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_);
  find_function(library, "nvmlDeviceGetMigMode", mig_);
  find_function(library, "nvmlDeviceGetFieldValues", fields_);
  begun_ = init_ && shutdown_ && by_bus_id_ && init_() == kSuccess;
  return begun_ ? std::string() : "NVML does not start: power, clocks and temperature are not recorded.";
}

NvmlLibrary::~NvmlLibrary() {
  if (begun_) shutdown_();
}

NvmlLibrary::Handle NvmlLibrary::find(const std::string& pci_bus_id) const {
  Handle gpu = nullptr;
  return begun_ && by_bus_id_(pci_bus_id.c_str(), &gpu) == kSuccess ? gpu : nullptr;
}

bool NvmlLibrary::is_divided(Handle gpu) const {
  unsigned now = 0, later = 0;
  return gpu && mig_ && mig_(gpu, &now, &later) == kSuccess && now != 0;
}

// Of this moment; nvmlDeviceGetPowerUsage is a mean over the last second on newer GPUs.
std::optional<double> NvmlLibrary::instant_watts(Handle gpu) const {
  if (!fields_) return std::nullopt;
  Field field;
  field.id = kFieldPowerInstant;
  if (fields_(gpu, 1, &field) != kSuccess || field.result != kSuccess || field.type != kTypeUnsigned) return std::nullopt;
  return field.value.as_unsigned / 1000.0;
}

HealthReading NvmlLibrary::read(Handle gpu) const {
  HealthReading reading;
  unsigned value = 0;
  if (const auto watts = instant_watts(gpu))
    reading.watts = *watts;
  else if (power_ && power_(gpu, &value) == kSuccess)
    reading.watts = value / 1000.0;
  if (clock_ && clock_(gpu, kClockSm, &value) == kSuccess) reading.sm_mhz = value;
  if (clock_ && clock_(gpu, kClockMemory, &value) == kSuccess) reading.memory_mhz = value;
  if (temperature_ && temperature_(gpu, kSensorGpu, &value) == kSuccess) reading.celsius = value;
  unsigned long long reasons = 0;
  reading.knows_throttling = throttle_ && throttle_(gpu, &reasons) == kSuccess;
  reading.throttled_by_power = (reasons & (kPowerCap | kPowerBrake)) != 0;
  reading.throttled_by_heat = (reasons & (kThermalSoftware | kThermalHardware)) != 0 ||
                              (reasons & (kHardwareSlowdown | kPowerBrake)) == kHardwareSlowdown;
  return reading;
}

}  // namespace gapscope::sampler
