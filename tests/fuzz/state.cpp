// Any bytes as the window's state files, which a person may edit: reading them ends in what is saved or in a sentence, what
// could not be understood is next to the file under another name, and what is written after that is read back the same.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <unistd.h>

#include "app/state/kept_files.h"
#include "app/state/settings.h"

namespace {

using namespace gapscope;
namespace fs = std::filesystem;

const fs::path& folder() {
  static const fs::path made = [] {
    std::string name = (fs::temp_directory_path() / "gapscope_fuzz_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return fs::path(name);
  }();
  return made;
}

void put(const fs::path& file, std::string_view text) { std::ofstream(file, std::ios::binary) << text; }

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_moved(const fs::path& file, std::string_view text) {
  const fs::path aside = file.string() + ".broken-1";
  if (text_of(aside) != text) std::abort();
  fs::remove(aside);
}

void try_settings(std::string_view text) {
  const fs::path path = folder() / "settings.json";
  put(path, text);
  SettingsFile file(path);
  std::string said;
  const Settings now = file.read(said);
  if (!file.write(now).done) std::abort();
  const auto back = read_settings(path);
  if (!back.ok() || back->recent != now.recent || back->muted != now.muted || back->preferences != now.preferences)
    std::abort();
  if (!said.empty()) check_moved(path, text);
}

void try_view(std::string_view text) {
  const fs::path path = folder() / "view.json";
  put(path, text);
  const auto kept = read_kept(path);
  if (!kept.ok()) return check_moved(path, text);
  if (!kept->has_value()) std::abort();
  const std::string once = kept_json(**kept, "/a.json");
  put(path, once);
  const auto back = read_kept(path);
  if (!back.ok() || !back->has_value() || kept_json(**back, "/a.json") != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_settings(text);
  try_view(text);
  return 0;
}
