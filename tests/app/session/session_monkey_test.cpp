// The window without a screen, with the session behind it and its threads: random keys and clicks while files open, change, are
// reloaded, cancelled and closed. From a fixed seed; GAPSCOPE_MONKEY sets the number of inputs. For the sanitizers: a promise
// that is broken is a report of theirs.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/session.h"
#include "core/view/document.h"
#include "tests/support/headless_ui.h"
#include "tests/support/source_folder.h"
#include "tests/support/temp_folder.h"
#include "ui/commands.h"
#include "ui/panels.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr int kInputs = 300;  // in ctest

int inputs() {
  const char* wanted = std::getenv("GAPSCOPE_MONKEY");
  return wanted ? std::atoi(wanted) : kInputs;
}

class Monkey {
 public:
  Monkey() : files_(make_files()) {
    SessionOptions options;
    options.settings_file = folder_.path() / "settings.json";
    options.states = folder_.path() / "states";
    options.home = folder_.path().string();
    options.wake = [] {};
    session_.emplace(std::move(options));
  }

  void act() {
    switch (below(12)) {
      case 0: return open();
      case 1: return change_file();
      case 2: return ask(ReloadFile{});
      case 3: return below(3) == 0 ? ask(CancelLoad{}) : frames(10);
      case 4: return below(3) == 0 ? close() : ask(SwapTraces{});
      case 5: return change_view();
      case 6: return save();
      case 7:
      case 8: return click();
      case 9: return drag();
      default: return press_command();
    }
  }

  // Whatever went before, a recording opens: two closings, then the one file that nothing changes.
  bool still_opens() {
    ask(CloseSecond{});
    ask(CloseFile{});
    session_->open(files_[0]);
    for (int i = 0; i < 10'000 && (session_->is_loading() || !session_->document()); ++i) {
      frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return session_->document() && session_->document()->trace.slice_count() > 0 && ui_.ui.document() == session_->document();
  }

 private:
  std::string bytes_of(const std::filesystem::path& path) const {
    std::stringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  // Two recordings, one of them cut off, one that is none, one that is not there.
  std::vector<std::string> make_files() {
    const std::filesystem::path traces = source_folder() / "assets/traces";
    const std::string small = bytes_of(traces / "matmul_add_64_cold_eager.json.gz");
    const std::string other = bytes_of(traces / "transformer_optimized.json.gz");
    return {folder_.write("small.json.gz", small), folder_.write("other.json.gz", other),
            folder_.write("cut.json.gz", small.substr(0, small.size() / 2)), folder_.write("none.json", "no trace"),
            (folder_.path() / "missing.json").string()};
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  float part() { return static_cast<float>(below(10'001)) / 10'000; }
  ImVec2 anywhere() { return {part() * ui_.input.width_px, part() * ui_.input.height_px}; }

  // As run_window does it, but for where it begins: with what the frame before asked for, after which a document may be gone.
  // So what the window shows when this is over is still there.
  void frame() {
    const Requests requests = std::exchange(ui_.out, {});
    for (const Request& request : requests.list) session_->carry_out(request);
    session_->poll(ui_.ui.view());
    session_->fill(ui_.input);
    ui_.frame();
    if (session_->is_loading() && below(4) == 0) std::this_thread::yield();
  }
  void frames(unsigned count) {
    for (unsigned i = 0; i < count; ++i) frame();
  }
  void ask(const Request& request) {
    session_->carry_out(request);
    frames(1 + below(3));
  }

  void open() {
    const std::string& path = files_[below(static_cast<unsigned>(files_.size()))];
    if (below(6) == 0) {
      session_->open_all({files_[0], files_[1]});
    } else {
      below(3) == 0 ? session_->open_second(path) : session_->open(path);
    }
    frames(below(30));
  }
  // Another recording under a name that may be open, or loading.
  void change_file() {
    if (below(4) > 0) return frames(5);
    const std::string text = bytes_of(files_[0]);
    std::ofstream(files_[2], std::ios::binary) << text.substr(0, text.size() / (1 + below(3)));
    frames(1);
  }
  void close() { below(2) == 0 ? ask(CloseFile{}) : ask(CloseSecond{}); }
  void save() {
    if (!ui_.ui.document() || below(3) > 0) return frames(3);
    const Span all = ui_.ui.document()->trace.span;
    if (below(2) == 0) ask(SaveCrop{{all.begin, all.begin + all.length() / 2}});
    const Document* document = ui_.ui.document();  // after that perhaps another one
    const auto slices = document ? static_cast<unsigned>(document->trace.slice_count()) : 0;
    const SliceId slice(slices > 0 ? below(slices) : 0);
    if (slices > 0) below(2) == 0 ? ask(Ask{document, ArgsQuestion{slice}}) : ask(CopyEvent{slice});
    ask(SaveText{".csv", "a,b\n"});
  }
  void press_command() {
    const auto table = commands();
    const Command& c = table[below(static_cast<unsigned>(table.size()))];
    CommandScope scope{ui_.ui.document(), ui_.ui.view().active(), ui_.ui.view().window, ui_.out};
    run_command(c.id, scope);
    frames(1 + below(3));
  }
  void click() {
    ui_.mouse = anywhere();
    frame();
    ui_.button = true;
    frame();
    ui_.button = false;
    frames(2);
  }
  void drag() {
    ui_.mouse = anywhere();
    frame();
    ui_.button = true;
    frame();
    ui_.mouse = anywhere();
    frame();
    ui_.button = false;
    frames(2);
  }
  void change_view() {
    ViewState& view = ui_.ui.view();
    view.window.tab = below(static_cast<unsigned>(panels().size()));
    view.window.signals.select_tab = true;
    frames(2);
  }

  std::mt19937 random_{20'261'122};
  TempFolder folder_;
  std::vector<std::string> files_;
  std::optional<Session> session_;
  HeadlessUi ui_{nullptr, 1200, 700};
};

}  // namespace

TEST_CASE("whatever a monkey does while files load, reload and close, the session holds") {
  Monkey monkey;
  const int count = inputs();
  for (int i = 0; i < count; ++i) {
    CAPTURE(i);
    monkey.act();
  }
  CHECK(monkey.still_opens());
}
