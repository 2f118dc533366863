#pragma once
// A disk of a few megabytes: a file system in memory, in a child process with name spaces of its own.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temp_folder.h"

namespace gapscope::test {

inline bool mount_small_disk(const std::string& at, int megabytes) {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << fmt::format("{0} {0} 1", user);
    std::ofstream("/proc/self/gid_map") << fmt::format("{0} {0} 1", group);
  } else if (::unshare(CLONE_NEWNS) != 0) {
    return false;
  }
  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return ::mount("none", at.c_str(), "tmpfs", 0, fmt::format("size={}m", megabytes).c_str()) == 0;
}

// Runs `body` with the folder that is the disk, in the child; what it returns is empty when all is well. False where
// nothing may be mounted; `trouble` says what went wrong, a signal among it.
template <class Body>
bool on_small_disk(int megabytes, std::string& trouble, Body body) {
  constexpr int kMayNot = 77;
  const TempFolder folder;
  const std::string disk = (folder.path() / "disk").string(), said = (folder.path() / "said").string();
  std::filesystem::create_directory(disk);
  std::cout << std::flush;  // or the child says it too
  const pid_t child = ::fork();
  if (child == 0) {
    if (!mount_small_disk(disk, megabytes)) ::_exit(kMayNot);
    const std::string wrong = body(disk);
    { std::ofstream(said) << wrong; }
    ::_exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kMayNot) {
    std::cout << "SKIPPED: nothing may be mounted here, so there is no small disk.\n";
    return false;
  }
  trouble.clear();
  if (WIFSIGNALED(status)) trouble = fmt::format("signal {}", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) std::getline(std::ifstream(said), trouble);
  return true;
}

}  // namespace gapscope::test
