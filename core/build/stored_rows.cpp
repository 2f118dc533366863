#include "core/build/stored_rows.h"

#include <cstring>

namespace gapscope {
namespace {

// The two highest bits say how the rest is meant: as it is, times 512, or (the highest) wide.
constexpr std::uint32_t kSizeBits = 30;
constexpr std::int64_t kSizeHalf = std::int64_t{1} << (kSizeBits - 1);
constexpr std::uint32_t kTimesUnit = std::uint32_t{1} << kSizeBits;
constexpr std::int64_t kUnit = 512;

// Bytes of values one after the other, without the padding that a struct may have.
template <class Rest>
class RestWriter {
 public:
  template <class Value>
  void operator()(const Value& value) {
    std::memcpy(reinterpret_cast<char*>(rest_.data()) + at_, &value, sizeof value);
    at_ += sizeof value;
  }
  const Rest& rest() const { return rest_; }

 private:
  Rest rest_{};
  std::size_t at_ = 0;
};
template <class Rest>
class RestReader {
 public:
  explicit RestReader(const Rest& rest) : rest_(rest) {}
  template <class Value>
  void operator()(Value& value) {
    std::memcpy(&value, reinterpret_cast<const char*>(rest_.data()) + at_, sizeof value);
    at_ += sizeof value;
  }

 private:
  const Rest& rest_;
  std::size_t at_ = 0;
};

bool fits(std::int64_t number) { return number >= -kSizeHalf && number < kSizeHalf; }

}  // namespace

std::uint32_t pack_size(std::int64_t size, OverflowValues::Writer& overflow) {
  if (fits(size)) return static_cast<std::uint32_t>(size + kSizeHalf);
  if (size % kUnit == 0 && fits(size / kUnit)) return kTimesUnit | static_cast<std::uint32_t>(size / kUnit + kSizeHalf);
  return overflow.pack_wide(static_cast<std::uint64_t>(size));
}

std::int64_t unpack_size(std::uint32_t packed, const OverflowValues& overflow) {
  if (OverflowValues::is_wide(packed)) return static_cast<std::int64_t>(overflow.unpack(packed));
  const std::int64_t number = static_cast<std::int64_t>(packed & (kTimesUnit - 1)) - kSizeHalf;
  return (packed & kTimesUnit) != 0 ? number * kUnit : number;
}

StoredFlow pack(const RawFlow& f, SideTables::Writer& side) {
  StoredFlow stored;
  stored.time_low = static_cast<std::uint32_t>(f.time);
  stored.time_high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(f.time) >> 32);
  stored.id = side.overflow.pack(f.id);
  stored.kind = side.flow_kinds.add({f.category, f.name});
  stored.lane_or_slice = f.lane;
  set_offset(stored, f.offset);
  stored.phase = f.phase;
  stored.to_next = f.to_next;
  return stored;
}

StoredInstant pack(const RawInstant& i) {
  StoredInstant stored{i.time, i.is_global ? StoredInstant::kAllLanes : i.lane, i.name, 0,
                       0,      static_cast<std::uint16_t>(i.category)};
  set_offset(stored, i.offset);
  return stored;
}

StoredGpu pack(const GpuRow& row, SideTables::Writer& side) {
  RestWriter<SideTables::GpuRest> put;
  each_arg<ArgPacking::shared>(row, [&](const auto& value) { put(value); });
  put(row.annotated_stream);
  put(row.bytes);
  return {row.slice.value, side.overflow.pack(row.correlation), side.gpu.add(put.rest())};
}

GpuRow unpack(const StoredGpu& row, const SideTables& side) {
  GpuRow whole;
  RestReader get(side.gpu[row.rest]);
  each_arg<ArgPacking::shared>(whole, [&](auto& value) { get(value); });
  get(whole.annotated_stream);
  get(whole.bytes);
  whole.slice = SliceId(row.slice);
  whole.correlation = side.overflow.unpack(row.correlation);
  return whole;
}

StoredCall pack(const Call& call, SideTables::Writer& side) { return {call.slice.value, side.overflow.pack(call.correlation)}; }

Call unpack(const StoredCall& call, const SideTables& side) {
  return {SliceId(call.slice), side.overflow.unpack(call.correlation)};
}

StoredOp pack(const OpRow& row, SideTables::Writer& side) {
  RestWriter<SideTables::OpRest> put;
  each_arg<ArgPacking::shared>(row, [&](const auto& value) { put(value); });
  put(row.collective);
  put(row.collective_args);
  put(row.unfinished);
  return {row.slice.value, side.overflow.pack(static_cast<std::uint64_t>(row.sequence) + 1), side.ops.add(put.rest())};
}

OpRow unpack(const StoredOp& row, const SideTables& side) {
  OpRow whole;
  RestReader get(side.ops[row.rest]);
  each_arg<ArgPacking::shared>(whole, [&](auto& value) { get(value); });
  get(whole.collective);
  get(whole.collective_args);
  get(whole.unfinished);
  whole.slice = SliceId(row.slice);
  whole.sequence = static_cast<std::int64_t>(side.overflow.unpack(row.sequence) - 1);
  return whole;
}

StoredMemory pack(const MemoryRow& row, SideTables::Writer& side) {
  return {row.time,
          row.address,
          pack_size(row.bytes, side.overflow),
          pack_size(row.total_allocated, side.overflow),
          pack_size(row.total_reserved, side.overflow),
          side.memory.add({row.lane.value, row.device_type, row.device, row.out_of_memory ? 1u : 0u})};
}

MemoryRow unpack(const StoredMemory& row, const SideTables& side) {
  const SideTables::MemoryPlace& place = side.memory[row.place];
  MemoryRow whole;
  whole.time = row.time;
  whole.bytes = unpack_size(row.bytes, side.overflow);
  whole.address = row.address;
  whole.total_allocated = unpack_size(row.total_allocated, side.overflow);
  whole.total_reserved = unpack_size(row.total_reserved, side.overflow);
  whole.lane = LaneId(place.lane);
  whole.device_type = static_cast<std::int8_t>(place.device_type);
  whole.device = place.device;
  whole.out_of_memory = place.out_of_memory != 0;
  return whole;
}

}  // namespace gapscope
