#include "core/base/free_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gapscope {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

std::atomic<std::uint64_t> set_aside{0};

// The beginning of a small file of the system, without memory from the heap.
struct SmallFile {
  std::array<char, 2048> bytes;
  std::size_t size = 0;

  explicit SmallFile(const char* path) noexcept {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = ::read(fd, bytes.data(), bytes.size());
    ::close(fd);
    size = n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  std::string_view text() const { return {bytes.data(), size}; }
};

std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// Of a line of /proc/meminfo, in bytes.
std::optional<std::uint64_t> meminfo_bytes(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const auto kb = number_at(text.substr(at + key.size()));
  return kb ? std::optional(*kb * 1024) : std::nullopt;
}

std::uint64_t free_of_machine() {
  const SmallFile info("/proc/meminfo");
  const auto available = meminfo_bytes(info.text(), "MemAvailable:");
  if (!available) return kUnlimited;
  return *available + meminfo_bytes(info.text(), "SwapFree:").value_or(0);
}

// A container sees its own group at this place.
std::uint64_t free_of_group() {
  const auto most = number_at(SmallFile("/sys/fs/cgroup/memory.max").text());  // "max": none
  const auto now = number_at(SmallFile("/sys/fs/cgroup/memory.current").text());
  if (!most || !now) return kUnlimited;
  // Pages of files count as used, but make room when asked.
  const SmallFile stat("/sys/fs/cgroup/memory.stat");
  const std::size_t at = stat.text().find("\ninactive_file ");
  const std::uint64_t files = at == std::string_view::npos ? 0 : number_at(stat.text().substr(at + 15)).value_or(0);
  const std::uint64_t used = *now - std::min(*now, files);
  return *most - std::min(*most, used);
}

}  // namespace

std::uint64_t free_of_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const auto pages = number_at(SmallFile("/proc/self/statm").text());
  if (!pages) return kUnlimited;
  const std::uint64_t used = *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + set_aside.load();
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

std::uint64_t group_limit_bytes(std::string_view groups, const std::string& root) {
  std::uint64_t least = kUnlimited;
  while (!groups.empty()) {
    // "4:memory:/a/b" of version 1, "0::/a/b" of version 2.
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view kind = line.substr(first + 1, second - first - 1);
    if (kind != "memory" && !kind.empty()) continue;
    const std::string top = kind.empty() ? root : root + "/memory";
    std::string group(line.substr(second + 1));
    for (;;) {  // in a container the outer ones are not there, and the topmost is its own
      const std::string file = top + group + (kind.empty() ? "/memory.max" : "/memory.limit_in_bytes");
      least = std::min(least, number_at(SmallFile(file.c_str()).text()).value_or(kUnlimited));
      if (group.empty()) break;
      group.resize(std::min(group.rfind('/'), group.size() - 1));
    }
  }
  return least;
}

std::uint64_t whole_memory_bytes() {
  const std::uint64_t machine = meminfo_bytes(SmallFile("/proc/meminfo").text(), "MemTotal:").value_or(kUnlimited);
  return std::min(machine, group_limit_bytes(SmallFile("/proc/self/cgroup").text(), "/sys/fs/cgroup"));
}

void set_aside_below_limit(std::uint64_t bytes) noexcept { set_aside = bytes; }

std::uint64_t free_memory_bytes() noexcept { return std::min({free_of_machine(), free_of_group(), free_of_limit()}); }

}  // namespace gapscope
