#include "app/state/settings.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/temporary_file.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto kTextLists = std::to_array<std::pair<const char*, std::vector<std::string> Settings::*>>({
    {"muted", &Settings::muted},
    {"recent_queries", &Settings::recent_queries},
    {"saved_queries", &Settings::saved_queries},
    {"source_paths", &Settings::source_paths},
    {"roofs", &Settings::roofs},
});

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list)
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

// Empty, or what is wrong.
std::string read_preferences(const Json& json, Preferences& out) {
  if (!json.is_object()) return "have \"preferences\" that are not an object";
  for (const PreferenceField& field : kPreferenceFields) {
    const auto at = json.find(field.name);
    if (at == json.end()) continue;
    const std::string name = "have a \"" + std::string(field.name) + "\" that is ";
    if (const auto* flag = std::get_if<bool Preferences::*>(&field.value)) {
      if (!at->is_boolean()) return name + "neither true nor false";
      out.*(*flag) = at->get<bool>();
    } else {
      if (!at->is_number()) return name + "not a number";
      out.*std::get<float Preferences::*>(field.value) = std::clamp(at->get<float>(), field.least, field.most);
    }
  }
  return {};
}

// How many at the front of `now` came there since the list was `before`.
std::size_t opened_since(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  for (std::size_t n = 0; n < now.size(); ++n) {
    std::vector<std::string> rest = before;
    for (std::size_t i = 0; i < n; ++i) std::erase(rest, now[i]);
    if (now.size() - n <= rest.size() && std::equal(now.begin() + static_cast<std::ptrdiff_t>(n), now.end(), rest.begin()))
      return n;
  }
  return now.size();
}

Json preferences_json(const Preferences& preferences) {
  Json json = Json::object();
  for (const PreferenceField& field : kPreferenceFields)
    std::visit([&](auto member) { json[std::string(field.name)] = preferences.*member; }, field.value);
  return json;
}

}  // namespace

void remember_file(std::vector<std::string>& recent, const std::string& path) {
  if (path.empty() || path == "-" || is_temporary(path)) return;
  std::erase(recent, path);
  recent.insert(recent.begin(), path);
  if (recent.size() > kMaxRecentFiles) recent.resize(kMaxRecentFiles);
}

fs::path settings_path(const char* xdg_config_home, const char* home) {
  if (xdg_config_home && fs::path(xdg_config_home).is_absolute()) return fs::path(xdg_config_home) / "gapscope/settings.json";
  if (home && *home) return fs::path(home) / ".config/gapscope/settings.json";
  return {};
}

Result<Settings> read_settings(const fs::path& path) {
  const auto broken = [&](const std::string& what) { return Error{path.string() + ": the settings " + what}; };
  const Result<std::optional<Json>> found = read_state(path);
  if (!found) return broken(found.error().message);
  Settings settings;
  if (!*found) return settings;
  const Json& json = **found;
  if (const auto recent = json.find("recent"); recent != json.end()) {
    if (!recent->is_array()) return broken("have a \"recent\" that is not a list");
    settings.recent = texts_of(*recent);
  }
  for (const auto& [name, texts] : kTextLists) {
    const auto list = json.find(name);
    if (list == json.end()) continue;
    if (!list->is_array()) return broken(fmt::format("have a \"{}\" that is not a list", name));
    settings.*texts = texts_of(*list);
  }
  if (const auto editor = json.find("editor"); editor != json.end()) {
    if (!editor->is_string()) return broken("have an \"editor\" that is not a text");
    settings.editor = editor->get<std::string>();
  }
  if (const auto preferences = json.find("preferences"); preferences != json.end()) {
    if (const std::string wrong = read_preferences(*preferences, settings.preferences); !wrong.empty()) return broken(wrong);
  }
  return settings;
}

Settings merged_settings(const Settings& base, const Settings& ours, const Settings& theirs) {
  Settings out = theirs;
  const std::size_t opened = opened_since(base.recent, ours.recent);
  for (std::size_t i = opened; i-- > 0;) remember_file(out.recent, ours.recent[i]);
  for (const auto& [name, texts] : kTextLists)
    if (ours.*texts != base.*texts) out.*texts = ours.*texts;
  if (ours.editor != base.editor) out.editor = ours.editor;
  for (const PreferenceField& field : kPreferenceFields)
    std::visit(
        [&](auto member) {
          if (ours.preferences.*member != base.preferences.*member) out.preferences.*member = ours.preferences.*member;
        },
        field.value);
  return out;
}

Settings SettingsFile::read(std::string& said) {
  const FolderLock lock(path_.parent_path());
  Result<Settings> settings = read_settings(path_);
  if (settings) return base_ = std::move(*settings);
  const Result<std::string> moved = move_aside(path_);
  said =
      settings.error().message + (moved ? "; the file is now " + *moved + ", and the settings are the defaults."
                                        : "; they are ignored, and nothing is saved, because the file cannot be moved aside (" +
                                              moved.error().message + ").");
  return {};
}

StateWritten SettingsFile::write(const Settings& ours) {
  if (path_.empty()) return {};
  std::error_code ignored;
  fs::create_directories(path_.parent_path(), ignored);
  const FolderLock lock(path_.parent_path());
  std::string said;
  const Result<Settings> theirs = read_settings(path_);
  if (!theirs) {
    const Result<std::string> moved = move_aside(path_);
    if (!moved)
      return {false, theirs.error().message + "; they cannot be saved, because the file cannot be moved aside (" +
                         moved.error().message + ")."};
    said = theirs.error().message + "; the file is now " + *moved + ".";
  }
  Result<std::optional<Json>> found = read_state(path_);
  const bool there = found && *found;
  Json json = there ? std::move(**found) : Json::object();  // what else it holds is a later version's
  const Settings all = there ? merged_settings(base_, ours, *theirs) : ours;
  json["recent"] = all.recent;
  for (const auto& [name, texts] : kTextLists) json[name] = all.*texts;
  json["editor"] = all.editor;
  Json& preferences = json["preferences"];
  if (!preferences.is_object()) preferences = Json::object();
  preferences.update(preferences_json(all.preferences));
  StateWritten written = write_state(path_, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n', "the settings");
  if (written.done) base_ = ours;
  if (written.say.empty()) written.say = std::move(said);
  return written;
}

}  // namespace gapscope
