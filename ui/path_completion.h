#pragma once
// What a half-typed path means against the folder it is in. No ImGui, no disk: the folder comes in as read.
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

// The entries that go on from what is typed: those whose name starts so, or where there is none, those that contain it
// (letters compared without case).
std::vector<const FolderEntry*> matching_entries(const FolderView& folder, std::string_view start);

// The path of an entry of `folder`, as one would type it; folders end in a slash.
std::string entry_path(const FolderView& folder, const FolderEntry& entry);

// What Tab makes of it: as much as all matches agree on, a slash after a folder that is the only match. Unchanged when
// nothing matches or nothing can be added.
std::string completed(std::string_view typed, const FolderView& folder);

}  // namespace gapscope
