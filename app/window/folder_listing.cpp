#include "app/window/folder_listing.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/trace_name.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;

fs::path resolved(const std::string& path, const std::string& home) {
  fs::path wanted = path.empty() ? "." : path;
  if (path == "~" || path.starts_with("~/")) wanted = home + path.substr(1);
  std::error_code ignored;
  const fs::path whole = fs::absolute(wanted, ignored).lexically_normal();
  return whole.has_filename() || whole == whole.root_path() ? whole : whole.parent_path();
}

FolderEntry entry_of(const fs::directory_entry& item) {
  std::error_code ignored;
  FolderEntry entry{item.path().filename().string(), item.is_directory(ignored), 0};
  if (!entry.is_folder) {
    const auto bytes = item.file_size(ignored);
    entry.bytes = ignored ? 0 : bytes;
  }
  return entry;
}

// PyTorch's memory snapshots.
bool is_snapshot_name(std::string_view name) { return name.ends_with(".pickle") || name.ends_with(".pickle.gz"); }

// What an archive holds, as if it were a folder.
void list_archive(const std::string& archive, FolderView& view) {
  const RankFiles inside = find_rank_files({archive});
  for (const std::string& file : inside.files)
    if (file.starts_with(archive + '/')) view.entries.push_back({file.substr(archive.size() + 1), false, 0});
  if (view.entries.empty()) view.error = inside.problems.empty() ? "This is not a folder." : inside.problems.front();
}

}  // namespace

FolderView list_folder(const std::string& path, const std::string& home) {
  const fs::path folder = resolved(path, home);
  FolderView view{folder.string(), {}, {}, path};
  std::error_code trouble;
  if (fs::is_regular_file(folder, trouble)) {
    list_archive(folder.string(), view);
    return view;
  }
  for (fs::directory_iterator it(folder, trouble), end; !trouble && it != end; it.increment(trouble)) {
    FolderEntry entry = entry_of(*it);
    if (entry.name.starts_with('.') ||
        (!entry.is_folder && !is_trace_name(entry.name) && !is_archive_name(entry.name) && !is_snapshot_name(entry.name)))
      continue;
    view.entries.push_back(std::move(entry));
  }
  if (trouble) view.error = "This folder cannot be read: " + trouble.message() + ".";
  std::sort(view.entries.begin(), view.entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return view;
}

}  // namespace gapscope
