#include "app/record/status.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

namespace gapscope {
namespace {

// Entries end with a zero byte, which neither a path nor a sentence holds.
constexpr char kTrace = 'T', kSentence = 'S', kEnd = '\0';

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }  // writev's interface is not const

template <std::size_t N>
bool write_parts(int file, const std::array<iovec, N>& parts) {
  std::size_t bytes = 0;
  for (const iovec& p : parts) bytes += p.iov_len;
  return writev(file, parts.data(), static_cast<int>(N)) == static_cast<ssize_t>(bytes);
}

bool append(const char* status, char kind, std::string_view text) {
  if (!status || !*status) return false;
  const int file =
      ::open(status, O_WRONLY | O_APPEND | O_CLOEXEC);  // it was made by the one who reads it, or is gone with them
  if (file < 0) return false;
  const bool written = write_parts(file, std::array{part({&kind, 1}), part(text), part({&kEnd, 1})});
  close(file);
  return written;
}

// One line without control characters; needs no memory.
class Line {
 public:
  void add(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && length_ + 1 < bytes_.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]), before = static_cast<unsigned char>(i > 0 ? text[i - 1] : 0);
      const bool control = c < 0x20 || c == 0x7F || (before == 0xC2 && c < 0xA0);
      bytes_[length_++] = control ? '?' : text[i];
    }
  }
  std::string_view end() {
    bytes_[length_] = '\n';
    return {bytes_.data(), length_ + 1};
  }

 private:
  std::array<char, 4096> bytes_{};
  std::size_t length_ = 0;
};

// A program that has closed its stderr, or whose reader is gone, must not die of our word.
void say(std::string_view text) {
  Line line;
  line.add("gapscope record: ");
  line.add(text);
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  write_parts(STDERR_FILENO, std::array{part(line.end())});
  const timespec at_once{};
  if (!was_pending) sigtimedwait(&pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void tell_plainly(const char* status, const char* sentence) noexcept {
  if (!append(status, kSentence, sentence)) say(sentence);
}

void tell_sentence(const std::string& status, std::string_view sentence) {
  if (sentence.empty()) return;
  if (!append(status.c_str(), kSentence, sentence)) say(sentence);
}

void tell_trace(const std::string& status, const RecordedTrace& trace) {
  if (!append(status.c_str(), kTrace, std::to_string(trace.rank) + " " + trace.path)) say("Recorded " + trace.path + ".");
}

Status read_status(const std::string& path) {
  Status status;
  std::ifstream file(path, std::ios::binary);
  for (std::string entry; std::getline(file, entry, kEnd);) {
    if (entry.starts_with(kSentence)) status.sentences.push_back(entry.substr(1));
    const std::size_t space = entry.find(' ');
    if (!entry.starts_with(kTrace) || space == std::string::npos) continue;
    status.traces.push_back({entry.substr(space + 1), std::strtoll(entry.c_str() + 1, nullptr, 10)});
  }
  return status;
}

}  // namespace gapscope
