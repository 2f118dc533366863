#include "app/serve/server.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "app/record/find_module.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

WebHost host_of(Site& site) {
  WebHost out;
  out.answer = [&site](const WebRequest& request) -> WebAnswer {
    try {
      return site.answer(request);
    } catch (...) {
      return {500, "text/plain; charset=utf-8", current_failure("answer").message};
    }
  };
  out.read = [](const ServedFile& file, std::uint64_t offset, std::uint64_t bytes) { return file.read(offset, bytes); };
  out.failed = [] { say_on_stderr(current_failure("answer").message); };
  out.headers = common_headers();
  return out;
}

}  // namespace

Result<std::shared_ptr<WebServer>> make_web_server(const std::string& program, Site& site) {
  const std::string path = find_module(program, "libgapscope_serve.so");
  if (path.empty()) return Error{"libgapscope_serve.so is missing: it must be next to the program or in ../lib/gapscope."};
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // for as long as the program runs
  if (module == nullptr) return Error{fmt::format("The server cannot be loaded: {}.", printable(::dlerror()))};
  using Make = WebServer* (*)(WebHost &&);
  const auto make = reinterpret_cast<Make>(::dlsym(module, "gapscope_make_web_server"));
  if (make == nullptr) return Error{printable(path) + " is not the server of this gapscope."};
  return std::shared_ptr<WebServer>(make(host_of(site)));
}

Result<int> bind(WebServer& server, const std::string& address, int port) {
  const int got = server.bind(address, port);
  if (got > 0) return got;
  if (errno == EADDRINUSE)
    return Error{fmt::format("Port {} of {} is in use: choose another one, or --port 0 for any that is free.", port,
                             printable(address))};
  return Error{fmt::format("Cannot listen at {}, port {}: {}.", printable(address), port,
                           errno != 0 ? std::strerror(errno) : "it is not an address of this machine")};
}

}  // namespace gapscope
