#pragma once
// A folder that is swapped for a link and back, as fast as it goes: code that looks at a name and opens it afterwards opens
// something else at times.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace gapscope::test {

// How often a race is tried: 200 times, or as often as GAPSCOPE_SWAPS says.
inline int swaps_wanted() {
  const char* wanted = std::getenv("GAPSCOPE_SWAPS");
  return wanted ? std::atoi(wanted) : 200;
}

class SwappedFolder {
 public:
  // `folder` and `link` lie on one file system, and both are there.
  SwappedFolder(const std::filesystem::path& folder, const std::filesystem::path& link)
      : thread_([this, a = folder.string(), b = link.string()] {
          constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
          while (!ends_ && ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), kExchange) == 0) ++count_;
        }) {}
  ~SwappedFolder() {
    ends_ = true;
    thread_.join();
  }
  SwappedFolder(const SwappedFolder&) = delete;
  SwappedFolder& operator=(const SwappedFolder&) = delete;

  long count() const { return count_; }

 private:
  std::atomic<bool> ends_{false};
  std::atomic<long> count_{0};
  std::thread thread_;
};

}  // namespace gapscope::test
