#pragma once
// The real recordings that tests walk over. Those of this project lie in tests/recordings and assets/traces and are always
// there: a missing one fails the test that wants it. Recordings by others are used where ../shared holds them, and a test that
// needs one of these says so and passes without.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace gapscope::test {

// With what is known to be true of them: truth*.json, NAME.table.csv (key_averages() as rows), NAME.table.txt (as PyTorch
// prints it).
inline std::filesystem::path recordings_folder() { return source_folder() / "tests/recordings"; }

inline std::filesystem::path shared_folder() { return source_folder().parent_path() / "shared"; }

inline bool has_shared(const char* test) {
  if (std::filesystem::exists(shared_folder() / "traces/public")) return true;
  std::cout << "SKIPPED: " << test << " needs the recordings of ../shared/traces, which are not here.\n";
  return false;
}

inline std::vector<std::filesystem::path> traces_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json.gz") || name.ends_with(".json.xz")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Every recording at hand, each once, in a fixed order.
inline std::vector<std::filesystem::path> real_traces() {
  std::vector<std::filesystem::path> all;
  for (const auto& folder : {recordings_folder(), recordings_folder() / "ranks", source_folder() / "assets/traces",
                             shared_folder() / "traces", shared_folder() / "traces/public"}) {
    for (const auto& path : traces_in(folder)) {
      const auto is_known = [&](const auto& other) { return other.filename() == path.filename(); };
      if (std::none_of(all.begin(), all.end(), is_known)) all.push_back(path);
    }
  }
  return all;
}

// The recording called `name` ("fsdp_rank0", with or without .json, .json.gz, .json.xz); empty when it is one by others that is
// not here.
inline std::filesystem::path recording_or_none(const std::string& name) {
  for (const auto& path : real_traces()) {
    const std::string file = path.filename().string(), plain = file.substr(0, file.find(".json"));
    if (name == file || name == plain || name == plain + ".json") return path;
  }
  return {};
}

// The same for a recording of this project.
inline std::filesystem::path recording(const std::string& name) {
  const auto path = recording_or_none(name);
  if (path.empty()) throw std::runtime_error("tests/recordings and assets/traces hold no " + name);
  return path;
}

// What is known about a recording lies in tests/recordings or alongside it: NAME + ending; empty when nothing is.
inline std::filesystem::path oracle_of(const std::filesystem::path& recording, const std::string& ending) {
  const std::string file = recording.filename().string(), name = file.substr(0, file.find(".json")) + ending;
  for (const auto& folder : {recordings_folder(), recording.parent_path()})
    if (std::filesystem::exists(folder / name)) return folder / name;
  return {};
}

}  // namespace gapscope::test
