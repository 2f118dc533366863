#pragma once
// What a folder holds that is of use here: its folders, and files that may be traces.
#include <string>
#include <string_view>

#include "ui/app_ui.h"

namespace gapscope {

// By the end of the name: .json, .json.gz, .json.xz, .json.zst.
bool looks_like_trace(std::string_view file_name);

// Folders first, then traces, each by name; hidden ones left out. `~` is `home`. May wait for the disk.
FolderView list_folder(const std::string& path, const std::string& home);

}  // namespace gapscope
