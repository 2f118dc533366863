#pragma once
// Rows as they wait for the end of the file: narrower than those of the tables, since half of a trace's memory at its most is
// theirs. What rarely needs its 64 bits is an OverflowValues number; what repeats from row to row is an InternPool position.
// A place in the file has 48 bits: 256 TB.
#include <array>
#include <bit>
#include <cstdint>

#include "core/base/intern_pool.h"
#include "core/base/overflow_values.h"
#include "core/build/raw_rows.h"

namespace gapscope {

template <class Row>
constexpr std::size_t shared_bytes() {
  Row row;
  std::size_t bytes = 0;
  each_arg<ArgPacking::shared>(row, [&](const auto& value) { bytes += sizeof value; });
  return bytes;
}

// What rows share, and what does not fit them.
struct SideTables {
  struct FlowKind {
    std::uint32_t category = 0;  // StringIds
    std::uint32_t name = 0;
  };
  // The bytes of an operator's or GPU operation's shared args, and of what else its row holds, one after the other.
  template <class Row, class... Others>
  using Shared = std::array<std::uint64_t, (shared_bytes<Row>() + (sizeof(Others) + ... + 0) + 7) / 8>;
  using OpRest = Shared<OpRow, StringId, StringId, bool>;   // collective, its args, unfinished
  using GpuRest = Shared<GpuRow, StringId, std::uint64_t>;  // annotated_stream, bytes
  struct MemoryPlace {
    std::uint32_t lane = 0;
    std::int16_t device_type = 0;
    std::int16_t device = 0;
    std::uint32_t out_of_memory = 0;
  };

  OverflowValues overflow;
  InternPool<FlowKind> flow_kinds;
  InternPool<OpRest> ops;
  InternPool<GpuRest> gpu;
  InternPool<MemoryPlace> memory;

  void copy_to(SideTables& twin) const {
    overflow.copy_to(twin.overflow);
    flow_kinds.copy_to(twin.flow_kinds);
    ops.copy_to(twin.ops);
    gpu.copy_to(twin.gpu);
    memory.copy_to(twin.memory);
  }
  struct Writer;
};

struct SideTables::Writer {
  explicit Writer(SideTables& b) : overflow(b.overflow), flow_kinds(b.flow_kinds), ops(b.ops), gpu(b.gpu), memory(b.memory) {}
  OverflowValues::Writer overflow;
  InternPool<FlowKind>::Writer flow_kinds;
  InternPool<OpRest>::Writer ops;
  InternPool<GpuRest>::Writer gpu;
  InternPool<MemoryPlace>::Writer memory;
};

struct StoredSlice {
  Ns begin = 0;
  std::uint32_t length = 0;       // wide
  std::uint32_t external_id = 0;  // wide
  std::uint32_t name = 0;         // StringId
  std::uint32_t lane = 0;         // position in RowStore::lanes
  std::uint32_t offset_low = 0;
  std::uint16_t offset_high = 0;
  std::uint16_t category = 0;  // position in RowStore::categories
};
static_assert(sizeof(StoredSlice) == 32);

struct StoredFlow {
  std::uint32_t time_low = 0, time_high = 0;  // halves, so that a row needs no padding
  std::uint32_t id = 0;                       // wide
  std::uint32_t kind = 0;                     // shared
  std::uint32_t lane_or_slice = 0;            // the lane until flows are bound, then the slice (file order) or kUnbound
  std::uint32_t offset_low = 0;
  std::uint16_t offset_high = 0;
  char phase = 's';
  bool to_next = false;  // see RawFlow

  Ns time() const { return static_cast<Ns>((std::uint64_t{time_high} << 32) | time_low); }
};
static_assert(sizeof(StoredFlow) == 28);

struct StoredInstant {
  static constexpr std::uint32_t kAllLanes = 0xFFFF'FFFFu;
  Ns time = 0;
  std::uint32_t lane = 0;  // kAllLanes: a mark over all
  std::uint32_t name = 0;
  std::uint32_t offset_low = 0;
  std::uint16_t offset_high = 0;
  std::uint16_t category = 0;
};
static_assert(sizeof(StoredInstant) == 24);

// Side rows: `slice` is a position in RowStore::slices.
struct StoredGpu {
  std::uint32_t slice = 0;
  std::uint32_t correlation = 0;  // wide
  std::uint32_t rest = 0;         // shared
};

struct StoredCall {
  std::uint32_t slice = 0;
  std::uint32_t correlation = 0;  // wide
};

struct StoredOp {
  std::uint32_t slice = 0;
  std::uint32_t sequence = 0;  // wide, one more than it is: most that lack one say -1
  std::uint32_t rest = 0;      // shared
};

struct StoredMemory {
  Ns time = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  // sizes: pack_size
  std::uint32_t total_allocated = 0;
  std::uint32_t total_reserved = 0;
  std::uint32_t place = 0;  // shared
};
static_assert(sizeof(StoredMemory) == 32);

template <class Row>
std::uint64_t offset_of(const Row& row) {
  return (std::uint64_t{row.offset_high} << 32) | row.offset_low;
}
template <class Row>
void set_offset(Row& row, std::uint64_t offset) {
  row.offset_low = static_cast<std::uint32_t>(offset);
  row.offset_high = static_cast<std::uint16_t>(offset >> 32);
}

// Sizes in bytes, and differences of them, are small or whole numbers of 512: PyTorch's allocators round to that.
std::uint32_t pack_size(std::int64_t size, OverflowValues::Writer& overflow);
std::int64_t unpack_size(std::uint32_t packed, const OverflowValues& overflow);

// Names, categories and lanes of what goes in are ids of the store.
StoredFlow pack(const RawFlow& flow, SideTables::Writer& side);
StoredInstant pack(const RawInstant& instant);
StoredGpu pack(const GpuRow& row, SideTables::Writer& side);
StoredCall pack(const Call& call, SideTables::Writer& side);
StoredOp pack(const OpRow& row, SideTables::Writer& side);
StoredMemory pack(const MemoryRow& row, SideTables::Writer& side);

GpuRow unpack(const StoredGpu& row, const SideTables& side);
Call unpack(const StoredCall& call, const SideTables& side);
OpRow unpack(const StoredOp& row, const SideTables& side);
MemoryRow unpack(const StoredMemory& row, const SideTables& side);

inline Ns end_of(const StoredSlice& slice, const SideTables& side) {
  return static_cast<Ns>(static_cast<std::uint64_t>(slice.begin) + side.overflow.unpack(slice.length));
}
// `end` >= slice.begin.
inline void set_end(StoredSlice& slice, Ns end, SideTables::Writer& side) {
  slice.length = side.overflow.pack(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(slice.begin));
}

}  // namespace gapscope
