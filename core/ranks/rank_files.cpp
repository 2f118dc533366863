#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/base/trace_name.h"
#include "core/load/archive.h"
#include "core/load/foreign.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace fs = std::filesystem;

namespace {

constexpr int kDeepest = 6;  // folders below the named one that are looked into
constexpr std::size_t kMostFolders = 2000;
constexpr std::size_t kMostNamed = 6;
constexpr std::size_t kMostLookedInto = 64;   // of an archive, where each is looked for
constexpr std::size_t kMostInArchive = 2048;  // each is looked for from the archive's begin: 1,000 empty ones take 4 s

// Paths of traces, by their folder: "" is the one that was named, "a/b" is below it.
using TracesByFolder = std::map<std::string, std::vector<std::string>>;

struct FolderLook {
  TracesByFolder traces;
  std::vector<std::string> archives;  // in the named folder itself
  std::vector<std::string> problems;
  std::vector<std::string> ignored;  // "config.json (with the key name)": JSON that is no trace
};

std::string joined(const std::string& above, const std::string& name) { return above.empty() ? name : above + '/' + name; }

// Folders below are looked into only where the named one holds no trace.
void look_into(const std::string& folder, FolderLook& out) {
  std::vector<std::string> level{""};
  std::size_t looked_at = 0;
  for (int depth = 0; depth <= kDeepest && !level.empty(); ++depth) {
    std::vector<std::string> next;
    for (const std::string& below : level) {
      if (++looked_at > kMostFolders) return;
      const fs::path here = below.empty() ? fs::path(folder) : fs::path(folder) / below;
      std::error_code error;
      for (const std::string& name : names_in(here.string(), error)) {
        std::error_code ignored;
        const std::string path = (here / name).string();
        const auto what = fs::status(path, ignored);
        if (fs::is_directory(what)) {
          if (!name.starts_with('.') && !fs::is_symlink(fs::symlink_status(path, ignored))) next.push_back(joined(below, name));
        } else if (is_trace_name(name) && fs::is_other(what)) {  // opening a pipe blocks until it has a writer
          if (depth == 0)
            out.problems.push_back(fmt::format("{} is a pipe or a device, not a file. It is left out.", printable(path)));
        } else if (is_trace_name(name)) {
          const std::string why = why_no_trace(path);
          if (why.empty())
            out.traces[below].push_back(path);
          else
            out.ignored.push_back(fmt::format("{} ({})", printable(joined(below, name)), why));
        } else if (depth == 0 && is_archive_name(name)) {
          out.archives.push_back(path);
        }
      }
      if (error && depth == 0)
        out.problems.push_back(fmt::format("{} cannot be listed: {}.", printable(folder), error.message()));
    }
    if (!out.traces.empty()) return;
    level = std::move(next);
  }
}

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostNamed); ++i)
    out += (i == 0 ? "" : i + 1 == texts.size() ? " and " : ", ") + texts[i];
  return texts.size() > kMostNamed ? out + fmt::format(" and {} more", texts.size() - kMostNamed) : out;
}

// A trace for each rank, in folders of their names ("rank0/trace.json", "rank1/trace.json") or of Ascend's.
bool is_folder_a_rank(const TracesByFolder& traces) {
  std::set<std::int64_t> ranks;
  for (const auto& [folder, files] : traces) {
    if (files.size() != 1) return false;
    std::int64_t rank = rank_from_name(folder);
    if (rank < 0) rank = rank_of_ascend(files.front());
    if (rank < 0) rank = read_rank_head(files.front()).rank;
    if (rank < 0 || !ranks.insert(rank).second) return false;
  }
  return ranks.size() > 1;
}

std::string folders_of(const TracesByFolder& traces) {
  std::string out;
  std::size_t n = 0;
  for (const auto& [folder, files] : traces) {
    if (n == kMostNamed) return out + fmt::format(" and {} more", traces.size() - kMostNamed);
    out += fmt::format("{}{} ({})", n == 0 ? "" : n + 1 == traces.size() ? " and " : ", ", printable(folder), files.size());
    ++n;
  }
  return out;
}

// Files of one folder, or of all where each is a rank's own.
void choose(const std::string& folder, const TracesByFolder& traces, bool is_archive, RankFiles& out) {
  std::string in_folders;
  if (traces.size() > 1 && !traces.contains("") && !is_folder_a_rank(traces)) {
    in_folders = fmt::format("{} holds no trace itself, but its folders do: {}.", printable(folder), folders_of(traces));
  } else if (traces.size() == 1 && traces.begin()->second.size() > 1 && !is_archive && !traces.contains("")) {
    in_folders = fmt::format("{} holds no trace itself, but its folder {} does.", printable(folder), folders_of(traces));
  }
  if (!in_folders.empty()) {
    out.problems.push_back(fmt::format("{} Open {}: gapscope ranks {}/{}.", in_folders, traces.size() > 1 ? "one" : "it",
                                       printable(folder), printable(traces.begin()->first)));
    out.in_folders = std::move(in_folders);
    return;
  }
  for (const auto& [below, files] : traces)
    if (below.empty() || !traces.contains("")) out.files.insert(out.files.end(), files.begin(), files.end());
}

void add_folder(const std::string& folder, RankFiles& out) {
  FolderLook look;
  look_into(folder, look);
  const std::size_t problems = look.problems.size();
  out.problems.insert(out.problems.end(), look.problems.begin(), look.problems.end());
  out.ignored.insert(out.ignored.end(), look.ignored.begin(), look.ignored.end());
  if (!look.traces.empty()) return choose(folder, look.traces, false, out);
  if (!look.archives.empty())
    out.files.insert(out.files.end(), look.archives.begin(), look.archives.end());
  else if (!look.ignored.empty())
    out.problems.push_back(fmt::format("{} holds no trace: its JSON is {}.", printable(folder), listed(look.ignored)));
  else if (problems == 0)
    out.problems.push_back(
        fmt::format("{} holds no trace: no file there ends in .json, .json.gz, .json.xz or .json.zst.", printable(folder)));
}

void add_archive(const std::string& archive, const std::vector<std::string>& found, RankFiles& out) {
  if (found.size() > kMostInArchive) {
    out.problems.push_back(
        fmt::format("{} holds {} traces; of an archive at most {} are compared. Unpack it, and open the folder.",
                    printable(archive), found.size(), kMostInArchive));
    return;
  }
  TracesByFolder traces;
  for (const std::string& path : found) {
    const std::string below = path.substr(archive.size() + 1);
    if (const std::string why = found.size() <= kMostLookedInto ? why_no_trace(path) : ""; !why.empty()) {
      out.ignored.push_back(fmt::format("{} ({})", printable(below), why));
      continue;
    }
    const std::size_t name = below.rfind('/');
    traces[name == below.npos ? "" : below.substr(0, name)].push_back(path);
  }
  choose(archive, traces, true, out);
}

}  // namespace

std::string RankFiles::ignored_words() const {
  return ignored.empty() ? "" : fmt::format("JSON that is no trace is left out: {}.", listed(ignored));
}

bool holds_several_traces(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || !traces_of_archive(path).empty();
}

RankFiles find_rank_files(const std::vector<std::string>& paths) {
  RankFiles out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      add_folder(path, out);
    else if (const std::vector<std::string> inside = traces_of_archive(path); !inside.empty())
      add_archive(path, inside, out);
    else
      out.files.push_back(path);
  }
  return out;
}

}  // namespace gapscope
