#include "tests/support/real_traces.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/load/load_trace.h"

namespace gapscope::test {

std::filesystem::path recordings_folder() { return source_folder() / "tests/recordings"; }

std::filesystem::path shared_folder() { return source_folder().parent_path() / "shared"; }

bool has_shared(const char* test) {
  if (std::filesystem::exists(shared_folder() / "traces/public")) return true;
  std::cout << "SKIPPED: " << test << " needs the recordings of ../shared/traces, which are not here.\n";
  return false;
}

std::vector<std::filesystem::path> traces_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json.gz") || name.ends_with(".json.xz")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

const std::vector<std::filesystem::path>& real_traces() {
  static const std::vector<std::filesystem::path> traces = [] {
    std::vector<std::filesystem::path> all;
    for (const auto& folder : {recordings_folder(), recordings_folder() / "ranks", source_folder() / "assets/traces",
                               shared_folder() / "traces", shared_folder() / "traces/public"}) {
      for (const auto& path : traces_in(folder)) {
        const auto is_known = [&](const auto& other) { return other.filename() == path.filename(); };
        if (std::none_of(all.begin(), all.end(), is_known)) all.push_back(path);
      }
    }
    return all;
  }();
  return traces;
}

std::filesystem::path recording_or_none(const std::string& name) {
  for (const auto& path : real_traces()) {
    const std::string file = path.filename().string(), plain = file.substr(0, file.find(".json"));
    if (name == file || name == plain || name == plain + ".json") return path;
  }
  return {};
}

std::filesystem::path recording(const std::string& name) {
  const auto path = recording_or_none(name);
  if (path.empty()) throw std::runtime_error("tests/recordings and assets/traces hold no " + name);
  return path;
}

namespace {

std::shared_ptr<const Trace> load(const std::filesystem::path& path, const LoadOptions& options) {
  const auto result = load_trace(path.string(), options);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return *result;
}

}  // namespace

std::shared_ptr<const Trace> load_once(const std::filesystem::path& path) {
  static std::map<std::filesystem::path, std::shared_ptr<const Trace>> loaded;  // tests run one after the other
  std::shared_ptr<const Trace>& trace = loaded[path];
  if (!trace) trace = load(path, {});
  return trace;
}

std::shared_ptr<const Trace> load_plain(const std::filesystem::path& path, std::optional<StepTime> step_time) {
  LoadOptions options;
  options.stated.as_recorded = false;
  options.stated.step_time = step_time;
  return load(path, options);
}

std::filesystem::path oracle_of(const std::filesystem::path& recording, const std::string& ending) {
  const std::string file = recording.filename().string(), name = file.substr(0, file.find(".json")) + ending;
  for (const auto& folder : {recordings_folder(), recording.parent_path()})
    if (std::filesystem::exists(folder / name)) return folder / name;
  return {};
}

}  // namespace gapscope::test
