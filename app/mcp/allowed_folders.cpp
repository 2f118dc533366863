#include "app/mcp/allowed_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/base/address.h"
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
  Result<ReadableFolders> readable = ReadableFolders::make(folders);
  if (!readable) return readable.error();
  AllowedFolders out;
  out.allowed_ = allowed;
  out.readable_ = std::make_shared<const ReadableFolders>(std::move(*readable));
  out.folders_ = out.readable_->paths();
  return out;
}

// `asked` as it was written, and the file or folder that it is.
bool AllowedFolders::is_allowed(const fs::path& asked, const fs::path& real) const {
  if (!readable_->holds(real)) return false;
  if (allowed_ == Allowed::files) return true;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(real, ignored);
  const fs::path below = asked.is_absolute() ? asked.lexically_relative(first()) : asked;
  if (is_folder && (below.empty() || below == ".")) return true;
  return !is_hidden(below) && (is_folder || is_trace_name(asked.native()) || is_archive_name(asked.native()));
}

// What a path may mean.
std::vector<fs::path> AllowedFolders::places(const std::string& asked) const {
  const std::string path = without_file_scheme(asked);
  if (fs::path(path).is_absolute()) return {path};
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_) places.push_back(folder / path);
  return places;
}

Result<AllowedFile> AllowedFolders::open(const std::string& path) const {
  Result<std::string> real = file(path);
  if (!real) return real.error();
  const int fd = readable_->open(*real, O_RDONLY);
  struct stat info {};
  if (fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return AllowedFile{fd, std::move(*real)};
  if (fd >= 0) ::close(fd);
  return Error{fmt::format("{} cannot be opened.", printable(path))};
}

Result<std::string> AllowedFolders::file(const std::string& path) const {
  for (const fs::path& place : places(path)) {
    std::error_code trouble;
    const fs::path real = fs::canonical(place, trouble);
    if (!trouble && is_allowed(path, real) && fs::is_regular_file(real, trouble)) return real.string();
    const auto [archive, member] = split_member_path(place.string());
    const fs::path holder = member.empty() ? fs::path() : fs::canonical(archive, trouble);
    if (!member.empty() && !trouble && is_allowed(path, holder)) return (holder / member).string();
  }
  if (std::string error = address_error(path); !error.empty()) return Error{std::move(error)};
  if (allowed_ == Allowed::recordings)
    return Error{fmt::format("{} is not a recording below the served folder.", printable(path))};
  return Error{
      fmt::format("{} is not a file below the server's folders. `open` without a path lists their traces.", printable(path))};
}

Result<std::vector<std::string>> AllowedFolders::files(const std::string& path) const {
  for (const fs::path& place : places(path)) {
    std::error_code trouble;
    const fs::path real = fs::canonical(place, trouble);
    if (trouble || !is_allowed(path, real) || !holds_several_traces(real.string())) continue;
    std::vector<std::string> out;
    const RankFiles inside = find_rank_files({real.string()});
    for (const std::string& found : inside.files)
      if (const Result<std::string> one = file(found)) out.push_back(*one);  // not what a link leads out to
    if (out.empty() && !inside.problems.empty()) return Error{inside.problems.front()};
    if (out.empty()) return Error{fmt::format("{} has no trace.", printable(path))};
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
      if (name.starts_with('.') || !(is_trace_name(name) || is_archive_name(name)) || !file(at->path().string()).ok()) continue;
      // Looking into a compressed .tar takes too long for a list.
      const bool is_listed = name.ends_with(".zip") || name.ends_with(".tar");
      const std::vector<std::string> inside =
          is_listed ? find_rank_files({at->path().string()}).files : std::vector<std::string>{at->path().string()};
      found.insert(found.end(), inside.begin(), inside.end());
    }
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), most));
  return found;
}

}  // namespace gapscope
