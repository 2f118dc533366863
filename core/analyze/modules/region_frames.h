#pragma once
// The frames that GPU time is known by: calls of nn.Module, else the regions of record_function.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

enum class RegionKind : std::uint8_t {
  modules,      // Python frames "nn.Module: NAME_k", of with_stack=True and with_modules=True
  annotations,  // user annotations on CPU threads, in a trace without module frames; steps are none
  none,         // neither
};
std::string_view region_kind_key(RegionKind kind);  // "modules", "annotations", "none"

// "Linear_3" of "nn.Module: Linear_3"; empty for what is no module frame's name.
std::string_view module_instance(std::string_view frame_name);
// "Linear" of "Linear_3"; a name without a number represents itself.
std::string_view module_class(std::string_view instance);

struct RegionFrames {
  RegionKind kind = RegionKind::none;
  std::vector<SliceId> slices;
};
// One pass over the slices.
RegionFrames region_frames(const Trace& trace);
// Of one kind only.
std::vector<SliceId> region_frames(const Trace& trace, RegionKind kind);
// The instance that a frame is a call of: module_instance(), or the annotation's name.
std::string_view region_name(const Trace& trace, RegionKind kind, StringId frame_name);

}  // namespace gapscope
