// `gapscope serve [FOLDER] [--port N] [--bind ADDRESS]`: the recordings below a folder in a browser.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "app/record/piece_name.h"
#include "app/serve/server.h"
#include "app/serve/window_files.h"
#include "core/base/parallel.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::int64_t kMostPort = 65'535;

struct ServeOptions {
  std::string executable;
  std::string folder = ".";
  std::string bind = "127.0.0.1";
  int port = 8080;
  std::vector<std::string> sources;  // as Tools has it
  std::string web;  // the folder of the window (app/serve/window_files.h); empty: the one that came with the program
  bool until_input_ends = false;
};

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

  // `or_input_ends`: also for the end of standard input; of a program that was killed the kernel closes its pipe.
  void wait(bool or_input_ends) const {
    std::array<pollfd, 2> ends = {{{end_event, POLLIN, 0}, {or_input_ends ? STDIN_FILENO : -1, POLLIN, 0}}};
    std::array<char, 64> ignored{};
    while (true) {
      if (::poll(ends.data(), ends.size(), -1) < 0 && errno == EINTR) continue;
      if (ends[0].revents != 0) return;
      const ssize_t got = ::read(STDIN_FILENO, ignored.data(), ignored.size());
      if (got == 0 || (got < 0 && errno != EINTR)) return;
    }
  }
  void wake() const { ask_to_end(0); }
};

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
                     "From another machine (then use the same address there):\n\n  ssh -L {0}:localhost:{0} {1}\n\n"
                     "Ctrl+C ends it.\n",
                     port, machine);
  return out + "Everyone who has this address and reaches this machine can read them. Nothing is encrypted. Ctrl+C ends it.\n";
}

int serve_until_asked_to_end(Site& site, WebServer& server, const std::string& text, bool until_input_ends) {
  const EndSignals signals;
  if (const int code = print(text); code != kOk) return code;
  const Thread ending(
      [&] {
        signals.wait(until_input_ends);
        site.end();
        server.stop();
      },
      []() noexcept {});
  const bool fine = server.run();
  signals.wake();
  return fine ? kOk : complain(kBadInput, "The server cannot accept connections any more.");
}

int serve(const ServeOptions& options) {
  Result<AllowedFolders> folders = AllowedFolders::make({options.folder}, Allowed::recordings);
  if (!folders) return complain(kUsage, folders.error().message);
  confine_reading(folders->readable());
  const std::string token = random_token(), name = random_token();
  if (token.empty() || name.empty()) return complain(kBadInput, "The system has no random numbers for a token.");
  const Access access(token, "gapscope_" + name.substr(0, 8), names_of(options.bind, host_name()),
                      is_every_address(options.bind));
  if (!options.web.empty() && !holds_window(options.web))
    return complain(kUsage, options.web + " does not hold the window for browsers, which app/web/build makes.");
  const std::filesystem::path window =
      options.web.empty() ? find_window(options.executable) : std::filesystem::canonical(options.web);
  try {
    Site site(options.executable, *folders, access, window, options.sources);
    const Result<std::shared_ptr<WebServer>> server = make_web_server(options.executable, site);
    if (!server) return complain(kBadInput, server.error().message);
    const Result<int> port = bind(**server, options.bind, options.port);
    if (!port) return complain(kBadInput, port.error().message);
    return serve_until_asked_to_end(site, **server, greeting(options, *folders, access, *port), options.until_input_ends);
  } catch (const std::system_error&) {
    return complain(kBadInput, "Cannot create a thread.");
  }
}

}  // namespace

std::function<int()> declare_serve(CLI::App& arguments) {
  auto options = std::make_shared<ServeOptions>();
  arguments.add_option("FOLDER", options->folder, "the folder whose recordings are served, with all below it")
      ->capture_default_str();
  arguments.add_option("--port", options->port, "the port to listen on; 0: any free port")
      ->check(whole_number(0, kMostPort))
      ->capture_default_str();
  arguments.add_option("--bind", options->bind, "the address to listen on; 0.0.0.0: all of this machine")
      ->type_name("ADDRESS")
      ->capture_default_str();
  add_sources(arguments, options->sources);
  arguments.add_option("--web", options->web, "the folder of the web viewer, if it is not installed with the program")
      ->type_name("FOLDER");
  arguments.add_flag("--until-input-ends", options->until_input_ends,
                     "stop when standard input ends, so that the server stops with the program that started it");
  arguments.footer(
      "Prints an address for a browser, and an ssh command for a browser on another machine. Reads only, and only recordings\n"
      "(.json, .json.gz, .json.xz, .json.zst) below FOLDER. Ctrl+C ends it.");
  return [options] {
    options->executable = own_path();
    return serve(*options);
  };
}

}  // namespace gapscope
