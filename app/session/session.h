#pragma once
// The one who owns what is open and does what panels ask for. Lives on the UI thread and never waits there for a file:
// loads, args and folders are read by threads that call `wake` when they are done; poll() takes in what they found.
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/action_queue.h"
#include "app/jobs/document_jobs.h"
#include "app/jobs/latest_job.h"
#include "app/session/background_load.h"
#include "app/session/folder_summaries.h"
#include "app/session/free_later.h"
#include "app/session/load_watch.h"
#include "app/session/opened_snapshots.h"
#include "app/session/program_recorder.h"
#include "app/session/saves.h"
#include "app/session/second_trace.h"
#include "app/state/notes_memory.h"
#include "app/state/settings.h"
#include "app/state/state_files.h"
#include "app/state/view_memory.h"
#include "app/window/file_chooser.h"
#include "core/view/view_state.h"
#include "ui/app_ui.h"

namespace gapscope {

struct SessionOptions {
  std::filesystem::path settings_file;  // empty: nothing is remembered
  std::filesystem::path assets;         // folder of the samples; empty: none are shown
  std::string home;                     // what ~ means in a typed path
  std::function<void()> wake;           // called from other threads; must make the UI thread call poll() soon
  LoadOptions load{};                   // of every file; the watching is the session's own
  std::filesystem::path states{};       // folder of how each trace was looked at; empty: nothing is remembered
};

class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();

  // Starts loading. The open document stays until the new one is there; an earlier load is cancelled. What is opened is shown
  // alone: a second trace goes with the first. So does all that does not say "compare": Open, a recent file, a sample, a
  // folder, a drop, a pasted path or link, a recording. Compare with..., a drop with Shift held and Record again open the
  // second one.
  void open(const std::string& path);
  // Several at once: ranks of one run, or two traces to compare (core/ranks/rank_head.h).
  void open_all(const std::vector<std::string>& paths);
  // Starts loading the trace to compare the open one with.
  void open_second(const std::string& path);
  // Does `request` if it is the session's to do: files, folders, args, messages. False: the window's (text, title,
  // quit...).
  bool carry_out(const Request& request);
  // Takes in what the threads have finished since the last call. Cheap; call it once a frame.
  void poll(ViewState& view);

  // What the settings say about the window; and what to write there when it has changed.
  const Preferences& preferences() const { return settings_.preferences; }
  void keep_preferences(const Preferences& now);

  // Takes in what the last frame showed, when no other frame follows.
  void end(const ViewState& view) { remember(view); }

  // Shows in the window what went wrong, until it is dismissed.
  void say(std::string trouble) { message_ = std::move(trouble); }
  // Shows what went well; where something went wrong, after that.
  void tell(News news) { news_ = std::move(news); }

  // What the window shows: the open document or, while another file loads, what is there of that.
  const Document* document() const { return shown().get(); }
  // The second trace, B; null while there is none.
  const Document* second() const { return shown_second().get(); }
  // A memory snapshot, shown in place of a document; null while there is a document or none of both.
  void ask(const AskMoment& what) { snapshots_.ask(what); }
  const OpenedSnapshot* snapshot() const { return shown() ? nullptr : snapshots_.opened().get(); }
  bool is_loading() const { return load_ != nullptr; }
  bool is_loading_second() const { return second_.is_loading(); }
  // Whether what limits the run is being worked out: it is there before the answer that wakes the window.
  bool awaits_headline() const;
  // Something is under way whose end the window will show. Not what others do: a dialog, programs that are recorded.
  bool is_at_work() const {
    return load_ || jobs_->is_at_work() || second_.is_at_work() || snapshots_.is_at_work() || folder_job_.is_at_work() ||
           summaries_.is_at_work() || saves_.is_at_work();
  }
  const std::string& message() const { return message_.empty() ? news_.text : message_; }
  const Notice* notice() const { return memory_.notice(); }
  // What is to go to the clipboard, once.
  std::optional<std::string> take_copy() { return std::exchange(copy_, std::nullopt); }
  const std::vector<std::string>& recent() const { return settings_.recent; }
  std::string title() const;  // of the window
  // The desktop has a file chooser.
  bool can_browse() const { return chooser_.available(); }
  // It is asked where to save, too.
  bool can_save_elsewhere() const { return chooser_.can_save(); }
  // The folder that was listed last; null before.
  const FolderView* folder() const { return folder_ ? &*folder_ : nullptr; }

  // Puts the session's side of a frame into `in`; valid until the next call of any other member.
  void fill(FrameInput& in);

