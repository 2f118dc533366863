#pragma once
// What a half-typed path means against the folder it is in. No ImGui, no disk: the folder comes in as read.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/app_ui.h"

namespace gapscope {

// "/a/b/c" -> folder "/a/b/" and start "c"; "c" -> "" and "c".
struct TypedPath {
  std::string_view folder;
  std::string_view start;
};
TypedPath split_typed(std::string_view typed);

// The path that is meant: one that begins neither at the root nor at home (~) continues from `base`.
std::string meant_path(std::string_view base, std::string_view typed);

// The entries that continue from what is typed: those whose name starts so, or where there is none, those that contain it
// (letters compared without case).
std::vector<const FolderEntry*> matching_entries(const FolderView& folder, std::string_view start);

// The path of an entry of `folder`, as one would type it; folders end in a slash.
std::string entry_path(const FolderView& folder, const FolderEntry& entry);

// What Tab makes of it: as much as all matches agree on, a slash after a folder that is the only match. Unchanged when
// nothing matches or nothing can be added.
std::string completed(std::string_view typed, const FolderView& folder);

// What Enter takes: the entry of that name, or the only one that continues from what is typed; null where it is neither.
const FolderEntry* taken_entry(std::string_view typed, const FolderView& folder);

// The path in a text that was copied somewhere: itself, in quotes, or as file managers copy it (file:///a%20b). The first
// line counts. None for what is no whole path.
std::optional<std::string> copied_path(std::string_view text);

// A path as a list names it: its last part and, where others of the list end in the same, as much of the folders before it as
// distinguishes them.
struct PathName {
  std::string name;
  std::string folders;  // "runs/a", or empty
};
std::vector<PathName> names_of_paths(std::span<const std::string> paths);

}  // namespace gapscope
