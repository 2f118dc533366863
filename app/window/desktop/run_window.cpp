#include "app/window/run_window.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "app/session/samples.h"
#include "app/session/session.h"
#include "app/state/settings.h"
#include "app/state/view_memory.h"
#include "app/window/image.h"
#include "app/window/window.h"
#include "app/window/window_loop.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

// SIGINT, SIGTERM and SIGHUP (Ctrl+C, the end of a session, a closed terminal) ask the window to close, so that what it keeps
// is written. A second one, or the window not closing for a while, ends the program at once.
class QuitSignals {
 public:
  // Before other threads are started: they inherit that these signals are not for them. `wake` is called on a thread of its
  // own when one has come. Those that are ignored (nohup) stay ignored.
  explicit QuitSignals(std::function<void()> wake);
  // If a signal came, the program ends by it here, as it would have.
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

  bool asked() const { return signal_ != 0; }

 private:
  void run();

  std::function<void()> wake_;
  sigset_t ours_{}, before_{};
  std::atomic<int> signal_{0};  // that came
  std::atomic<bool> over_{false};
  Thread thread_;
};

constexpr timespec kCloseWithin{10, 0};  // for a window that closes: writing what it keeps may take a moment

QuitSignals::QuitSignals(std::function<void()> wake) : wake_(std::move(wake)) {
  sigemptyset(&ours_);
  sigaddset(&ours_, SIGTERM);  // with which the destructor wakes the thread
  for (const int signal : {SIGINT, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_IGN))
      sigaddset(&ours_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  try {
    thread_ = Thread([this] { run(); }, []() noexcept {});
  } catch (...) {
    // No thread can be created: a signal ends the program at once, as it would without us.
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

QuitSignals::~QuitSignals() {
  over_ = true;
  if (thread_.joinable()) {
    ::pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  if (signal_ != 0) ::raise(signal_);
}

void QuitSignals::run() {
  int first = -1;
  while (first < 0) first = ::sigwaitinfo(&ours_, nullptr);  // being stopped and going on interrupts it
  if (over_) return;
  signal_ = first;
  wake_();
  ::sigtimedwait(&ours_, nullptr, &kCloseWithin);
  if (over_) return;
  ::pthread_sigmask(SIG_UNBLOCK, &ours_, nullptr);
  ::raise(first);
}

// /tmp is memory on many systems; what does not fit there goes to the disk.
std::string spill_folder(const char* tmpdir) { return tmpdir && *tmpdir ? tmpdir : "/var/tmp"; }

SessionOptions session_options(const WindowRun& run) {
  const char* home = std::getenv("HOME");
  SessionOptions options;
  options.settings_file = settings_path(std::getenv("XDG_CONFIG_HOME"), home);
  options.states = state_folder(std::getenv("XDG_STATE_HOME"), home);
  options.assets = find_assets(run.executable);
  options.home = home ? home : "";
  options.load.stated = run.stated;
  options.load.spill_folder = spill_folder(std::getenv("TMPDIR"));
  options.wake = &Window::wake;
  return options;
}

// A window without an icon is no trouble worth a sentence.
void take_icon(Window& window, const std::filesystem::path& assets) {
  if (assets.empty()) return;
  if (Result<Image> icon = read_png((assets / "icon.png").string()); icon.ok()) window.set_icon(*icon);
}

std::optional<Error> run_until_closed(Window& window, const WindowRun& run, const QuitSignals& signals) {
  SessionOptions options = session_options(run);
  take_icon(window, options.assets);
  WindowLoop loop(window, std::move(options), run.state_file);
  loop.session().open_all(run.files);
  if (!run.second.empty()) loop.session().open_second(run.second);
  std::optional<Error> error;
  while (!error && !window.should_close() && !signals.asked()) error = loop.step();
  loop.end();
  return error;
}

}  // namespace

int run_window(const WindowRun& run) {
  const QuitSignals signals(&Window::wake);
  Result<std::unique_ptr<Window>> window = Window::create({});
  const std::optional<Error> error = window.ok() ? run_until_closed(**window, run, signals) : window.error();
  if (!error) return 0;
  std::fprintf(stderr, "gapscope: %s\n", printable(error->message).c_str());
  return 1;
}

}  // namespace gapscope
