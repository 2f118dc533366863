#include "app/attach/process_facts.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace gapscope::attach {
namespace {

constexpr std::size_t kLongestFile = 1 << 20;
constexpr int kMostLevels = 4;  // from a launcher by a shell or two to a rank

std::string read_start(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestFile, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

std::string file_of(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// Of an environment "A=1\0B=2\0"; empty: not there.
std::string_view value_of(std::string_view environment, std::string_view key) {
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = environment.substr(at, end - at);
    at = end + 1;
    if (entry.size() > key.size() && entry.starts_with(key) && entry[key.size()] == '=') return entry.substr(key.size() + 1);
  }
  return {};
}

// 0 or more; -1: the text is no such number.
int number_of(std::string_view text) {
  int number = -1;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && rest == text.data() + text.size() && number >= 0 ? number : -1;
}

int rank_of(pid_t pid) { return number_of(value_of(read_start(file_of(pid, "environ")), "RANK")); }

// A job that meets at this machine's own address has all its ranks here.
int ranks_here(std::string_view environment) {
  const std::string_view address = value_of(environment, "MASTER_ADDR");
  const bool is_here = address == "localhost" || address == "127.0.0.1" || address == "::1";
  const int here = number_of(value_of(environment, "LOCAL_WORLD_SIZE"));
  return std::max(0, here < 0 && is_here ? number_of(value_of(environment, "WORLD_SIZE")) : here);
}

// What follows the name in "7 (name) S 1 ..."; the name may hold anything.
std::string state_of(pid_t pid) {
  const std::string status = read_start(file_of(pid, "stat"));
  const std::size_t name_end = status.rfind(") ");
  return name_end == std::string::npos ? std::string() : status.substr(name_end + 2);
}

// Adds the children with a rank, and those of children without one. No further: it is done at each poll, and clients wait.
void add_ranks_below(pid_t pid, int levels, std::vector<pid_t>& ranks) {
  std::error_code wrong;
  for (std::filesystem::directory_iterator at(file_of(pid, "task"), wrong), end; !wrong && at != end; at.increment(wrong)) {
    std::istringstream children(read_start(at->path().string() + "/children"));
    for (pid_t child = 0; children >> child;)
      if (rank_of(child) >= 0)
        ranks.push_back(child);
      else if (levels > 1)
        add_ranks_below(child, levels - 1, ranks);
  }
}

}  // namespace

ProcessFacts look_at_process(pid_t pid) {
  const std::string environment = read_start(file_of(pid, "environ"));
  ProcessFacts facts{read_start(file_of(pid, "cmdline")), number_of(value_of(environment, "RANK")), 0, {}, {}};
  while (!facts.command.empty() && facts.command.back() == '\0') facts.command.pop_back();
  std::replace(facts.command.begin(), facts.command.end(), '\0', ' ');
  if (facts.rank < 0) {
    add_ranks_below(pid, kMostLevels, facts.below);
    return facts;
  }
  facts.ranks_here = ranks_here(environment);
  facts.job_address.append(value_of(environment, "MASTER_ADDR")).append(":").append(value_of(environment, "MASTER_PORT"));
  return facts;
}

bool process_lives(pid_t pid) {
  if (kill(pid, 0) != 0) return errno == EPERM;
  const std::string state = state_of(pid);
  return state.empty() || (state[0] != 'Z' && state[0] != 'X');  // ended, and not yet waited for
}

}  // namespace gapscope::attach
