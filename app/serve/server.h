#pragma once
// The sockets of `gapscope serve`: cpp-httplib with limits. What is answered is the site's.
#include <atomic>
#include <memory>
#include <string>

#include "app/serve/site.h"
#include "core/base/result.h"

namespace gapscope {

inline constexpr std::size_t kMostConnections = 256;  // a thread each; more are refused with 503

class WebServer {
 public:
  explicit WebServer(Site& site);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // The port; 0 takes any that is free. An Error says why not.
  Result<int> bind(const std::string& address, int port);
  // Until stop(); false where it can no longer listen.
  bool run();
  // From any thread, once; what is going out is cut off. Waits for run() to begin.
  void stop();

 private:
  class Server;
  std::unique_ptr<Server> server_;
  std::atomic<bool> has_ended_{false};
};

}  // namespace gapscope
