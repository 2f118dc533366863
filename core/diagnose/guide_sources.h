#pragma once
// The files of assets/guide as the build found them, for guide.cpp.
#include <span>
#include <string_view>

namespace gapscope {

struct GuideSource {
  std::string_view name;
  std::string_view text;
};
std::span<const GuideSource> guide_sources();

}  // namespace gapscope
