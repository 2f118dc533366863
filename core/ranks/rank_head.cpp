#include "core/ranks/rank_head.h"

#include <charconv>
#include <filesystem>
#include <system_error>

#include "core/base/readable_folders.h"
#include "core/load/archive.h"
#include "core/load/byte_source.h"

namespace gapscope {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{256} << 10;

// The number of a member, as a number or as text; also where the text was cut after it.
std::int64_t number_in(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return -1;
  std::size_t i = text.find(':', at + key.size());
  if (i == text.npos) return -1;
  for (++i; i < text.size() && (text[i] == ' ' || text[i] == '"' || text[i] == '\n' || text[i] == '\t'); ++i) {
  }
  std::int64_t value = -1;
  const auto [end, trouble] = std::from_chars(text.data() + i, text.data() + text.size(), value);
  return trouble == std::errc() && value <= kMostRanks ? value : -1;
}

std::string beginning_of(const std::string& path) {
  auto source = open_beginning(path);
  if (!source) return {};
  std::string text(kHeadBytes, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = (*source)->read(text.data() + size, text.size() - size);
    if (!got || *got == 0) break;
    size += *got;
  }
  text.resize(size);
  return text;
}

}  // namespace

RankHead rank_head(std::string_view distributed_info) {
  return {number_in(distributed_info, "\"rank\""), number_in(distributed_info, "\"world_size\"")};
}

RankHead read_rank_head(const std::string& path) {
  const std::string text = beginning_of(path);
  const std::string_view head = std::string_view(text).substr(0, text.find("\"traceEvents\""));
  const std::size_t info = head.find("\"distributedInfo\"");
  return info == head.npos ? RankHead{} : rank_head(head.substr(info));
}

std::int64_t rank_of_ascend(const std::string& path) {
  constexpr std::string_view kInfo = "profiler_info_";
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.filename() != "ASCEND_PROFILER_OUTPUT") return -1;
  std::error_code ignored;
  for (const std::string& name : names_in(folder.parent_path().string(), ignored)) {
    std::int64_t rank = -1;
    if (!name.starts_with(kInfo)) continue;
    const auto [end, trouble] = std::from_chars(name.data() + kInfo.size(), name.data() + name.size(), rank);
    if (trouble == std::errc() && std::string_view(end) == ".json" && rank >= 0 && rank <= kMostRanks) return rank;
  }
  return -1;
}

const std::string& lowest_rank(const std::vector<std::string>& files) {
  std::size_t lowest = 0;
  std::int64_t rank = -1;
  for (std::size_t i = 0; i < files.size() && files.size() > 1; ++i)
    if (const std::int64_t said = read_rank_head(files[i]).rank; said >= 0 && (rank < 0 || said < rank))
      lowest = i, rank = said;
  return files[lowest];
}

bool are_ranks_of_a_run(const std::vector<std::string>& paths) {
  if (paths.size() != 2) return paths.size() > 2;
  const RankHead a = read_rank_head(paths[0]), b = read_rank_head(paths[1]);
  return a.rank >= 0 && b.rank >= 0 && a.rank != b.rank && a.world_size > 1 && a.world_size == b.world_size;
}

}  // namespace gapscope
