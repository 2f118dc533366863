#pragma once
// Typed indexes into the trace's tables. An id is a position in one table of one trace; the default is "none".
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace gapscope {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFu;
  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using SliceId = Id<struct SliceTag>;      // position in Trace::slices; ordered by (lane, depth, begin)
using LaneId = Id<struct LaneTag>;        // position in Trace::lanes, which is display order
using RowId = Id<struct RowTag>;          // position in Trace::rows: one depth of one lane
using ProcessId = Id<struct ProcessTag>;  // position in Trace::processes
using StringId = Id<struct StringTag>;    // position in Trace::strings; 0 is the empty string
using GpuId = Id<struct GpuTag>;          // position in Trace::gpu
using CallId = Id<struct CallTag>;        // position in Trace::calls
using FlowId = Id<struct FlowTag>;        // position in Trace::flows

}  // namespace gapscope

template <class Tag>
struct std::hash<gapscope::Id<Tag>> {
  std::size_t operator()(gapscope::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
