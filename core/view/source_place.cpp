#include "core/view/source_place.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/trace/trace.h"

namespace gapscope {
namespace {

// A file in this recording's folder needs no setting.
std::vector<std::string> with_folder_of(const Trace& trace, std::vector<std::string> paths) {
  const std::string folder = std::filesystem::path(trace.path).parent_path().string();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(trace.path, ignored)) paths.push_back("=" + (folder.empty() ? "." : folder));
  return paths;
}

}  // namespace

std::string path_here(const std::string& recorded, const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths) {
    const std::size_t at = path.find('=');
    if (at == path.npos || !recorded.starts_with(path.substr(0, at))) continue;
    std::string rest = recorded.substr(at);
    const std::string folder = path.substr(at + 1);
    if (!folder.ends_with('/') && !rest.starts_with('/')) rest.insert(0, 1, '/');
    if (std::filesystem::exists(folder + rest, ignored)) return folder + rest;
  }
  return recorded;
}

std::optional<std::string> source_here(const Trace& trace, const std::string& recorded, const std::vector<std::string>& paths) {
  std::string here = path_here(recorded, with_folder_of(trace, paths));
  std::error_code ignored;
  const bool is_here = (here != recorded || here.starts_with('/')) && std::filesystem::exists(here, ignored);
  return is_here ? std::optional(std::move(here)) : std::nullopt;
}

}  // namespace gapscope
