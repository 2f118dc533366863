#include "core/load/device_properties.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include <simdjson.h>

namespace gapscope {
namespace {

struct Field {
  std::string_view key;
  std::int64_t DeviceProperties::*member;
};
constexpr std::array<Field, 13> kFields = {{
    {"id", &DeviceProperties::id},
    {"totalGlobalMem", &DeviceProperties::total_global_mem},
    {"computeMajor", &DeviceProperties::compute_major},
    {"computeMinor", &DeviceProperties::compute_minor},
    {"maxThreadsPerBlock", &DeviceProperties::max_threads_per_block},
    {"maxThreadsPerMultiprocessor", &DeviceProperties::max_threads_per_sm},
    {"regsPerBlock", &DeviceProperties::regs_per_block},
    {"regsPerMultiprocessor", &DeviceProperties::regs_per_sm},
    {"warpSize", &DeviceProperties::warp_size},
    {"sharedMemPerBlock", &DeviceProperties::shared_mem_per_block},
    {"sharedMemPerBlockOptin", &DeviceProperties::shared_mem_per_block_optin},
    {"numSms", &DeviceProperties::sms},
    {"sharedMemPerMultiprocessor", &DeviceProperties::shared_mem_per_sm},
}};

}  // namespace

std::vector<DeviceProperties> parse_device_properties(std::string_view json) {
  std::vector<DeviceProperties> devices;
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  const simdjson::error_code error = parser.parse(json.data(), json.size()).get(array);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error != simdjson::SUCCESS) return devices;
  for (const simdjson::dom::element element : array) {
    simdjson::dom::object object;
    if (element.get(object)) continue;
    DeviceProperties& device = devices.emplace_back();
    std::string_view name;
    if (!object["name"].get(name)) device.name = name;
    for (const Field& field : kFields) {
      std::int64_t number = 0;
      if (!object[field.key].get(number)) device.*field.member = number;
    }
    // ROCm's spelling.
    std::int64_t number = 0;
    if (device.shared_mem_per_sm == 0 && !object["maxSharedMemoryPerMultiProcessor"].get(number))
      device.shared_mem_per_sm = number;
  }
  std::ranges::stable_sort(devices, {}, &DeviceProperties::id);
  return devices;
}

}  // namespace gapscope
