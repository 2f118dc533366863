#pragma once
// The line where a path is typed: Tab completes it against the folder that it is in.
#include <string>

#include "ui/app_ui.h"

namespace gapscope {

// True when Enter was pressed. `folder` may be null while it is not read yet.
bool path_field(const char* label, const char* hint, std::string& path, const FolderView* folder);

}  // namespace gapscope
