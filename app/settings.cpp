#include "app/settings.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

namespace gapscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Error broken(const fs::path& path, const char* what) {
  return {path.string() + ": the settings " + what + "; they are ignored. Mend or delete the file."};
}

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

Json preferences_json(const Preferences& preferences) {
  Json json = Json::object();
  for (const PreferenceField& field : kPreferenceFields)
    std::visit([&](auto member) { json[std::string(field.name)] = preferences.*member; }, field.value);
  return json;
}

}  // namespace

fs::path settings_path(const char* xdg_config_home, const char* home) {
  if (xdg_config_home && fs::path(xdg_config_home).is_absolute())
    return fs::path(xdg_config_home) / "gapscope/settings.json";
  if (home && *home) return fs::path(home) / ".config/gapscope/settings.json";
  return {};
}

Result<Settings> read_settings(const fs::path& path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) return Settings{};
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) return broken(path, "cannot be read");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return broken(path, "are not a JSON object");
  Settings settings;
  if (const auto recent = json.find("recent"); recent != json.end()) {
    if (!recent->is_array()) return broken(path, "have a \"recent\" that is not a list");
    settings.recent = texts_of(*recent);
  }
  if (const auto muted = json.find("muted"); muted != json.end()) {
    if (!muted->is_array()) return broken(path, "have a \"muted\" that is not a list");
    settings.muted = texts_of(*muted);
  }
  if (const auto preferences = json.find("preferences"); preferences != json.end()) {
    if (const std::string wrong = read_preferences(*preferences, settings.preferences); !wrong.empty()) return broken(path, wrong.c_str());
  }
  return settings;
}

std::optional<Error> write_settings(const fs::path& path, const Settings& settings) {
  if (path.empty()) return std::nullopt;
  const Error cannot{path.string() + ": the settings cannot be saved; check the folder's permissions and free space."};
  std::error_code trouble;
  fs::create_directories(path.parent_path(), trouble);
  const fs::path beside = path.string() + ".new";
  std::ofstream file(beside, std::ios::binary);
  file << Json{{"recent", settings.recent}, {"muted", settings.muted}, {"preferences", preferences_json(settings.preferences)}}.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) return cannot;
  fs::rename(beside, path, trouble);
  if (trouble) return cannot;
  return std::nullopt;
}

}  // namespace gapscope
