#include "app/record/piece_name.h"

#include <dirent.h>
#include <limits.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <tuple>

#include "core/base/temporary_file.h"

namespace gapscope {
namespace {

constexpr std::string_view kEnding = ".partial", kRank = "rank";
constexpr std::size_t kLongestHost = 32;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_word_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// All of `text`, or none.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? number_of(value) : std::nullopt;
}

// Where launchers say a process's rank and how many there are: torchrun's first, which may itself stand under another.
struct Launcher {
  const char *rank, *size;
};
constexpr std::array kLaunchers = {Launcher{"RANK", "WORLD_SIZE"}, Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   Launcher{"PMI_RANK", "PMI_SIZE"}, Launcher{"SLURM_PROCID", "SLURM_NTASKS"},
                                   Launcher{"LOCAL_RANK", "LOCAL_WORLD_SIZE"}};

// Takes what follows the last dot off the text.
std::string_view take_last(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = text.substr(dot + 1);
  text = text.substr(0, dot);
  return last;
}

}  // namespace

std::string new_run() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random))
    random = static_cast<std::uint64_t>(now()) ^ static_cast<std::uint64_t>(getpid()) << 44;
  std::string run(16, '0');
  for (std::size_t i = 0; i < run.size(); ++i) run[i] = "0123456789abcdef"[random >> (4 * i) & 15];
  return run;
}

JobPlace place_in_job() {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<std::int64_t> rank = number_in(launcher.rank);
    if (!rank) continue;
    const std::int64_t size = number_in(launcher.size).value_or(-1);
    return size == 1 ? JobPlace{} : JobPlace{*rank, size};
  }
  return {};
}

std::string path_of_rank(const std::string& path, std::int64_t rank) {
  return rank < 0 ? path : before_ending(path, "_rank" + std::to_string(rank));
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> text{};
  gethostname(text.data(), text.size() - 1);
  std::string host = std::string(text.data()).substr(0, kLongestHost);
  std::replace_if(
      host.begin(), host.end(), [](char c) { return !is_word_letter(c); }, '_');
  return host.empty() ? "host" : host;
}

PieceOwner this_process(const std::string& run) {
  return {run.empty() ? "alone" : run, host_name(), getpid(), now(), place_in_job().rank};
}

std::string piece_path(const std::string& path, const PieceOwner& owner, int attempt) {
  std::string ending =
      "." + owner.run + "." + owner.host + "." + std::to_string(owner.process) + "." + std::to_string(owner.start + attempt);
  if (owner.rank >= 0) ending.append(".").append(kRank).append(std::to_string(owner.rank));
  ending += kEnding;
  const std::size_t name = path.rfind('/') + 1;  // 0 where there is no slash
  return path.substr(0, name) + path.substr(name, NAME_MAX - std::min<std::size_t>(ending.size(), NAME_MAX)) + ending;
}

std::optional<Piece> read_piece_name(std::string_view file_name) {
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  std::string_view rest = file_name.substr(0, file_name.size() - kEnding.size());
  Piece piece;
  std::string_view last = take_last(rest);
  if (last.starts_with(kRank)) {
    const std::optional<std::int64_t> rank = number_of(last.substr(kRank.size()));
    if (!rank) return std::nullopt;
    piece.owner.rank = *rank;
    last = take_last(rest);
  }
  const std::optional<std::int64_t> start = number_of(last), process = number_of(take_last(rest));
  piece.owner.host = take_last(rest);
  piece.owner.run = take_last(rest);
  if (!start || !process || piece.owner.host.empty() || piece.owner.run.empty() || rest.empty()) return std::nullopt;
  piece.owner.start = *start;
  piece.owner.process = *process;
  piece.name = rest;
  return piece;
}

std::vector<Piece> pieces_beside(const std::string& path) {
  std::vector<Piece> pieces;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  DIR* opened = opendir(folder.empty() ? "." : folder.c_str());
  if (!opened) return pieces;
  while (const dirent* entry = readdir(opened)) {
    std::optional<Piece> piece = read_piece_name(entry->d_name);
    if (!piece) continue;
    piece->path = folder + entry->d_name;
    pieces.push_back(std::move(*piece));
  }
  closedir(opened);
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.owner.rank, a.owner.process, a.path) < std::tie(b.owner.rank, b.owner.process, b.path);
  });
  return pieces;
}

}  // namespace gapscope
