#pragma once
// Which files may be traces, by the end of their names.
#include <algorithm>
#include <array>
#include <string_view>

namespace gapscope {

constexpr bool is_trace_name(std::string_view name) {
  constexpr std::array<std::string_view, 6> kEndings = {".json",     ".json.gz", ".json.xz",
                                                        ".json.zst", ".sqlite",  "_results.db"};  // the last: rocprofv3's
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

// Archives that may hold traces.
constexpr bool is_archive_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> kEndings = {".zip",    ".tar", ".tar.gz",  ".tgz",
                                                        ".tar.xz", ".txz", ".tar.zst", ".tzst"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace gapscope
