#include "app/serve/listing.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/readable_folders.h"

namespace gapscope {
namespace fs = std::filesystem;

namespace {

struct FoundFile {
  std::string path;  // absolute
  FileStamp stamp;   // of what is in an archive, the archive's
  RankHead head;
  bool is_in_archive = false;
};

// Whether two of them are different ranks of one world.
bool are_ranks(const std::vector<FoundFile>& files) {
  std::map<std::int64_t, std::set<std::int64_t>> ranks;
  for (const FoundFile& file : files)
    if (file.head.rank >= 0 && file.head.world_size > 1) ranks[file.head.world_size].insert(file.head.rank);
  return std::any_of(ranks.begin(), ranks.end(), [](const auto& world) { return world.second.size() > 1; });
}

std::string below(const fs::path& folder, const fs::path& path) {
  const std::string text = path.lexically_relative(folder).string();
  return text == "." ? "" : text;
}

void add_folder(const fs::path& top, const std::string& folder, const std::vector<FoundFile>& files, Listing& out) {
  const bool has_ranks = are_ranks(files);
  ListedItem run{below(top, folder), true, 0, 0};
  std::vector<const FoundFile*> ranks;
  for (const FoundFile& file : files) {
    if (has_ranks && file.head.rank >= 0) {
      ranks.push_back(&file);
      run.bytes = file.is_in_archive ? file.stamp.bytes : run.bytes + file.stamp.bytes;
      run.modified_ns = std::max(run.modified_ns, file.stamp.modified_ns);
    } else {
      out.items.push_back({below(top, file.path), false, file.stamp.bytes, file.stamp.modified_ns});
    }
  }
  if (!has_ranks) return;
  std::stable_sort(ranks.begin(), ranks.end(), [](const auto* a, const auto* b) { return a->head.rank < b->head.rank; });
  for (const FoundFile* rank : ranks) run.ranks.push_back(below(top, rank->path));
  out.items.push_back(std::move(run));
}

}  // namespace

std::string ListedItem::key() const { return fmt::format("{} {} {} {} {}", is_run, ranks.size(), bytes, modified_ns, path); }

RankHead RankHeads::of(const std::string& path, const FileStamp& stamp) {
  constexpr std::size_t kMostKnown = 4 * kMostListed;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(path); known != known_.end() && known->second.stamp == stamp) return known->second.head;
  }
  const RankHead head = read_rank_head(path);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert_or_assign(path, Known{stamp, head});
  return head;
}

Listing list_recordings(const AllowedFolders& folders, RankHeads& heads, std::size_t most) {
  std::vector<std::string> paths = folders.traces(most + 1);
  Listing out;
  out.is_cut = paths.size() > most;
  paths.resize(std::min(paths.size(), most));
  std::map<std::string, std::vector<FoundFile>> by_folder;
  for (const std::string& path : paths) {
    const auto [file, member] = split_member_path(path);
    if (const auto stamp = stamp_of(file))
      by_folder[fs::path(path).parent_path().string()].push_back({path, *stamp, heads.of(path, *stamp), !member.empty()});
  }
  for (const auto& [folder, files] : by_folder) add_folder(folders.first(), folder, files, out);
  std::stable_sort(out.items.begin(), out.items.end(),
                   [](const ListedItem& a, const ListedItem& b) { return a.modified_ns > b.modified_ns; });
  return out;
}

}  // namespace gapscope
