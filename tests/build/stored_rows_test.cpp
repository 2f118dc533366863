#include "core/build/stored_rows.h"

#include <limits>

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kFarOffset = (std::uint64_t{1} << 48) - 1;

}  // namespace

TEST_CASE("a stored slice keeps any length and any place below 256 TB") {
  SideTables side;
  SideTables::Writer writer(side);
  for (const Ns begin : {kLeast, Ns{-5}, Ns{0}, Ns{1'700'000'000'000'000'000}}) {
    for (const Ns end : {begin, begin + 1, begin + 0x7FFF'FFFF, begin + 0x8000'0000, kMost}) {
      StoredSlice slice;
      slice.begin = begin;
      set_end(slice, end, writer);
      CHECK(end_of(slice, side) == end);
    }
  }
  StoredSlice slice;
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{0xFFFF'FFFF}, std::uint64_t{0x1'0000'0000}, kFarOffset}) {
    set_offset(slice, offset);
    CHECK(offset_of(slice) == offset);
  }
}

TEST_CASE("sizes in bytes are kept exactly, whether they are whole numbers of 512 or not") {
  SideTables side;
  SideTables::Writer writer(side);
  constexpr std::int64_t kHalf = std::int64_t{1} << 29;
  for (const std::int64_t size :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{512}, std::int64_t{-512}, kHalf - 1, kHalf, kHalf + 1, -kHalf,
        -kHalf - 1, -kHalf - 512, std::int64_t{150'000'000'000}, std::int64_t{150'000'000'001}, (kHalf - 1) * 512, kHalf * 512,
        -kHalf * 512, -kHalf * 512 - 512, kLeast, kMost}) {
    CAPTURE(size);
    CHECK(unpack_size(pack_size(size, writer.overflow), side.overflow) == size);
  }
}

TEST_CASE("stored flows and instants keep ids of 64 bits, negative times and far places") {
  SideTables side;
  SideTables::Writer writer(side);
  for (const Ns time : {kLeast, Ns{-1}, Ns{0}, kMost}) {
    for (const std::uint64_t id :
         {std::uint64_t{0}, std::uint64_t{0x7FFF'FFFF}, std::uint64_t{0x8000'0000}, ~std::uint64_t{0}}) {
      const StoredFlow flow = pack(RawFlow{time, id, kFarOffset, 70'000, 1, 2, kUnbound, 'f', false}, writer);
      CHECK(flow.time() == time);
      CHECK(side.overflow.unpack(flow.id) == id);
      CHECK(offset_of(flow) == kFarOffset);
      CHECK(flow.lane_or_slice == 70'000);
      CHECK(flow.phase == 'f');
      CHECK(side.flow_kinds[flow.kind].category == 1);
      CHECK(side.flow_kinds[flow.kind].name == 2);
    }
    const StoredInstant instant = pack(RawInstant{time, kFarOffset, 70'000, 80'000, 0xFFFE, false});
    CHECK(instant.time == time);
    CHECK(instant.lane == 70'000);
    CHECK(instant.name == 80'000);
    CHECK(instant.category == 0xFFFE);
    CHECK(offset_of(instant) == kFarOffset);
  }
  CHECK(pack(RawInstant{0, 0, 3, 0, 0, true}).lane == StoredInstant::kAllLanes);
}

TEST_CASE("a stored GPU row gives back all its fields") {
  SideTables side;
  SideTables::Writer writer(side);
  GpuRow row;
  row.slice = SliceId(4'000'000'000u);
  row.device = -1;
  row.stream = std::numeric_limits<std::int32_t>::max();
  row.context = std::numeric_limits<std::int32_t>::min();
  row.bytes = ~std::uint64_t{0};
  row.graph_id = ~std::uint64_t{0} - 1;
  row.graph_node_id = ~std::uint64_t{0} - 2;
  row.registers = 255;
  row.shared_memory = 0xFFFF'FFFF;
  row.grid = {0xFFFF'FFFF, 2, 3};
  row.block = {4, 5, 6};
  row.blocks_per_sm = 0.5f;
  row.warps_per_sm = 1.5f;
  row.occupancy_percent = 99.5f;
  row.annotated_stream = StringId(9);
  for (const std::uint64_t correlation : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{0x8000'0000}, ~std::uint64_t{0}}) {
    row.correlation = correlation;
    const GpuRow back = unpack(pack(row, writer), side);
    CHECK(back.slice == row.slice);
    CHECK(back.correlation == correlation);
    CHECK(back.device == row.device);
    CHECK(back.stream == row.stream);
    CHECK(back.context == row.context);
    CHECK(back.bytes == row.bytes);
    CHECK(back.graph_id == row.graph_id);
    CHECK(back.graph_node_id == row.graph_node_id);
    CHECK(back.registers == row.registers);
    CHECK(back.shared_memory == row.shared_memory);
    CHECK(back.grid == row.grid);
    CHECK(back.block == row.block);
    CHECK(back.blocks_per_sm == row.blocks_per_sm);
    CHECK(back.warps_per_sm == row.warps_per_sm);
    CHECK(back.occupancy_percent == row.occupancy_percent);
    CHECK(back.annotated_stream == row.annotated_stream);
    const Call call = unpack(pack(Call{row.slice, correlation}, writer), side);
    CHECK(call.slice == row.slice);
    CHECK(call.correlation == correlation);
  }
  CHECK(side.gpu.size() == 1);  // slice and correlation differ from row to row
  row.grid[2] = 4;
  CHECK(unpack(pack(row, writer), side).grid[2] == 4);
  CHECK(side.gpu.size() == 2);
}

TEST_CASE("a stored operator's row gives back all its fields") {
  SideTables side;
  SideTables::Writer writer(side);
  for (const std::int64_t sequence :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{0x7FFF'FFFE}, std::int64_t{0x7FFF'FFFF}, kLeast, kMost}) {
    OpRow row;
    row.slice = SliceId(12u);
    row.unfinished = sequence == 0;
    row.sequence = sequence;
    row.input_dims = StringId(3u);
    row.input_types = sequence == kMost ? StringId{} : StringId(4u);
    row.collective = StringId(5u);
    const OpRow back = unpack(pack(row, writer), side);
    CHECK(back.slice == row.slice);
    CHECK(back.unfinished == row.unfinished);
    CHECK(back.sequence == row.sequence);
    CHECK(back.input_dims == row.input_dims);
    CHECK(back.input_types == row.input_types);
    CHECK(back.collective == row.collective);
  }
}

TEST_CASE("a stored memory row gives back all its fields") {
  SideTables side;
  SideTables::Writer writer(side);
  MemoryRow row;
  row.time = -9;
  row.bytes = kLeast;
  row.address = ~std::uint64_t{0};
  row.total_allocated = 150'000'000'001;
  row.total_reserved = -1;
  row.lane = LaneId(70'000u);
  row.device_type = -3;
  row.device = 32'000;
  row.out_of_memory = true;
  const MemoryRow back = unpack(pack(row, writer), side);
  CHECK(back.time == row.time);
  CHECK(back.bytes == row.bytes);
  CHECK(back.address == row.address);
  CHECK(back.total_allocated == row.total_allocated);
  CHECK(back.total_reserved == row.total_reserved);
  CHECK(back.lane == row.lane);
  CHECK(back.device_type == row.device_type);
  CHECK(back.device == row.device);
  CHECK(back.out_of_memory);
}
