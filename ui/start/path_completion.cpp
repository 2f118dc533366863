#include "ui/start/path_completion.h"

#include <algorithm>
#include <charconv>

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
  const auto end = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
  return a.substr(0, static_cast<std::size_t>(end.first - a.begin()));
}

// The percent signs of a link read back.
std::string from_link(std::string_view link) {
  std::string path;
  for (std::size_t i = 0; i < link.size(); ++i) {
    unsigned char byte = 0;
    const bool coded = link[i] == '%' && i + 2 < link.size() &&
                       std::from_chars(link.data() + i + 1, link.data() + i + 3, byte, 16).ptr == link.data() + i + 3;
    path += coded ? static_cast<char>(byte) : link[i];
    if (coded) i += 2;
  }
  return path;
}

// The last `count` parts of a path; all of it where it has no more.
std::string_view last_parts(std::string_view path, std::size_t count) {
  std::size_t at = path.size();
  for (; count > 0; --count) {
    at = at == 0 ? path.npos : path.rfind('/', at - 1);
    if (at == path.npos) return path;
  }
  return path.substr(at + 1);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace

TypedPath split_typed(std::string_view typed) {
  const std::size_t slash = typed.rfind('/');
  if (slash == std::string_view::npos) return {{}, typed};
  return {typed.substr(0, slash + 1), typed.substr(slash + 1)};
}

std::string meant_path(std::string_view base, std::string_view typed) {
  const bool whole = typed.starts_with('/') || typed.starts_with('~');
  return whole ? std::string(typed) : std::string(base) + std::string(typed);
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

const FolderEntry* taken_entry(std::string_view typed, const FolderView& folder) {
  const std::string_view start = split_typed(typed).start;
  const auto matches = matching_entries(folder, start);
  for (const FolderEntry* entry : matches)
    if (entry->name == start) return entry;
  return matches.size() == 1 ? matches.front() : nullptr;
}

std::optional<std::string> copied_path(std::string_view text) {
  text = trimmed(text);
  text = trimmed(text.substr(0, text.find('\n')));
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back())
    text = text.substr(1, text.size() - 2);
  constexpr std::string_view kFile = "file://";
  const bool is_link = text.starts_with(kFile);
  if (is_link) text.remove_prefix(std::min(text.find('/', kFile.size()), text.size()));  // a host may stand before it
  const std::string path = is_link ? from_link(text) : std::string(text);
  const bool whole = path.starts_with('/') || path.starts_with("~/");
  return whole && path.size() > 1 && path.find('\0') == path.npos ? std::optional(path) : std::nullopt;
}

std::vector<PathName> names_of_paths(std::span<const std::string> paths) {
  std::vector<PathName> names;
  for (const std::string& path : paths) {
    std::size_t parts = 1;
    const auto alike = [&](const std::string& other) {
      return other != path && last_parts(other, parts) == last_parts(path, parts);
    };
    while (last_parts(path, parts).size() < path.size() && std::any_of(paths.begin(), paths.end(), alike)) ++parts;
    const TypedPath split = split_typed(last_parts(path, parts));
    std::string_view folders = split.folder;
    if (folders.size() > 1) folders.remove_suffix(1);
    names.push_back({std::string(split.start), std::string(folders)});
  }
  return names;
}

}  // namespace gapscope
