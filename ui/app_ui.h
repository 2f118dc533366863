#pragma once
// The whole window as a function of its input: call frame() between ImGui::NewFrame() and ImGui::Render(). Needs an
// ImGui context with a font atlas and no window, so tests run it headless. The mouse comes through ImGuiIO, keys
// through FrameInput.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/view_state.h"
#include "ui/attach/attach_page.h"
#include "ui/keys.h"
#include "ui/requests.h"
#include "ui/timeline/painter.h"

namespace gapscope {

struct Document;
struct OpenedSnapshot;
struct SnapshotMoment;

class TimelinePanel;
class SnapshotPage;
class CompareView;

// A part of the window as it was last drawn.
struct PanelPlace {
  const char* name;  // "overview", "findings"
  Box box;
};

// A load that is under way.
struct LoadingView {
  std::string_view path;
  std::string_view stage;  // "reading"
  double fraction = -1;    // 0..1, negative when unknown
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;  // 0 when unknown
  std::uint64_t events = 0;
  double seconds = 0;        // since it began
  double seconds_left = -1;  // about; negative when unknown
};

struct Sample {
  std::string name;   // "matmul_add_64_cold_eager"
  std::string story;  // one line: what it teaches
};

// What is said of a recording before it is opened.
struct RunSummary {
  std::string limit;                // "GPU-bound", or why it does not open; empty while it is being read
  Ns step = 0;                      // as the answer has it (core/view/overview/answer_card.h); 0: it has no steps
  std::optional<double> gpu_share;  // likewise
  bool failed = false;              // it does not open
};

// The answer to ListFolder.
struct FolderEntry {
  std::string name;
  bool is_folder = false;
  std::uint64_t bytes = 0;
  std::optional<RunSummary> summary{};  // none: it is not read before it is opened
};
struct FolderView {
  std::string path;
  std::string error;  // a sentence when the folder cannot be read
  std::vector<FolderEntry> entries;
  std::string asked{};  // ListFolder::path that this answers
};

// A sentence with what one may do about it, shown in the status bar.
struct NoticeButton {
  const char* title;
  const char* help;
  Request request;
};
struct Notice {
  std::string text;
  std::vector<NoticeButton> buttons;
};

// What went well, in the status bar for a while.
struct News {
  std::string text;   // "Saved /data/t.part.json.gz with 17 slices"
  std::string saved;  // that file; empty while it is being written
};

struct KeptView;

struct FrameInput {
  float width_px = 0, height_px = 0;  // of the display, as ImGuiIO::DisplaySize
  float scale = 1;
  double delta_s = 0;                        // since the last frame, but no more than motion should cover
  double elapsed_s = 0;                      // since the last frame; 0: delta_s
  double frame_ms = 0;                       // CPU time of the last frame, for the status bar
  std::span<const KeyPress> presses;         // since the last frame
  HeldKeys held;                             // down right now
  const Document* document = nullptr;        // null while nothing is open; the pointer says whether it is another one
  const Document* part_before = nullptr;     // the part of the same file that `document` replaces, still there this frame
  const Document* second = nullptr;          // the second trace, B, to compare `document` with; null while there is none
  const OpenedSnapshot* snapshot = nullptr;  // a memory snapshot in place of a trace; null while there is a document
  const SnapshotMoment* moment = nullptr;    // of `snapshot`: the newest answer to AskMoment
  const KeptView* kept = nullptr;            // how `document` was looked at before: applied when it is shown for the first time
  const Notice* notice = nullptr;
  const LoadingView* loading = nullptr;
  const LoadingView* loading_second = nullptr;
  std::string_view message;    // an error sentence, shown until DismissMessage
  const News* news = nullptr;  // null where there is none, or a message
  bool can_browse = false;     // the desktop has a file chooser: BrowseFile opens it
  bool has_desktop = false;    // OpenOnDesktop opens files
  std::span<const std::string> recent;
  std::span<const Sample> samples;
  const FolderView* folder = nullptr;
  EditorSettings editor{};
  const AttachView* attach = nullptr;  // null: nothing can be recorded from here
};

// The start screen, the progress of a load and the help page: windows of their own, drawn over everything else.
void draw_start_screen(const FrameInput& in, WindowState& window, Requests& out);
void draw_loading(const LoadingView& loading, const WindowState& window, Requests& out);
// How far it is, in words: stage, bytes, events, time left.
std::string loading_text(const LoadingView& loading);
void draw_help_page(WindowState& window);
// A trace or a memory snapshot is open.
inline bool is_open(const FrameInput& in) { return in.document || in.snapshot; }

// The page "Editor and sources".
struct EditorPage {
  bool open = false;
  std::string command, paths;  // as typed: a path a line
};
void show_editor_page(EditorPage& page, const EditorSettings& now);
void draw_editor_page(EditorPage& page, const WindowState& window, Requests& out);

class AppUi {
 public:
  AppUi();
  ~AppUi();
  AppUi(const AppUi&) = delete;
  AppUi& operator=(const AppUi&) = delete;

  // One frame. Shows FrameInput::document; another one than before resets the view to fit it, but one that continues from
  // `part_before` keeps it.
  void frame(const FrameInput& in, Requests& out);

  // Adopts a document ahead of the first frame, so that a caller may then set the view (screenshots).
  void adopt(const Document* document, const Document* second = nullptr);

  // Something moves by itself: the next frame is due without waiting for input.
  bool moving() const;

  ViewState& view() { return view_; }
  const ViewState& view() const { return view_; }
  // The trace that is acted on, as of the last frame: the open one, or of two the one clicked last; and its timeline.
  const Document* document() const;
  const TimelinePanel& timeline() const;
  const TimelinePanel& timeline_a() const { return *timeline_; }
  const Document* document_a() const { return document_; }
  // What shows a memory snapshot, as of the last frame in which there was one.
  const SnapshotPage& snapshot_page() const { return *snapshot_page_; }
  SnapshotPage& snapshot_page() { return *snapshot_page_; }
  // The two traces that lie side by side; as long as there are two.
  const CompareView& compare() const { return *compare_; }
  // The parts of the window, as of the last frame.
  const std::vector<PanelPlace>& places() const { return places_; }

 private:
  void take_documents(const FrameInput& in);
  void grow(const Document& document);
  void restore(const KeptView& kept);
  void start_fresh();
  void show_first_tab();
  void show_attach_page();
  void draw_document(Box box, const FrameInput& in, const Document& document, TraceView& view, Requests& out);
  void draw_snapshot(Box box, const FrameInput& in, Requests& out);
  bool grows_under_click(const Box& room, float height);
  void place(const char* name, const Box& box);
  void place_timeline(const TimelinePanel& timeline);

  ViewState view_;
  const Document* document_ = nullptr;
  std::unique_ptr<TimelinePanel> timeline_;
  std::unique_ptr<CompareView> compare_;
  std::unique_ptr<SnapshotPage> snapshot_page_;
  std::vector<PanelPlace> places_;
  EditorPage editor_page_;
  AttachPage attach_page_;
  float drawer_px_ = 0;                // of the display, as it was drawn last; 0: not yet
  int frames_to_tab_ = 0;              // until the tab that was chosen is drawn: Dear ImGui takes two
  bool awaits_click_ = false;          // the drawer stays as it is for as long as a second click may follow
  std::uint32_t selections_seen_ = 0;  // of TraceView::selections, those that the details came up for or need not
};

}  // namespace gapscope
