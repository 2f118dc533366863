#pragma once
// What Gapscope remembers between two runs: a state file (app/state/state_files.h).
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/state/state_files.h"
#include "core/base/result.h"
#include "core/view/preferences.h"

namespace gapscope {

struct Settings {
  std::vector<std::string> recent;  // absolute paths, newest first
  std::vector<std::string> muted;   // ids of rules whose findings are hidden
  Preferences preferences;
  std::vector<std::string> recent_queries{}, saved_queries{};  // of the tab "SQL", newest first
  std::vector<std::string> source_paths{};                     // path_here() of core/view/source_place.h
  std::string editor{};                                        // editor_command() there; empty: VS Code
  std::vector<std::string> roofs{};  // of a GPU that the table of devices lacks: "bf16=989e12", "bandwidth=4.8e12"
};

constexpr std::size_t kMaxRecentFiles = 12;  // what fits next to the samples without scrolling
// Puts `path` first, each once. Standard input ("-") cannot be opened again and is left out.
void remember_file(std::vector<std::string>& recent, const std::string& path);

// XDG_CONFIG_HOME/gapscope/settings.json, else HOME/.config/...; empty when neither is known (nothing is saved then).
std::filesystem::path settings_path(const char* xdg_config_home, const char* home);

// A missing file gives defaults; one that cannot be understood the beginning of a sentence.
Result<Settings> read_settings(const std::filesystem::path& path);

// What `ours` is when `theirs` is in the file by now (both began as `base`): who changed something is followed, we
// before others; of recent files both keep theirs.
Settings merged_settings(const Settings& base, const Settings& ours, const Settings& theirs);

// The file of one running program. Another one may write it, too. One that cannot be understood is moved aside before
// anything is written. An empty path: nothing is saved.
class SettingsFile {
 public:
  explicit SettingsFile(std::filesystem::path path) : path_(std::move(path)) {}

  // Once, before write(). `said`: what the person should know.
  Settings read(std::string& said);
  // From one thread at a time.
  StateWritten write(const Settings& ours);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Settings base_;  // as last read or written
};

}  // namespace gapscope
