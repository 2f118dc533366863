#include "app/cli/serve.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/record/piece_name.h"
#include "app/serve/server.h"
#include "core/base/parallel.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

int end_event = -1;  // what the handler of signals writes to

void ask_to_end(int) {
  const int before = errno;
  (void)::eventfd_write(end_event, 1);
  errno = before;
}

// The signals that ask the server to end: the first is waited for, a second one ends the program at once. Handlers and no mask:
// the commands that it starts would inherit that.
class EndSignals {
 public:
  EndSignals() {
    end_event = ::eventfd(0, EFD_CLOEXEC);
    struct sigaction ours {};
    ours.sa_handler = ask_to_end;
    ours.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now {};
      const bool is_ignored = ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;  // nohup
      if (!is_ignored) ::sigaction(signal, &ours, nullptr);
    }
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  void wait() const {
    eventfd_t count = 0;
    while (::eventfd_read(end_event, &count) != 0 && errno == EINTR) {
    }
  }
  void wake() const { ask_to_end(0); }
};

int say(int code, const std::string& sentence) {
  std::fprintf(stderr, "gapscope: %s\n", printable(sentence).c_str());
  return code;
}

std::string greeting(const ServeOptions& options, const AllowedFolders& folders, const Access& access, int port) {
  const std::string machine = host_name();
  const std::string host = is_loopback(options.bind)                      ? "localhost"
                           : is_every_address(options.bind)               ? machine
                           : options.bind.find(':') < options.bind.size() ? "[" + options.bind + "]"
                                                                          : options.bind;
  std::string out = fmt::format("The recordings below {}:\n\n  http://{}:{}/?token={}\n\n", printable(folders.first().string()),
                                host, port, access.token());
  if (is_loopback(options.bind))
    return out + fmt::format(
                     "From another machine, then the same address there:\n\n  ssh -L {0}:localhost:{0} {1}\n\n"
                     "Ctrl+C ends it.\n",
                     port, machine);
  return out +
         "Whoever has this address and reaches this machine can read them; nothing is encrypted on the way. Ctrl+C ends it.\n";
}

int serve_until_asked_to_end(Site& site, WebServer& server, const std::string& text) {
  const EndSignals signals;
  if (const int code = print(text); code != kOk) return code;
  const Thread ending(
      [&] {
        signals.wait();
        site.end();
        server.stop();
      },
      []() noexcept {});
  const bool fine = server.run();
  signals.wake();
  return fine ? kOk : say(kBadInput, "The server cannot take connections any more.");
}

}  // namespace

int serve(const ServeOptions& options) {
  Result<AllowedFolders> folders = AllowedFolders::make({options.folder}, Allowed::recordings);
  if (!folders) return say(kUsage, folders.error().message);
  const std::string token = random_token(), name = random_token();
  if (token.empty() || name.empty()) return say(kBadInput, "The system has no random numbers for a token.");
  const Access access(token, "gapscope_" + name.substr(0, 8), names_of(options.bind, host_name()),
                      is_every_address(options.bind));
  try {
    Site site(options.executable, *folders, access);
    WebServer server(site);
    const Result<int> port = server.bind(options.bind, options.port);
    if (!port) return say(kBadInput, port.error().message);
    return serve_until_asked_to_end(site, server, greeting(options, *folders, access, *port));
  } catch (const std::system_error&) {
    return say(kBadInput, "No thread is to be had.");
  }
}

}  // namespace gapscope
