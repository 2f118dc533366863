#include "app/state/view_memory.h"

#include "core/base/text.h"
#include "core/view/document.h"
#include "ui/panels.h"

namespace gapscope {
namespace {

constexpr std::chrono::seconds kNoticeStays{20};  // long enough to be read twice

Notice restored_notice() {
  return {"The view of last time is back.",
          {{"Start fresh", "Show the whole trace with all lanes. Notes stay.", StartFresh{}},
           {"Dismiss", "Continue with the current view.", DismissNotice{}}}};
}

Notice changed_notice(const std::string& path) {
  return {printable(std::filesystem::path(path).filename().string()) + " changed on disk.",
          {{"Reload", "Read it again. The view, the selection and the notes stay.", ReloadFile{}},
           {"Keep", "Continue with the loaded trace. The args of slices may be missing.", DismissNotice{}}}};
}

}  // namespace

ViewMemory::ViewMemory(std::filesystem::path folder, StateWriter& writer, std::function<void()> wake)
    : folder_(std::move(folder)), writer_(writer), watch_(std::move(wake)) {}

std::optional<Error> ViewMemory::adopt(const Document& document, std::optional<FileStamp> stamp) {
  const Trace& trace = document.trace;
  const bool is_reload = trace.path == path_;
  writer_.flush();
  notice_.reset();
  notice_ends_.reset();
  kept_.reset();
  glance_ = {};
  path_ = trace.path;
  file_ = kept_file(folder_, path_, trace.figures.file_bytes);
  watch_.watch(path_, stamp);
  if (is_reload) {
    kept_ = latest_;
    return std::nullopt;
  }
  const KeptView fresh = fresh_view(trace);
  latest_ = fresh;
  Result<std::optional<KeptView>> saved = read_kept(file_);
  if (!saved) return saved.error();
  if (!*saved) return std::nullopt;
  kept_ = latest_ = **saved;
  if (latest_.visible.empty() || look_alike(latest_, fresh)) return std::nullopt;
  notice_ = restored_notice();
  notice_ends_ = std::chrono::steady_clock::now() + kNoticeStays;
  return std::nullopt;
}

void ViewMemory::close() {
  writer_.flush();
  watch_.watch({}, std::nullopt);
  path_.clear();
  notice_.reset();
  kept_.reset();
}

void ViewMemory::track(const Document& document, const TraceView& view, const WindowState& window) {
  kept_.reset();
  Glance glance{view.folds.revision, view.time.span, view.scroll_px,   view.selection,
                view.range,          window.tab,     view.notes.notes, view.steps.annotation};
  if (glance == glance_) return;
  const bool goes_on = glance_ != Glance{};  // the user looks around since the view came back
  glance_ = std::move(glance);
  KeptView now = keep_view(document.trace, view);
  // A comparison is not of one file: without it that tab is empty.
  if (window.compare.open)
    now.tab = latest_.tab;
  else if (window.tab < panels().size())
    now.tab = panels()[window.tab].id;
  if (latest_.tab.empty() && window.tab == 0) latest_.tab = now.tab;  // the first panel is open anyway
  if (now == latest_) return;
  const bool moved = now.visible != latest_.visible || now.selection != latest_.selection || now.range != latest_.range;
  if (goes_on && moved && notice_ends_) notice_ends_.reset(), notice_.reset();
  latest_ = std::move(now);
  if (!file_.empty()) writer_.put(file_, [file = file_, now = latest_, path = path_] { return write_kept(file, now, path); });
}

void ViewMemory::poll(const Document* document) {
  if (notice_ends_ && std::chrono::steady_clock::now() > *notice_ends_) {
    notice_.reset();
    notice_ends_.reset();
  }
  if (watch_.take_changed() && document && document->trace.path == path_) {
    notice_ = changed_notice(path_);
    notice_ends_.reset();
  }
}

}  // namespace gapscope
