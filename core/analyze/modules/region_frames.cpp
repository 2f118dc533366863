#include "core/analyze/modules/region_frames.h"

#include <algorithm>
#include <array>

#include "core/analyze/account/time_walk.h"

namespace gapscope {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr std::string_view kStepPrefix = "ProfilerStep#";

bool is_frame_name(RegionKind kind, std::string_view name) {
  return kind == RegionKind::modules ? !module_instance(name).empty() : !name.starts_with(kStepPrefix);
}

}  // namespace

std::string_view region_kind_key(RegionKind kind) {
  constexpr std::array<std::string_view, 3> kKeys = {"modules", "annotations", "none"};
  return kKeys[static_cast<std::size_t>(kind)];
}

std::string_view module_instance(std::string_view name) {
  return name.starts_with(kModulePrefix) ? name.substr(kModulePrefix.size()) : std::string_view();
}

std::string_view module_class(std::string_view instance) {
  const std::size_t bar = instance.find_last_not_of("0123456789");
  const bool numbered = bar != std::string_view::npos && bar > 0 && bar + 1 < instance.size() && instance[bar] == '_';
  return numbered ? instance.substr(0, bar) : instance;
}

std::vector<SliceId> region_frames(const Trace& trace, RegionKind kind) {
  if (kind == RegionKind::none) return {};
  const Kind wanted_kind = kind == RegionKind::modules ? Kind::python : Kind::annotation;
  const auto wanted = categories_of(trace, [&](Kind k) { return k == wanted_kind; });
  if (std::find(wanted.begin(), wanted.end(), 1) == wanted.end()) return {};
  std::vector<std::int8_t> known(trace.strings.size(), -1);  // a name is read once
  std::vector<SliceId> found;
  for (std::uint32_t s = 0; s < trace.slice_count(); ++s) {
    if (wanted[trace.slices.category[s]] == 0) continue;
    std::int8_t& is_frame = known[trace.slices.name[s].index()];
    if (is_frame < 0) is_frame = is_frame_name(kind, trace.strings[trace.slices.name[s]]) ? 1 : 0;
    if (is_frame != 0 && trace.lane(SliceId(std::size_t{s})).kind != LaneKind::gpu_stream)
      found.push_back(SliceId(std::size_t{s}));
  }
  return found;
}

RegionFrames region_frames(const Trace& trace) {
  for (const RegionKind kind : {RegionKind::modules, RegionKind::annotations})
    if (std::vector<SliceId> slices = region_frames(trace, kind); !slices.empty()) return {kind, std::move(slices)};
  return {};
}

std::string_view region_name(const Trace& trace, RegionKind kind, StringId frame_name) {
  const std::string_view name = trace.strings[frame_name];
  return kind == RegionKind::modules ? module_instance(name) : name;
}

}  // namespace gapscope
