#include "core/analyze/memory.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gapscope {
namespace {

constexpr std::int16_t kCpu = 0, kCuda = 1, kHip = 6, kXpu = 12, kMps = 13;  // c10::DeviceType

using DeviceKey = std::pair<std::int16_t, std::int16_t>;

void add_record(MemoryDevice& device, const MemoryRow& row) {
  if (row.out_of_memory) {
    ++device.out_of_memory;
    return;
  }
  ++(row.bytes >= 0 ? device.allocations : device.frees);
  MemoryPoint point;
  point.time = row.time;
  if (row.total_allocated >= 0) {
    device.states_totals = true;
    point.allocated = row.total_allocated;
  } else {
    // Wraps instead of overflowing on figures from damaged files.
    const std::int64_t before = device.points.empty() ? 0 : device.points.back().allocated;
    point.allocated = static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(row.bytes));
  }
  point.reserved = row.total_reserved;
  if (device.points.empty() || point.allocated > device.points[device.peak].allocated) {
    device.peak = device.points.size();
    device.peak_lane = row.lane;
  }
  if (row.device_type != kCpu) device.peak_reserved = std::max(device.peak_reserved, row.total_reserved);
  device.points.push_back(point);
}

std::vector<SliceId> stack_at(const LaneIndex& lanes, LaneId lane, Ns time) {
  const SliceId inner = lane ? lanes.innermost_at(lane, time) : SliceId{};
  if (!inner) return {};
  std::vector<SliceId> stack = lanes.ancestors(inner);
  stack.push_back(inner);
  return stack;
}

}  // namespace

std::string memory_device_name(std::int16_t device_type, std::int16_t device) {
  switch (device_type) {
    case kCpu: return "CPU";
    case kCuda: case kHip: case kXpu: return "GPU " + std::to_string(device);
    case kMps: return "MPS " + std::to_string(device);
    default: return "device type " + std::to_string(device_type) + " number " + std::to_string(device);
  }
}

MemoryUse memory_use(const Trace& trace, const LaneIndex& lanes) {
  std::map<DeviceKey, MemoryDevice> devices;
  std::map<std::tuple<StringId, std::int16_t, std::int16_t>, MemoryOperator> operators;
  for (const MemoryRow& row : trace.memory) {
    MemoryDevice& device = devices[{row.device_type, row.device}];
    device.device_type = row.device_type;
    device.device = row.device;
    add_record(device, row);
    if (row.out_of_memory) continue;
    const SliceId op = row.lane ? lanes.innermost_op_at(row.lane, row.time) : SliceId{};
    const StringId name = op ? trace.name_id(op) : StringId{};
    MemoryOperator& entry = operators[{name, row.device_type, row.device}];
    entry.name = name;
    entry.device_type = row.device_type;
    entry.device = row.device;
    ++(row.bytes >= 0 ? entry.allocations : entry.frees);
    (row.bytes >= 0 ? entry.allocated : entry.freed) += row.bytes >= 0 ? row.bytes : -row.bytes;
  }
  MemoryUse use;
  for (auto& [key, device] : devices) {
    if (!device.points.empty()) device.peak_stack = stack_at(lanes, device.peak_lane, device.points[device.peak].time);
    use.devices.push_back(std::move(device));
  }
  std::stable_sort(use.devices.begin(), use.devices.end(), [](const MemoryDevice& a, const MemoryDevice& b) { return (a.device_type == kCpu) < (b.device_type == kCpu); });
  for (const auto& [key, entry] : operators) use.operators.push_back(entry);
  std::stable_sort(use.operators.begin(), use.operators.end(), [](const MemoryOperator& a, const MemoryOperator& b) { return a.allocated > b.allocated; });
  return use;
}

}  // namespace gapscope
