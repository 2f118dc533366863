#include "app/window/run_window.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <initializer_list>

#include "app/session/samples.h"
#include "app/session/session.h"
#include "app/state/sibling_name.h"
#include "app/state/state_file.h"
#include "app/window/window.h"
#include "core/base/failure.h"
#include "core/base/output_file.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "ui/app_ui.h"
#include "ui/widgets/text.h"
#include "ui/widgets/theme.h"

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
    // No thread is to be had: a signal ends the program at once, as it would without us.
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

// /tmp is memory on many systems; what does not fit there is kept on the disk.
std::string spill_folder(const char* tmpdir) { return tmpdir && *tmpdir ? tmpdir : "/var/tmp"; }

SessionOptions session_options(const WindowRun& run) {
  const char* home = std::getenv("HOME");
  SessionOptions options;
  options.settings_file = settings_path(std::getenv("XDG_CONFIG_HOME"), home);
  options.states = state_folder(std::getenv("XDG_STATE_HOME"), home);
  options.assets = find_assets(run.executable);
  options.home = home ? home : "";
  options.load.spill_folder = spill_folder(std::getenv("TMPDIR"));
  options.wake = &Window::wake;
  return options;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

constexpr double kHoverDelay = 0.45;          // s
constexpr std::chrono::seconds kPatience{2};  // with frames that fail before one was drawn

// Window, session and interface tied together, frame by frame.
class WindowLoop {
 public:
  WindowLoop(Window& window, const WindowRun& run, const QuitSignals& signals)
      : window_(window), signals_(signals), session_(session_options(run)), state_(run.state_file) {
    set_hover_delay(kHoverDelay);
    prefer(ui_.view(), session_.preferences());
    if (const std::filesystem::path assets = find_assets(run.executable); !assets.empty()) take_icon(assets / "icon.png");
    session_.open_all(run.files);
    if (!run.second.empty()) session_.open_second(run.second);
  }

  // Until the window is closed, or with what keeps it from showing anything at all: where no frame can be drawn from the first
  // on, as with too little memory, nobody could read why.
  std::optional<Error> run() {
    std::optional<Error> error;
    while (!error && !window_.should_close() && !signals_.asked()) {
      try {
        if (!window_.wait(moves_)) continue;
        frame();
      } catch (...) {
        error = take_failure(current_failure("draw the window"));
      }
    }
    session_.end(ui_.view());
    return error;
  }

 private:
  void frame() {
    window_.set_zoom(ui_.view().zoom);
    const WindowInput input = window_.begin_frame();
    const auto begin = std::chrono::steady_clock::now();
    for (const Drop& drop : input.drops) take_drop(drop);
    session_.poll(ui_.view());
    if (const std::optional<std::string> copied = session_.take_copy()) window_.copy_text(*copied);
    Requests requests;
    ui_.frame(frame_input(input), requests);
    frame_ms_ = milliseconds_since(begin);
    window_.end_frame(background_of(ui_.view().theme));
    has_drawn_ = true;
    for (const Request& request : requests.list) carry_out(request);
    follow_title();
    session_.keep_preferences(preferences_of(ui_.view()));
    moves_ =
        ui_.moving() || input.held.any() || session_.is_loading() || session_.is_loading_second() || !requests.list.empty();
    state_.write(session_, ui_);
  }

  // Returns what ends the window; otherwise the next frame is tried.
  std::optional<Error> take_failure(Error failure) {
    window_.abandon_frame();
    session_.say(failure.message);
    const auto now = std::chrono::steady_clock::now();
    if (!failing_since_) failing_since_ = now;
    if (has_drawn_ || now - *failing_since_ < kPatience) return {};
    return failure;
  }

  // A window without an icon is no trouble worth a sentence.
  void take_icon(const std::filesystem::path& path) {
    if (Result<Image> icon = read_png(path.string()); icon.ok()) window_.set_icon(*icon);
  }

  FrameInput frame_input(const WindowInput& input) {
    FrameInput in;
    in.width_px = input.width_px;
    in.height_px = input.height_px;
    in.scale = input.scale;
    in.delta_s = input.seconds;
    in.frame_ms = frame_ms_;
    in.presses = input.presses;
    in.held = input.held;
    session_.fill(in);
    return in;
  }

  void take_drop(const Drop& drop) {
    if (drop.shift && drop.paths.size() == 1 && session_.document()) return session_.open_second(drop.paths.front());
    session_.open_all(drop.paths);
  }

  void carry_out(const Request& request) {
    if (session_.carry_out(request)) return;
    if (const auto* copy = std::get_if<CopyText>(&request)) window_.copy_text(copy->text);
    if (const auto* title = std::get_if<SetTitle>(&request)) window_.set_title(title->title);
    if (const auto* shot = std::get_if<TakeScreenshot>(&request)) save_screenshot(shot->path);
    if (std::holds_alternative<Quit>(request)) window_.request_close();
  }

  void save_screenshot(const std::string& wanted) {
    const Document* doc = session_.document();
    const Result<std::string> bytes = png_bytes(window_.screenshot());
    if (!bytes) return session_.say(bytes.error().message);
    const Result<std::string> saved =
        wanted.empty() ? write_file(sibling_name(doc ? doc->trace.path : "", ".png"), *bytes, {.if_taken = IfTaken::number})
                       : write_file(wanted, *bytes);
    session_.say(saved ? "Saved " + *saved : saved.error().message);
  }

  void follow_title() {
    std::string title = printable(session_.title());
    if (title == title_) return;
    window_.set_title(title);
    title_ = std::move(title);
  }

  Window& window_;
  const QuitSignals& signals_;
  Session session_;
  AppUi ui_;
  StateFile state_;
  std::string title_;
  double frame_ms_ = 0;
  bool moves_ = true;
  bool has_drawn_ = false;
  std::optional<std::chrono::steady_clock::time_point> failing_since_;
};

}  // namespace

int run_window(const WindowRun& run) {
  const QuitSignals signals(&Window::wake);
  Result<std::unique_ptr<Window>> window = Window::create({});
  const std::optional<Error> error = window.ok() ? WindowLoop(**window, run, signals).run() : window.error();
  if (!error) return 0;
  std::fprintf(stderr, "gapscope: %s\n", printable(error->message).c_str());
  return 1;
}

}  // namespace gapscope
