#include "app/mcp/allowed_folders.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/trace_name.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace fs = std::filesystem;

namespace {

bool is_hidden(const fs::path& path) {
  return std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part.native().starts_with('.'); });
}

}  // namespace

Result<AllowedFolders> AllowedFolders::make(const std::vector<std::string>& folders, Allowed allowed) {
  AllowedFolders out;
  out.allowed_ = allowed;
  for (const std::string& folder : folders) {
    std::error_code trouble;
    const fs::path real = fs::canonical(folder, trouble);
    if (trouble || !fs::is_directory(real, trouble))
      return Error{fmt::format("{} is no folder that can be read.", printable(folder))};
    out.folders_.push_back(real);
  }
  return out;
}

bool AllowedFolders::holds(const fs::path& file) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const fs::path& folder) {
    const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return end == folder.end();
  });
}

// `asked` as it was written, and the file or folder that it is.
bool AllowedFolders::is_allowed(const fs::path& asked, const fs::path& real) const {
  if (!holds(real)) return false;
  if (allowed_ == Allowed::files) return true;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(real, ignored);
  const fs::path below = asked.is_absolute() ? asked.lexically_relative(first()) : asked;
  if (is_folder && (below.empty() || below == ".")) return true;
  return !is_hidden(below) && (is_folder || is_trace_name(asked.native()));
}

// What a path may mean.
std::vector<fs::path> AllowedFolders::places(const std::string& path) const {
  if (fs::path(path).is_absolute()) return {path};
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_) places.push_back(folder / path);
  return places;
}

Result<std::string> AllowedFolders::file(const std::string& path) const {
  for (const fs::path& place : places(path)) {
    std::error_code trouble;
    const fs::path real = fs::canonical(place, trouble);
    if (!trouble && is_allowed(path, real) && fs::is_regular_file(real, trouble)) return real.string();
  }
  if (allowed_ == Allowed::recordings)
    return Error{fmt::format("{} is no recording below the folder that is served.", printable(path))};
  return Error{fmt::format(
      "{} is no file below the folders that this server was started with. `open` without a path lists the traces there.",
      printable(path))};
}

Result<std::vector<std::string>> AllowedFolders::files(const std::string& path) const {
  for (const fs::path& place : places(path)) {
    std::error_code trouble;
    const fs::path real = fs::canonical(place, trouble);
    if (trouble || !is_allowed(path, real) || !fs::is_directory(real, trouble)) continue;
    std::vector<std::string> out;
    for (const std::string& found : find_rank_files({real.string()}).files)
      if (const Result<std::string> one = file(found)) out.push_back(*one);  // not what a link leads out to
    if (out.empty()) return Error{fmt::format("{} holds no trace.", printable(path))};
    return out;
  }
  Result<std::string> one = file(path);
  if (!one) return one.error();
  return std::vector<std::string>{std::move(*one)};
}

std::vector<std::string> AllowedFolders::traces(std::size_t most) const {
  std::vector<std::string> found;
  constexpr std::size_t kMostLookedAt = 100'000;
  constexpr int kDeepest = 16;
  std::size_t looked_at = 0;
  for (const fs::path& folder : folders_) {
    std::error_code trouble;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, trouble), end;
         !trouble && at != end && ++looked_at < kMostLookedAt; at.increment(trouble)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with('.') || at.depth() == kDeepest) at.disable_recursion_pending();
      if (!name.starts_with('.') && is_trace_name(name) && file(at->path().string()).ok()) found.push_back(at->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), most));
  return found;
}

}  // namespace gapscope
