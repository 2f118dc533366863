#include "app/serve/server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/serve/sockets/connection.h"
#include "core/base/parallel.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostRequests = 1000;  // of a connection

// Connections that have no thread to themselves are refused by the one that accepts.
thread_local bool is_refusing = false;

// A thread for each connection, which takes the next one when it ends. Where all have one, `make_room` is asked to end another.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  using Task = std::function<void()>;
  explicit ConnectionThreads(std::function<bool()> make_room) : make_room_(std::move(make_room)) {}
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(Task()));  // void in 0.11, bool in 0.18

  Enqueued enqueue(Task task) override {
    if (!hand_over(task)) {
      is_refusing = true;
      task();
      is_refusing = false;
    }
    return Enqueued(true);
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    threads_.clear();
  }

 private:
  bool hand_over(const Task& task) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= idle_ && !add_thread() && !make_room_()) return false;
    waiting_.push_back(task);
    changed_.notify_one();
    return true;
  }
  bool add_thread() {
    if (threads_.size() >= kMostConnections) return false;
    try {
      threads_.emplace_back([this] { run(); }, []() noexcept {});
    } catch (const std::system_error&) {
      return false;
    }
    ++idle_;
    return true;
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Task task = std::move(waiting_.front());
      waiting_.pop_front();
      --idle_;
      lock.unlock();
      task();
      lock.lock();
      ++idle_;
    }
  }

  const std::function<bool()> make_room_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::size_t idle_ = 0;  // threads without a connection
  bool is_over_ = false;
  std::vector<Thread> threads_;  // last: they use the rest
};