 private:
  const std::shared_ptr<const Document>& shown() const { return part_ ? part_ : document_; }
  // The trace that requests are about: the open one or, where there are two, the one that is acted on.
  const std::shared_ptr<const Document>& subject() const { return acts_on_second() ? shown_second() : shown(); }
  // B, unless a file that is to be alone shows its beginning already.
  const std::shared_ptr<const Document>& shown_second() const { return part_ && opens_alone_ ? nothing_ : second_.document(); }
  std::shared_ptr<const Document> whole_subject() const;
  std::vector<Note> notes_of_subject() const;
  bool acts_on_second() const { return side_ == TraceSide::b && shown_second() && shown(); }
  void leave_second();
  void start_load(const std::string& path, std::vector<std::string> others, const std::string& capture = {},
                  const Stated* stated = nullptr);
  void load_with(const Stated& stated);
  void start_fresh();
  void change_places();
  void take_second();
  void take_recorded(WindowState& window);
  void join_capture(const std::string& capture);
  void tell_of_counters_alone();
  void take_chosen(WindowState& window);
  void take_load(TraceView& view, WindowState& window);
  void take_snapshot(std::shared_ptr<const OpenedSnapshot> opened, WindowState& window);
  void drop_document();
  void take_run(const std::vector<std::string>& run, WindowState& window);
  void remember_recent(const WindowState& window);
  void take_part(WindowState& window);
  void replace_part(std::shared_ptr<const Document> part);
  void drop_part();
  void keep_stamp(const std::shared_ptr<const Document>& document, std::optional<FileStamp> stamp);
  std::optional<FileStamp> stamp_of_subject() const;
  // The subject has that slice: a request may have been made of a document that is gone by now.
  bool has(SliceId slice) const;
  void free_later(std::shared_ptr<const Document> document);
  void take_done();
  void ask(const Ask& what);
  void remember(const ViewState& view);
  void keep_muted(const KeepMuted& what);
  void keep_editor(const EditorSettings& editor);
  void keep_queries(const KeepQueries& what);
  void save_settings();
  void adopt(std::shared_ptr<const Document> document, TraceView& view, WindowState& window);
  void cancel_load();
  void close();

  SessionOptions options_;
  std::string capture_;  // of the graphs of what was opened last, where one was chosen
  Settings settings_;
  std::shared_ptr<SettingsFile> settings_file_;
  FreeLater free_later_;
  std::shared_ptr<const Document> document_;
  std::shared_ptr<const Document> part_;      // of the file that loads, over document_
  std::shared_ptr<const Document> replaced_;  // the part that was shown before, until the window has gone on from it
  bool replaced_seen_ = false;
  std::string message_;
  News news_;
  std::string said_at_start_;                            // not to be lost to a file that is opened at once
  bool closed_ = false;                                  // the document went away since the last poll
  bool opens_alone_ = false;                             // what loads: B is closed for it
  std::weak_ptr<const Document> asked_since_;            // a B that was opened while it loads, and stays
  std::shared_ptr<BackgroundLoad> load_;                 // shared, so that letting go of it takes no memory
  std::vector<std::shared_ptr<BackgroundLoad>> ending_;  // cancelled ones on their way out
  LoadWatch watch_;
  SecondTrace second_;
  OpenedSnapshots snapshots_;
  const std::shared_ptr<const Document> nothing_;
  TraceSide side_ = TraceSide::a;  // which of two requests are about
  std::optional<FolderView> folder_;
  LatestJob<std::string, FolderView> folder_job_;
  FolderSummaries summaries_;  // of folder_
  FileChooser chooser_;
  ProgramRecorder recorder_;
  std::unique_ptr<DocumentJobs> jobs_;  // about what is shown; of B, second_ has its own
  Saves saves_;
  std::optional<std::string> copy_;
  // What the files of open documents were like just before they were read.
  std::vector<std::pair<std::weak_ptr<const Document>, std::optional<FileStamp>>> stamps_;
  const Document* window_has_ = nullptr;  // the document of the last frame
  // What the last frame was given, the trace and B, saved until the next one: the window knows documents by their addresses, so
  // no later one may take these.
  std::array<std::shared_ptr<const Document>, 2> given_;
  const Document* remembered_ = nullptr;  // the one that memory_ is about; two that change places leave it at that
  StateWriter writer_;
  ViewMemory memory_;
  NotesMemory notes_;  // of B, and of a remembered one while it is B
};

}  // namespace gapscope
