#include <filesystem>

#include <fmt/format.h>

#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/base/trace_name.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace {

void add_folder(const std::string& folder, RankFiles& out) {
  std::error_code error;
  std::vector<std::string> found;
  for (const std::string& name : names_in(folder, error)) {
    std::error_code ignored;
    const std::string path = (std::filesystem::path(folder) / name).string();
    const auto what = std::filesystem::status(path, ignored);
    if (!is_trace_name(name) || std::filesystem::is_directory(what)) continue;
    if (std::filesystem::is_other(what))  // opening a pipe blocks until it has a writer
      out.problems.push_back(fmt::format("{} is a pipe or a device, no file: it is left out.", printable(path)));
    else
      found.push_back(path);
  }
  if (error)
    out.problems.push_back(fmt::format("{} cannot be listed: {}.", printable(folder), error.message()));
  else if (found.empty())
    out.problems.push_back(
        fmt::format("{} holds no trace: no file there ends in .json, .json.gz, .json.xz or .json.zst.", printable(folder)));
  out.files.insert(out.files.end(), found.begin(), found.end());
}

}  // namespace

RankFiles find_rank_files(const std::vector<std::string>& paths) {
  RankFiles out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      add_folder(path, out);
    else
      out.files.push_back(path);
  }
  return out;
}

}  // namespace gapscope
