#pragma once
// One client's socket within limits of size and time, as cpp-httplib reads and writes it: of a request it sees the whole head
// or nothing. A client that sends or takes slowly is cut off.
#include <chrono>
#include <string>
#include <string_view>

#include <httplib.h>

#include "app/serve/request_head.h"

namespace gapscope {

class Connection : public httplib::Stream {
 public:
  // Closes the socket at the end.
  explicit Connection(int socket);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Got { head, nothing, too_long, too_slow, no_request };
  Got next_head();
  const RequestHead& head() const { return head_; }
  // Whether the other side has left.
  bool is_gone() const;
  // An answer without a page, for what is no request.
  void refuse(int status, std::string_view reason);

  bool is_readable() const override { return at_ < head_.text.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* into, std::size_t size) override;
  ssize_t write(const char* text, std::size_t size) override;
  using httplib::Stream::write;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool wait_for(short events, Clock::time_point until) const;

  int socket_;
  std::string rest_;  // read, and no part of head_
  RequestHead head_;
  std::size_t at_ = 0;         // in head_, read by the library
  Clock::time_point began_{};  // the answer
  std::size_t written_ = 0;    // of it
};

}  // namespace gapscope
