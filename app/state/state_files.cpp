#include "app/state/state_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/failure.h"
#include "core/base/output_file.h"
#include "core/base/parse_json.h"
#include "core/base/temporary_file.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr off_t kLargest = off_t{64} << 20;  // what is larger is no state of ours
constexpr std::chrono::milliseconds kLockPatience{500};

}  // namespace

Result<std::optional<Json>> read_state(const fs::path& file) {
  struct stat info {};
  if (file.empty() || ::stat(file.c_str(), &info) != 0) {
    if (file.empty() || errno == ENOENT || errno == ENOTDIR) return std::optional<Json>();
    return Error{std::string("cannot be read (") + std::strerror(errno) + ")"};
  }
  if (S_ISCHR(info.st_mode)) return std::optional<Json>();
  if (!S_ISREG(info.st_mode)) return Error{"cannot be read (not a file)"};
  if (info.st_size > kLargest) return Error{"cannot be read (too large)"};
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad() || (text.empty() && info.st_size != 0)) return Error{"cannot be read"};
  Result<Json> json = parse_json(text);
  if (!json) return Error{"are " + json.error().message};
  if (!json->is_object()) return Error{"are not a JSON object"};
  return std::optional(std::move(*json));
}

Result<std::string> move_aside(const fs::path& file) {
  constexpr int kMost = 1000;
  for (int n = 1; n <= kMost; ++n) {
    const std::string name = file.string() + ".broken-" + std::to_string(n);
    const int why = rename_unless_taken(AT_FDCWD, file.c_str(), name.c_str());
    if (why == 0) return name;
    if (why != EEXIST) return Error{std::strerror(why)};
  }
  return Error{std::strerror(EEXIST)};
}

FolderLock::FolderLock(const fs::path& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  while (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

StateWritten write_state(const fs::path& file, const std::string& text, const char* what) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const Result<std::string> written = write_file(file.string(), text);
  if (written) return {};
  return {false, file.string() + ": " + what + " cannot be saved; check the folder's permissions and free space."};
}

StateWriter::StateWriter(std::chrono::milliseconds rest) : rest_(rest) {
  try {
    thread_ = Thread([this](const std::stop_token& stop) { run(stop); }, []() noexcept {});
  } catch (...) {
    // No thread can be created: the destructor writes all.
  }
}

StateWriter::~StateWriter() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  write_all(std::move(waiting_), news_);
  if (!news_.empty()) std::fprintf(stderr, "gapscope: %s\n", printable(news_).c_str());
}

void StateWriter::put(const fs::path& file, Write write) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_fresh_) due_ = std::chrono::steady_clock::now() + rest_;
    has_fresh_ = true;
    std::erase_if(waiting_, [&](const Waiting& w) { return w.file == file; });
    waiting_.push_back({file, std::move(write)});
  }
  changed_.notify_one();
}

void StateWriter::flush() {
  {
    const std::lock_guard lock(mutex_);
    has_fresh_ = at_once_ = !waiting_.empty();
  }
  changed_.notify_one();
}

std::string StateWriter::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void StateWriter::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return has_fresh_; })) {
    changed_.wait_until(lock, stop, due_, [this] { return at_once_; });
    if (stop.stop_requested()) return;  // the destructor writes what waits
    has_fresh_ = at_once_ = false;
    std::vector<Waiting> now = std::exchange(waiting_, {});
    lock.unlock();
    std::string news;
    std::vector<Waiting> failed = write_all(std::move(now), news);
    lock.lock();
    if (!news.empty()) news_ = std::move(news);
    for (Waiting& w : failed)
      if (std::none_of(waiting_.begin(), waiting_.end(), [&](const Waiting& newer) { return newer.file == w.file; }))
        waiting_.push_back(std::move(w));
  }
}

// Those that could not be written.
std::vector<StateWriter::Waiting> StateWriter::write_all(std::vector<Waiting> waiting, std::string& news) {
  std::vector<Waiting> failed;
  for (Waiting& w : waiting) {
    StateWritten written{false, {}};
    try {
      written = w.write();
    } catch (...) {
      // There may be memory the next time.
      written.say = current_failure("write", w.file.string()).message;
    }
    if (!written.say.empty()) news = std::move(written.say);
    if (!written.done) failed.push_back(std::move(w));
  }
  return failed;
}

}  // namespace gapscope
