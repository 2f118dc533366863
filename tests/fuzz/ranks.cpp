// Any bytes, cut at the character 30 into files, as the recordings of one run: their report is the same whether one file is
// read at a time or three, and what a rank comes to is the same after it was sent to another process.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "app/cli/ranks.h"
#include "core/ranks/rank_bytes.h"
#include "core/ranks/run_report.h"

namespace {

using namespace gapscope;

constexpr std::size_t kMostFiles = 4;

const std::string& folder() {
  static const std::string made = [] {
    std::string name = (std::filesystem::temp_directory_path() / "gapscope_fuzz_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return made;
}

std::vector<std::string> files_of(std::string_view text) {
  std::vector<std::string> files;
  for (std::size_t at = 0; at <= text.size() && files.size() < kMostFiles;) {
    const std::size_t end = std::min(text.find('\x1e', at), text.size());
    files.push_back(folder() + "/rank" + std::to_string(files.size()) + ".json");
    std::ofstream(files.back(), std::ios::binary) << text.substr(at, end - at);
    at = end + 1;
  }
  return files;
}

std::string report_of(const std::vector<std::string>& files, int at_once) {
  LocalReader reader({.at_once = at_once});
  const RunReport report = analyze_run(files, reader, ClockAlignment::collectives);
  return ranks_json(report) + ranks_text(report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)gapscope::files_from(text);
  const std::vector<std::string> files = files_of(text);
  if (report_of(files, 1) != report_of(files, 3)) std::abort();
  gapscope::LocalReader reader({.at_once = 1});
  const std::string sent = gapscope::to_bytes(reader.read(files));
  const auto received = gapscope::files_from(sent);
  if (!received || gapscope::to_bytes(*received) != sent) std::abort();
  return 0;
}
