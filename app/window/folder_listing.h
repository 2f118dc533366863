#pragma once
// What a folder or an archive holds that is of use here: its folders, and files that may be traces.
#include <string>

#include "ui/app_ui.h"

namespace gapscope {

// Folders first, then traces, each by name; hidden ones left out. `~` is `home`. May wait for the disk.
FolderView list_folder(const std::string& path, const std::string& home);

}  // namespace gapscope
