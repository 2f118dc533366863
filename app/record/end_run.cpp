#include "app/record/end_run.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace gapscope {
namespace {

namespace fs = std::filesystem;

// 0 where the folder is no process's.
pid_t process_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc{} && end == name.data() + name.size() ? process : 0;
}

// As it was when the process began: assignments, each with a zero byte behind it.
bool is_of_run(const fs::path& folder, const std::string& assignment) {
  std::ifstream file(folder / "environ", std::ios::binary);
  const std::string all = '\0' + std::string(std::istreambuf_iterator<char>(file), {});
  return all.find('\0' + assignment + '\0') != std::string::npos;
}

}  // namespace

bool end_run(const std::string& assignment, pid_t session, int signal) {
  bool has_any = false;
  std::error_code trouble;
  for (fs::directory_iterator at("/proc", trouble), end; !trouble && at != end; at.increment(trouble)) {
    const pid_t process = process_of(at->path());
    if (process > 0 && process != getpid() && getsid(process) == session && is_of_run(at->path(), assignment))
      has_any |= kill(process, signal) == 0;
  }
  return has_any;
}

}  // namespace gapscope
