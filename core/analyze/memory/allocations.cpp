#include "core/analyze/memory/allocations.h"

#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace gapscope {

std::vector<Allocation> allocations(const Trace& trace, const std::atomic<bool>* cancel) {
  constexpr std::uint32_t kCheckEvery = 1u << 16;
  using InUse = std::unordered_map<std::uint64_t, std::size_t>;  // by address: position in `out`
  std::map<std::pair<std::int8_t, std::int16_t>, InUse> devices;
  std::vector<Allocation> out;
  for (std::uint32_t i = 0; i < trace.memory.size(); ++i) {
    if (i % kCheckEvery == 0 && cancel && *cancel) break;
    const MemoryRow& row = trace.memory[i];
    if (row.out_of_memory || row.bytes == 0) continue;
    InUse& in_use = devices[{row.device_type, row.device}];
    const auto known = in_use.find(row.address);
    if (known != in_use.end()) {
      out[known->second].ended = i;
      in_use.erase(known);
    } else if (row.bytes < 0 && row.bytes != std::numeric_limits<std::int64_t>::min()) {
      out.push_back({kNoRecord, i, -row.bytes});
    }
    if (row.bytes < 0) continue;
    in_use.emplace(row.address, out.size());
    out.push_back({i, kNoRecord, row.bytes});
  }
  return out;
}

}  // namespace gapscope
