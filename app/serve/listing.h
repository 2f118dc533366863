#pragma once
// What is below the folder that is served: recordings, and folders that hold the ranks of a run. Looked up anew each time,
// so that a recording is there as soon as it is written.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "app/mcp/allowed_folders.h"
#include "core/base/file_stamp.h"
#include "core/ranks/rank_head.h"

namespace gapscope {

struct ListedItem {
  std::string path;  // below the folder, any bytes; empty: the folder itself
  bool is_run = false;
  std::uint64_t bytes = 0;           // of all its files
  std::int64_t modified_ns = 0;      // of the newest, since 1970
  std::vector<std::string> ranks{};  // of a run: its files, as path, in the order of their ranks

  // What distinguishes its states.
  std::string key() const;
};

struct Listing {
  std::vector<ListedItem> items;  // newest first
  bool is_cut = false;            // there are more recordings than are listed
};

// What the beginnings of files say of their ranks; each is read once as long as it stays as it is.
class RankHeads {
 public:
  RankHead of(const std::string& path, const FileStamp& stamp);

 private:
  struct Known {
    FileStamp stamp;
    RankHead head;
  };
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

inline constexpr std::size_t kMostListed = 1000;

// Recordings that state different ranks of one world and lie in one folder are that folder's run; others are items of their
// own.
Listing list_recordings(const AllowedFolders& folders, RankHeads& heads, std::size_t most = kMostListed);

}  // namespace gapscope
