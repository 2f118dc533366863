#include "core/analyze/memory.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gapscope {
namespace {

constexpr std::int16_t kCpu = 0, kCuda = 1, kHip = 6, kXpu = 12, kMps = 13;  // c10::DeviceType

using DeviceKey = std::pair<std::int16_t, std::int16_t>;

void add_record(MemoryDevice& device, const Trace& trace, std::uint32_t record) {
  const MemoryRow& row = trace.memory[record];
  if (row.out_of_memory) {
    ++device.out_of_memory;
    return;
  }
  ++(row.bytes >= 0 ? device.allocations : device.frees);
  device.states_totals |= row.total_allocated >= 0;
  device.points.add(record);
  if (device.points.size() == 1 || device.points.back().allocated > device.points[device.peak].allocated) {
    device.peak = device.points.size() - 1;
    device.peak_lane = row.lane;
  }
  if (row.device_type != kCpu) device.peak_reserved = std::max(device.peak_reserved, row.total_reserved);
}

// The innermost operator around moments that come in time order: a place in each row of a lane moves along with them,
// instead of a search in every row for every record.
class OperatorsAlong {
 public:
  explicit OperatorsAlong(const Trace& trace) : t_(trace), next_(trace.rows.size()) {
    for (std::size_t r = 0; r < next_.size(); ++r) next_[r] = trace.rows[r].first;
  }

  SliceId innermost(LaneId lane, Ns t) {
    for (std::uint32_t depth = t_.lane(lane).depth_count; depth-- > 0;) {
      const RowId id = t_.row_id(lane, depth);
      const Row& row = t_.row(id);
      std::uint32_t& next = next_[id.index()];
      while (next < row.first + row.count && t_.slices.begin[next] <= t) ++next;
      if (next == row.first) continue;
      const SliceId s(next - 1);
      const bool covers = t < t_.end(s) || t == t_.begin(s);  // as LaneIndex::at sees it
      if (covers && (t_.kind(s) == Kind::op || t_.kind(s) == Kind::annotation)) return s;
    }
    return {};
  }

 private:
  const Trace& t_;
  std::vector<std::uint32_t> next_;  // by row: the first slice that begins later
};

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

void MemoryCurve::add(std::uint32_t record) {
  const MemoryRow& row = trace_->memory[record];
  if (sums_.empty() && row.total_allocated < 0)
    for (std::size_t i = 0; i < records_.size(); ++i) sums_.push_back((*this)[i].allocated);
  if (row.total_allocated < 0 || !sums_.empty()) {
    // Wraps instead of overflowing on figures from damaged files.
    const auto before = static_cast<std::uint64_t>(sums_.empty() ? 0 : sums_.back());
    const auto sum = static_cast<std::int64_t>(before + static_cast<std::uint64_t>(row.bytes));
    sums_.push_back(row.total_allocated >= 0 ? row.total_allocated : sum);
  }
  records_.push_back(record);
}

MemoryPoint MemoryCurve::operator[](std::size_t i) const {
  const MemoryRow& row = trace_->memory[records_[i]];
  return {row.time, i < sums_.size() ? sums_[i] : row.total_allocated, row.total_reserved};
}

std::optional<std::size_t> MemoryCurve::at(Ns t) const {
  const auto later = [this](Ns time, std::uint32_t record) { return time < trace_->memory[record].time; };
  const auto after = std::upper_bound(records_.begin(), records_.end(), t, later);
  if (after == records_.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - records_.begin()) - 1;
}

MemoryUse memory_use(const Trace& trace, const LaneIndex& lanes) {
  std::map<DeviceKey, MemoryDevice> devices;
  std::map<std::tuple<StringId, std::int16_t, std::int16_t>, MemoryOperator> operators;
  OperatorsAlong along(trace);
  for (std::uint32_t i = 0; i < trace.memory.size(); ++i) {
    const MemoryRow& row = trace.memory[i];
    MemoryDevice& device = devices.try_emplace({row.device_type, row.device}, MemoryDevice(trace)).first->second;
    device.device_type = row.device_type;
    device.device = row.device;
    add_record(device, trace, i);
    if (row.out_of_memory) continue;
    const SliceId op = row.lane ? along.innermost(row.lane, row.time) : SliceId{};
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
