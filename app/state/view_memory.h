#pragma once
// Remembers how the open trace is looked at: across a reload, and between two runs. Watches the trace's file, and says in a
// notice what it did or saw. Lives on the UI thread; reading and writing is done by threads, but for one small file when
// a trace is opened.
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/state/kept_files.h"
#include "app/window/file_watch.h"
#include "core/view/notes/kept_view.h"
#include "ui/app_ui.h"

namespace gapscope {

struct Document;

class ViewMemory {
 public:
  // Without a folder nothing is remembered between two runs.
  // The writer must outlive it.
  ViewMemory(std::filesystem::path folder, StateWriter& writer, std::function<void()> wake);

  // A document is open that was read when its file was in the state `stamp`. An Error: what was saved cannot be used.
  std::optional<Error> adopt(const Document& document, std::optional<FileStamp> stamp);
  // It went away.
  void close();
  // How it was looked at, as of the last frame.
  const KeptView& latest() const { return latest_; }
  // The window has shown another one, and comes back to this.
  void bring_back() { kept_ = latest_; }
  // How the window shows it now. Once the window has shown it, as often as there are frames.
  void track(const Document& document, const TraceView& view, const WindowState& window);
  // Takes in what the threads found.
  void poll(const Document* document);

  // For the window that shows the document for the first time; null when there is nothing to restore.
  const KeptView* kept() const { return kept_ ? &*kept_ : nullptr; }
  const Notice* notice() const { return notice_ ? &*notice_ : nullptr; }
  void dismiss_notice() { notice_.reset(); }
  // Before destruction.
  void request_stop() { watch_.request_stop(); }

 private:
  // What of the view changes most; looked at first, so that a frame that changes nothing costs nothing.
  struct Glance {
    std::uint64_t folds = 0;
    Span visible;
    double scroll_px = 0;
    SliceId selection;
    std::optional<Span> range;
    std::size_t tab = 0;
    std::vector<Note> notes;
    std::string steps;
    friend bool operator==(const Glance&, const Glance&) = default;
  };

  std::filesystem::path folder_;
  std::string path_;            // of the open trace
  std::filesystem::path file_;  // what is saved of it
  KeptView latest_;
  Glance glance_;
  std::optional<KeptView> kept_;
  std::optional<Notice> notice_;
  std::optional<std::chrono::steady_clock::time_point> notice_ends_;
  StateWriter& writer_;
  FileWatch watch_;
};

}  // namespace gapscope
