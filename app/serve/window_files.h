#pragma once
// The window in a browser (app/web): the few files of its folder that are served, and nothing else that is there.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gapscope {

// The one that was built or installed with the program; empty where there is none.
std::filesystem::path find_window(const std::filesystem::path& executable);
bool holds_window(const std::filesystem::path& folder);

struct WindowFile {
  std::string path;
  std::string type;  // its Content-Type
};
// "" is its page.
std::optional<WindowFile> window_file(const std::filesystem::path& folder, std::string_view name);

// It runs WebAssembly, shares memory between its threads, and reads what was dropped onto it (blob:).
inline constexpr std::string_view kWindowPolicy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; connect-src 'self' blob:; "
    "style-src 'unsafe-inline'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace gapscope
