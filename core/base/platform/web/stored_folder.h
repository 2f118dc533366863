#pragma once

namespace gapscope {

// What is written there stays in the browser for the next page (app/web/page.js); every other file is downloaded.
inline constexpr const char* kStoredFolder = "/stored/";

}  // namespace gapscope
