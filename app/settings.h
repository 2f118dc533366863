#pragma once
// What Gapscope remembers between two runs: a small JSON file that a person may edit. A broken one is named and left
// alone until there is something to save, which replaces it.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/view/preferences.h"

namespace gapscope {

struct Settings {
  std::vector<std::string> recent;  // absolute paths, newest first
  std::vector<std::string> muted;   // ids of rules whose findings are hidden
  Preferences preferences;
};

// XDG_CONFIG_HOME/gapscope/settings.json, else HOME/.config/...; empty when neither is known (nothing is kept then).
std::filesystem::path settings_path(const char* xdg_config_home, const char* home);

// A missing file gives defaults; one that cannot be understood an Error.
Result<Settings> read_settings(const std::filesystem::path& path);
// Writes beside and renames, so that a crash leaves the old file. The Error says what to try; nullopt: saved.
std::optional<Error> write_settings(const std::filesystem::path& path, const Settings& settings);

}  // namespace gapscope
