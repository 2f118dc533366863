#include "core/view/source_place.h"

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/trace/trace.h"

namespace gapscope {
namespace {

// Where it lies in this recording's folder nobody has to say so.
std::vector<std::string> with_folder_of(const Trace& trace, std::vector<std::string> paths) {
  const std::string folder = std::filesystem::path(trace.path).parent_path().string();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(trace.path, ignored)) paths.push_back("=" + (folder.empty() ? "." : folder));
  return paths;
}

}  // namespace

std::optional<SourcePlace> source_place(std::string_view name) {
  constexpr std::string_view kEnding = ".py(";
  const std::size_t at = name.find(kEnding);
  if (at == name.npos) return std::nullopt;
  const std::string_view digits = name.substr(at + kEnding.size());
  std::int64_t line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc() || line < 1 || end == digits.data() + digits.size() || *end != ')') return std::nullopt;
  return SourcePlace{std::string(name.substr(0, at + 3)), line};
}

std::string place_text(const SourcePlace& place) { return place.file + ":" + std::to_string(place.line); }

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
