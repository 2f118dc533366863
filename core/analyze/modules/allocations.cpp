#include "core/analyze/modules/allocations.h"

#include <map>
#include <unordered_map>

namespace gapscope {
namespace {

constexpr std::int8_t kCpu = 0;  // c10::DeviceType

struct Life {
  std::size_t born = 0, ended = ~std::size_t{0};  // positions in Trace::memory
};

struct Device {
  std::int64_t most = -1;
  std::size_t peak = 0;                                  // position in Trace::memory
  std::unordered_map<std::uint64_t, std::size_t> alive;  // by address: position in the allocations
  std::vector<std::size_t> allocations;                  // of this device
};

}  // namespace

Allocations gpu_allocations(const Trace& trace) {
  Allocations out;
  std::vector<Life> lives;
  std::map<std::pair<std::int8_t, std::int16_t>, Device> devices;
  out.knows_peak = true;
  for (std::size_t i = 0; i < trace.memory.size(); ++i) {
    const MemoryRow& row = trace.memory[i];
    if (row.device_type == kCpu || row.out_of_memory || row.bytes == 0) continue;
    out.knows_peak = out.knows_peak && row.address != 0 && row.total_allocated >= 0;
    Device& device = devices[{row.device_type, row.device}];
    if (const auto alive = device.alive.find(row.address); alive != device.alive.end()) {
      lives[alive->second].ended = i;
      device.alive.erase(alive);
    }
    if (row.total_allocated > device.most) device.most = row.total_allocated, device.peak = i;
    if (row.bytes < 0) continue;
    device.alive.emplace(row.address, out.all.size());
    device.allocations.push_back(out.all.size());
    out.all.push_back({{row.lane, row.time}, row.bytes, 0});
    lives.push_back({i});
  }
  out.knows_peak = out.knows_peak && !out.all.empty();
  for (const auto& [key, device] : devices)
    for (const std::size_t a : device.allocations)
      if (out.knows_peak && lives[a].born <= device.peak && device.peak < lives[a].ended)
        out.all[a].bytes_at_peak = out.all[a].bytes;
  return out;
}

}  // namespace gapscope