// Not SO_REUSEPORT, as the library has it: a second server would share the port in silence.
void reuse_address(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

void put_out(const WebHost& host, const WebAnswer& answer, httplib::Response& out) {
  out.status = answer.status;
  for (const auto& [name, value] : answer.headers) {
    out.headers.erase(name);  // one that every answer has
    out.set_header(name, value);
  }
  if (!answer.file) return out.set_content(answer.body, answer.type);
  if (answer.bytes == 0) return out.set_content("", answer.type);
  out.set_content_provider(static_cast<std::size_t>(answer.bytes), answer.type,
                           [read = host.read, file = answer.file, offset = answer.offset](std::size_t at, std::size_t bytes,
                                                                                          httplib::DataSink& sink) {
                             const std::string piece = read(*file, offset + at, bytes);
                             return !piece.empty() && sink.write(piece.data(), piece.size());
                           });
}

WebAnswer plain(int status, std::string sentence) { return {status, "text/plain; charset=utf-8", std::move(sentence)}; }

// How it is called differs between the versions of Debian 12 (0.11) and 13 (0.18).
using ProcessOld = bool (httplib::Server::*)(httplib::Stream&, bool, bool&, const std::function<void(httplib::Request&)>&);

class Server : public httplib::Server {
 public:
  explicit Server(WebHost host) : host_(std::move(host)) {
    new_task_queue = [this] { return new ConnectionThreads([this] { return end_longest_waiting(); }); };
    set_socket_options(reuse_address);
    httplib::Headers headers;
    for (const auto& [name, value] : host_.headers) headers.emplace(name, value);
    set_default_headers(headers);
    set_keep_alive_max_count(kMostRequests);
    set_tcp_nodelay(true);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
  }

  // The library lets five wait to be accepted; more at once would be answered seconds later. After bind.
  void let_more_wait() { ::listen(svr_sock_, SOMAXCONN); }
  // Those who wait for bytes wait no longer.
  void cut_off() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    for (const auto& [socket, since] : open_) ::shutdown(socket, SHUT_RDWR);
  }
  bool is_over() const { return is_over_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Of those that have asked for nothing yet, or for nothing more; what has come of a request is still answered. False: all are
  // being answered.
  bool end_longest_waiting() {
    const std::lock_guard lock(mutex_);
    const auto longest =
        std::min_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (longest == open_.end() || longest->second == Clock::time_point::max()) return false;
    ::shutdown(longest->first, SHUT_RD);
    longest->second = Clock::time_point::max();
    return true;
  }
  // Whether its request is awaited, from now on.
  void set_waiting(const Connection& connection, bool waits) {
    const std::lock_guard lock(mutex_);
    open_[connection.socket()] = waits ? Clock::now() : Clock::time_point::max();
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket);
    try {
      serve(connection);
    } catch (...) {
      host_.failed();
    }
    const std::lock_guard lock(mutex_);
    open_.erase(socket);
    return true;
  }

  void serve(Connection& connection) {
    if (is_refusing) return connection.refuse(503, "Service Unavailable");
    for (std::size_t left = kMostRequests; left > 0; --left) {
      set_waiting(connection, true);
      if (is_over_) return;
      const Connection::Got got = connection.next_head();
      set_waiting(connection, false);
      if (got == Connection::Got::too_long) return connection.refuse(431, "Request Header Fields Too Large");
      if (got == Connection::Got::no_request) return connection.refuse(400, "Bad Request");
      if (got == Connection::Got::too_slow) return connection.refuse(408, "Request Timeout");
      if (got != Connection::Got::head || !answer_one(connection, left == 1)) return;
    }
  }

  // Whether the connection continues.
  bool answer_one(Connection& connection, bool is_last) {
    current_ = &connection;
    bool closed = is_last || connection.head().has_body;
    const bool done = process(connection, closed, closed, &Server::process_request);
    current_ = nullptr;
    return done && !closed;
  }

  template <class Process>
  bool process(Connection& connection, bool close, bool& closed, Process call) {
    bool ends = false;
    bool done = false;
    if constexpr (std::is_same_v<Process, ProcessOld>)
      done = (this->*call)(connection, close, ends, nullptr);
    else
      done = (this->*call)(connection, "", 0, "", 0, close, ends, nullptr);
    closed = close || ends;
    return done;
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      return put_out(host_, plain(405, "Only GET and HEAD are answered."), response);
    }
    const RequestHead& head = current_->head();
    if (head.hosts != 1) return put_out(host_, plain(400, "A request names one host."), response);
    const auto header = [&](const char* name) { return request.get_header_value(name); };
    put_out(host_,
            host_.answer({request.target, head.host, head.origin, head.cookie, head.range, header("If-Range"),
                          header("If-None-Match"), [connection = current_] { return connection->is_gone(); }}),
            response);
  }

  const WebHost host_;
  std::mutex mutex_;
  std::map<int, Clock::time_point> open_;  // sockets, with since when each waits for a request: max() where it does not
  std::atomic<bool> is_over_{false};
  static thread_local Connection* current_;  // whose request is answered on this thread
};

thread_local Connection* Server::current_ = nullptr;

class Listener : public WebServer {
 public:
  explicit Listener(WebHost host) : server_(std::move(host)) {}

  int bind(const std::string& address, int port) override {
    errno = 0;
    const int got = port == 0 ? server_.bind_to_any_port(address) : server_.bind_to_port(address, port) ? port : -1;
    if (got > 0) server_.let_more_wait();
    return got;
  }

  bool run() override {
    const bool done = server_.listen_after_bind();
    has_ended_ = true;
    return done || server_.is_over();
  }

  void stop() override {
    while (!server_.is_running() && !has_ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server_.cut_off();
    server_.stop();
  }

 private:
  Server server_;
  std::atomic<bool> has_ended_{false};
};

}  // namespace
}  // namespace gapscope

// What the module gives.
extern "C" [[gnu::visibility("default")]] gapscope::WebServer* gapscope_make_web_server(gapscope::WebHost&& host);
extern "C" gapscope::WebServer* gapscope_make_web_server(gapscope::WebHost&& host) {
  return std::make_unique<gapscope::Listener>(std::move(host)).release();
}
