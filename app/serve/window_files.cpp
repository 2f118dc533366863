#include "app/serve/window_files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>

namespace gapscope {
namespace {

struct ServedName {
  std::string_view name, type;
};
constexpr std::array<ServedName, 6> kWindowFiles = {{{"index.html", "text/html; charset=utf-8"},
                                                     {"page.js", "text/javascript; charset=utf-8"},
                                                     {"service_worker.js", "text/javascript; charset=utf-8"},
                                                     {"gapscope.js", "text/javascript; charset=utf-8"},
                                                     {"gapscope.wasm", "application/wasm"},
                                                     {"gapscope.data", "application/octet-stream"}}};

}  // namespace

bool holds_window(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::all_of(kWindowFiles.begin(), kWindowFiles.end(),
                     [&](const ServedName& file) { return std::filesystem::is_regular_file(folder / file.name, ignored); });
}

std::filesystem::path find_window(const std::filesystem::path& executable) {
  const std::filesystem::path folder = executable.parent_path();
  for (const std::filesystem::path& place : {folder / "web", folder.parent_path() / "share/gapscope/web"})
    if (holds_window(place)) return std::filesystem::canonical(place);
  return {};
}

std::optional<WindowFile> window_file(const std::filesystem::path& folder, std::string_view name) {
  if (name.empty()) name = kWindowFiles.front().name;
  const auto* file =
      std::find_if(kWindowFiles.begin(), kWindowFiles.end(), [&](const ServedName& f) { return f.name == name; });
  if (folder.empty() || file == kWindowFiles.end()) return std::nullopt;
  return WindowFile{(folder / file->name).string(), std::string(file->type)};
}

}  // namespace gapscope
