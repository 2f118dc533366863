#pragma once
// The sockets of `gapscope serve`: cpp-httplib with limits. What is answered is the site's.
//
// They are a module, libgapscope_serve.so, loaded when something is served: cpp-httplib brings OpenSSL and brotli along, which
// take as long to load as all other libraries of the program together. The module has no code of the program: it is handed what
// it needs.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/serve/site.h"
#include "core/base/result.h"

namespace gapscope {

inline constexpr std::size_t kMostConnections = 256;  // a thread each

struct WebHost {
  std::function<WebAnswer(const WebRequest&)> answer;  // throws nothing
  std::string (*read)(const ServedFile&, std::uint64_t offset, std::uint64_t bytes) = nullptr;
  std::function<void()> failed;                                // called in a catch block
  std::vector<std::pair<std::string, std::string>> headers{};  // of every answer
};

class WebServer {
 public:
  virtual ~WebServer() = default;

  // The port; 0 takes any that is free. -1: errno says why not, 0 that this machine has no such address.
  virtual int bind(const std::string& address, int port) = 0;
  // Until stop(); false where it can no longer listen.
  virtual bool run() = 0;
  // From any thread, once; what is going out is cut off. Waits for run() to begin.
  virtual void stop() = 0;
};

// An Error where the module of this `program` (a path) cannot be loaded. Refers to the site, which must outlive it.
Result<std::shared_ptr<WebServer>> make_web_server(const std::string& program, Site& site);
// The port that it listens at.
Result<int> bind(WebServer& server, const std::string& address, int port);

}  // namespace gapscope
