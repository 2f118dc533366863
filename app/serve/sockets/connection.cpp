#include "app/serve/sockets/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace gapscope {
namespace {

using namespace std::chrono_literals;

constexpr auto kHeadWithin = 10s;  // of the connection's begin, or of the answer before
constexpr auto kPiecesWithin = 20s;
constexpr auto kAnswerWithin = 60s;  // and a second more for so many bytes that were taken:
constexpr std::size_t kLeastBytesASecond = 10'000;

}  // namespace

Connection::Connection(int socket) : socket_(socket) {
  // The commands that are run for others are not to hold it open.
  ::fcntl(socket_, F_SETFD, FD_CLOEXEC);
}

Connection::~Connection() {
  // What was asked and not read would make the system drop the answer, so it is read, as far as it has come.
  ::shutdown(socket_, SHUT_WR);
  std::array<char, 4096> ignored;
  for (int i = 0; i < 16 && ::recv(socket_, ignored.data(), ignored.size(), MSG_DONTWAIT) > 0; ++i) {
  }
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
}

bool Connection::wait_for(short events, Clock::time_point until) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd watched{socket_, events, 0};
    const int got = ::poll(&watched, 1, static_cast<int>(left));
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

Connection::Got Connection::next_head() {
  const auto until = Clock::now() + kHeadWithin;
  std::array<char, 4096> piece;
  std::size_t bytes = 0;
  while ((bytes = head_bytes(rest_)) == std::string::npos) {
    if (rest_.size() > kMostHeadBytes) return Got::too_long;
    if (!wait_for(POLLIN, until)) return rest_.empty() ? Got::nothing : Got::too_slow;
    const ssize_t got = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Got::nothing;
    rest_.append(piece.data(), static_cast<std::size_t>(got));
  }
  if (bytes > kMostHeadBytes) return Got::too_long;
  head_ = prepared_head(std::string_view(rest_).substr(0, bytes));
  rest_.erase(0, bytes);
  at_ = written_ = 0;
  began_ = Clock::now();
  return head_.is_plain ? Got::head : Got::no_request;
}

bool Connection::is_gone() const {
  char ignored = 0;
  const ssize_t got = ::recv(socket_, &ignored, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void Connection::refuse(int status, std::string_view reason) {
  began_ = Clock::now();
  const std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Length: 0\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n\r\n", status, reason);
  ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t Connection::read(char* into, std::size_t size) {
  const std::size_t now = std::min(size, head_.text.size() - at_);
  std::memcpy(into, head_.text.data() + at_, now);
  at_ += now;
  return static_cast<ssize_t>(now);
}

ssize_t Connection::write(const char* text, std::size_t size) {
  for (;;) {
    const ssize_t sent = ::send(socket_, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      written_ += static_cast<std::size_t>(sent);
      return sent;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    const auto whole = began_ + kAnswerWithin + std::chrono::seconds(written_ / kLeastBytesASecond);
    if (!wait_for(POLLOUT, std::min<Clock::time_point>(Clock::now() + kPiecesWithin, whole))) return -1;
  }
}

// Not asked for here.
void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}
void Connection::get_local_ip_and_port(std::string& ip, int& port) const { get_remote_ip_and_port(ip, port); }

}  // namespace gapscope
