#include "core/analyze/memory/memory.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr std::int16_t kCpu = 0, kCuda = 1, kHip = 6, kXpu = 12, kMps = 13;  // c10::DeviceType

using DeviceKey = std::pair<std::int16_t, std::int16_t>;

// Of a record before the time that is asked for only what it leaves behind counts.
enum class Counts : std::uint8_t { leaves_behind, at_begin, all };

void add_record(MemoryDevice& device, const Trace& trace, std::uint32_t record, Counts counts) {
  const bool before = counts == Counts::leaves_behind, first = counts != Counts::all;
  const MemoryRow& row = trace.memory[record];
  if (row.out_of_memory) {
    device.out_of_memory += before ? 0 : 1;
    return;
  }
  if (!before) ++(row.bytes >= 0 ? device.allocations : device.frees);
  device.states_totals |= row.total_allocated >= 0;
  device.points.add(record);
  if (first || device.points.size() == 1 || device.points.back().allocated > device.points[device.peak].allocated) {
    device.peak = device.points.size() - 1;
    device.peak_lane = row.lane;
  }
  if (row.device_type == kCpu) return;
  device.peak_reserved = first ? row.total_reserved : std::max(device.peak_reserved, row.total_reserved);
}

// The innermost operator around moments that come in time order: a place in each row of a lane moves along with them,
// instead of a search in every row for every record.
class OperatorsAlong {
 public:
  OperatorsAlong(const Trace& trace, const LaneIndex& lanes) : t_(trace), lanes_(lanes) {
    places_.reserve(trace.rows.size());
    for (const Row& row : trace.rows) places_.push_back(place_at(row, row.first));
  }

  SliceId innermost(LaneId lane, Ns t) {
    if (lanes_.is_deep(lane)) return lanes_.innermost_op_at(lane, t);
    const Lane& l = t_.lane(lane);
    for (std::uint32_t r = l.first_row + l.depth_count; r-- > l.first_row;) {
      Place& place = places_[r];
      if (place.next_begin <= t) move_to(r, t);
      const bool covers = t < place.end || t == place.begin;  // as LaneIndex::at sees it
      if (covers && place.is_operator) return SliceId(place.next - 1);
    }
    return {};
  }

 private:
  // What of a row matters at a moment: the last slice that has begun and the begin of the next.
  struct Place {
    Ns begin, end, next_begin;
    std::uint32_t next;
    bool is_operator;  // the last that has begun is one
  };
  Place place_at(const Row& row, std::uint32_t next) const {
    const std::size_t soon = next;  // the last to have begun when it moves again
    __builtin_prefetch(t_.slices.end.data() + soon);
    __builtin_prefetch(t_.slices.category.data() + soon);
    __builtin_prefetch(t_.slices.name.data() + soon);
    constexpr Ns kNever = std::numeric_limits<Ns>::max();
    Place place{kNever, std::numeric_limits<Ns>::min(), kNever, next, false};
    if (next < row.first + row.count) place.next_begin = t_.slices.begin[next];
    if (next == row.first) return place;
    const SliceId last(next - 1);
    place.begin = t_.begin(last);
    place.end = t_.end(last);
    place.is_operator = t_.kind(last) == Kind::op || t_.kind(last) == Kind::annotation;
    return place;
  }
  void move_to(std::uint32_t r, Ns t) {
    const Row& row = t_.rows[r];
    std::uint32_t next = places_[r].next;
    while (next < row.first + row.count && t_.slices.begin[next] <= t) ++next;
    places_[r] = place_at(row, next);
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  std::vector<Place> places_;  // by row
};

// Sums by operator and device. Most records have the operator, and many the device, of one that came shortly before.
class OperatorSums {
 public:
  MemoryOperator& of(StringId name, const MemoryRow& row) {
    const Key key{name, row.device_type, row.device};
    Recent& recent = recent_[(name.value * 4 + static_cast<std::uint16_t>(row.device_type)) % recent_.size()];
    if (!recent.sums || recent.key != key) {
      recent = {key, &sums_[key]};
      recent.sums->name = name;
      recent.sums->device_type = row.device_type;
      recent.sums->device = row.device;
    }
    return *recent.sums;
  }
  // Most bytes asked for first.
  std::vector<MemoryOperator> take() const {
    std::vector<MemoryOperator> all;
    for (const auto& [key, sums] : sums_) all.push_back(sums);
    std::stable_sort(all.begin(), all.end(),
                     [](const MemoryOperator& a, const MemoryOperator& b) { return a.allocated > b.allocated; });
    return all;
  }

 private:
  using Key = std::tuple<StringId, std::int16_t, std::int16_t>;
  struct Recent {
    Key key;
    MemoryOperator* sums = nullptr;
  };
  std::map<Key, MemoryOperator> sums_;
  std::array<Recent, 256> recent_{};
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
    case kCuda:
    case kHip:
    case kXpu: return "GPU " + std::to_string(device);
    case kMps: return "MPS " + std::to_string(device);
    default: return "device type " + std::to_string(device_type) + " number " + std::to_string(device);
  }
}

void MemoryCurve::add(std::uint32_t record) {
  const MemoryRow& row = trace_->memory[record];
  if (sums_.empty() && row.total_allocated < 0)
    for (std::size_t i = 0; i < records_.size(); ++i) sums_.push_back((*this)[i].allocated);
  if (row.total_allocated < 0 || !sums_.empty()) {
    const std::int64_t sum = sum_saturating(sums_.empty() ? 0 : sums_.back(), row.bytes);
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

MemoryUse memory_use(const Trace& trace, const LaneIndex& lanes, const std::optional<Span>& within,
                     const std::atomic<bool>* cancel) {
  constexpr std::uint32_t kCheckEvery = 4096;
  std::map<DeviceKey, MemoryDevice> devices;
  OperatorSums operators;
  OperatorsAlong along(trace, lanes);
  MemoryDevice* device = nullptr;  // of the record before
  for (std::uint32_t i = 0; i < trace.memory.size(); ++i) {
    const MemoryRow& row = trace.memory[i];
    if (i % kCheckEvery == 0 && cancel && *cancel) break;
    if (within && row.time >= within->end) break;
    const bool before = within && row.time < within->begin;
    if (!device || device->device_type != row.device_type || device->device != row.device) {
      device = &devices.try_emplace({row.device_type, row.device}, trace).first->second;
      device->device_type = row.device_type;
      device->device = row.device;
    }
    const bool at_begin = within && row.time == within->begin;
    add_record(*device, trace, i, before ? Counts::leaves_behind : at_begin ? Counts::at_begin : Counts::all);
    if (row.out_of_memory || before) continue;
    const SliceId op = row.lane ? along.innermost(row.lane, row.time) : SliceId{};
    MemoryOperator& entry = operators.of(op ? trace.name_id(op) : StringId{}, row);
    ++(row.bytes >= 0 ? entry.allocations : entry.frees);
    if (row.bytes >= 0)
      add_saturating(entry.allocated, row.bytes);
    else
      subtract_saturating(entry.freed, row.bytes);
  }
  MemoryUse use;
  for (auto& [key, d] : devices) {
    if (!d.points.empty()) d.peak_stack = stack_at(lanes, d.peak_lane, d.points[d.peak].time);
    use.devices.push_back(std::move(d));
  }
  std::stable_sort(use.devices.begin(), use.devices.end(), [](const MemoryDevice& a, const MemoryDevice& b) {
    return (a.device_type == kCpu) < (b.device_type == kCpu);
  });
  use.operators = operators.take();
  return use;
}

}  // namespace gapscope
