#include "ui/path_completion.h"

#include <algorithm>

#include "core/base/text.h"

namespace gapscope {
namespace {

template <class Test>
std::vector<const FolderEntry*> entries_where(const FolderView& folder, Test test) {
  std::vector<const FolderEntry*> found;
  for (const FolderEntry& entry : folder.entries)
    if (test(entry)) found.push_back(&entry);
  return found;
}

std::string_view common_start(std::string_view a, std::string_view b) {
  const auto end =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
  return a.substr(0, static_cast<std::size_t>(end.first - a.begin()));
}

}  // namespace

TypedPath split_typed(std::string_view typed) {
  const std::size_t slash = typed.rfind('/');
  if (slash == std::string_view::npos) return {{}, typed};
  return {typed.substr(0, slash + 1), typed.substr(slash + 1)};
}

std::vector<const FolderEntry*> matching_entries(const FolderView& folder, std::string_view start) {
  auto found = entries_where(folder, [&](const FolderEntry& e) { return e.name.starts_with(start); });
  if (!found.empty()) return found;
  return entries_where(folder, [&](const FolderEntry& e) { return contains_ignore_case(e.name, start); });
}

std::string entry_path(const FolderView& folder, const FolderEntry& entry) {
  std::string path = folder.path;
  if (!path.ends_with('/')) path += '/';
  path += entry.name;
  if (entry.is_folder) path += '/';
  return path;
}

std::string completed(std::string_view typed, const FolderView& folder) {
  const TypedPath parts = split_typed(typed);
  const auto matches = entries_where(folder, [&](const FolderEntry& e) { return e.name.starts_with(parts.start); });
  if (matches.empty()) return std::string(typed);
  std::string_view agreed = matches[0]->name;
  for (const FolderEntry* entry : matches) agreed = common_start(agreed, entry->name);
  std::string path = std::string(parts.folder) + std::string(agreed);
  if (matches.size() == 1 && matches[0]->is_folder) path += '/';
  return path;
}

}  // namespace gapscope
