// Over 400 lines: the one owner of what is open, whose members are a few lines each.
#include "app/session/session.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "app/session/captured_trace.h"
#include "app/session/editor.h"
#include "app/session/samples.h"
#include "app/window/folder_listing.h"
#include "core/analyze/gpu/devices.h"
#include "core/base/address.h"
#include "core/base/text.h"
#include "core/load/merge_counters.h"
#include "core/replay/plain_program.h"
#include "core/view/document.h"
#include "core/view/source_place.h"
#include "ui/panels.h"

namespace gapscope {
namespace {

// A recent file must open from any working directory.
std::string absolute_path(const std::string& given) {
  const std::string path = without_file_scheme(given);
  if (path == "-" || !fetch_command(path).empty()) return path;
  std::error_code trouble;
  const std::filesystem::path whole = std::filesystem::absolute(path, trouble).lexically_normal();
  if (trouble) return path;
  return (whole.has_filename() ? whole : whole.parent_path()).string();  // "/data/run/" is the folder "/data/run"
}

std::string with_home(const std::string& path, const std::string& home) {
  return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
}

// The session's side of each request; every other kind is the window's.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang 14 does not make one itself

// The start screen with the recordings of the folder.
void list_recordings(const std::string& folder, WindowState& window) {
  StartFields& fields = window.start;
  fields = {};
  fields.path = folder + (folder.ends_with('/') ? "" : "/");
  fields.replaced = true;
  window.start_open = true;
}

}  // namespace

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      settings_file_(std::make_shared<SettingsFile>(options_.settings_file)),
      second_(options_.wake, free_later_),
      snapshots_(options_.wake, free_later_),
      folder_job_(
          "list the folder", [home = options_.home](const std::string& path) { return list_folder(path, home); },
          options_.wake),
      summaries_(options_.wake),
      chooser_(options_.wake),
      recorder_(options_.wake),
      jobs_(std::make_unique<DocumentJobs>(options_.wake)),
      saves_(chooser_, options_.states, options_.wake,
             [this](const char* begun) {
               tell({begun, {}});
             }),
      memory_(options_.states, writer_, options_.wake),
      notes_(options_.states, writer_) {
  settings_ = settings_file_->read(message_);
  StatedRoofs& roofs = options_.load.stated.roofs;
  for (const std::string& roof : settings_.roofs)
    if (!read_peak(roof, roofs))
      message_ = fmt::format("The settings name a roof that does not exist: \"{}\".", elide_middle(printable(roof), 60));
  said_at_start_ = message_;
}

// All are asked to stop before one is waited for.
Session::~Session() {
  if (load_) load_->cancel();
  second_.request_stop();
  snapshots_.request_stop();
  jobs_->request_stop();
  folder_job_.request_stop();
  summaries_.request_stop();
  saves_.request_stop();
  recorder_.request_stop();
  memory_.request_stop();
}

void Session::keep_preferences(const Preferences& now) {
  if (now == settings_.preferences) return;
  settings_.preferences = now;
  save_settings();
}

void Session::save_settings() {
  if (settings_file_->path().empty()) return;
  writer_.put(settings_file_->path(), [file = settings_file_, now = settings_] { return file->write(now); });
}

void Session::start_load(const std::string& path, std::vector<std::string> others, const std::string& capture,
                         const Stated* stated) {
  cancel_load();
  summaries_.hold();
  message_.clear();
  news_ = {};
  watch_.restart();
  opens_alone_ = false;
  asked_since_.reset();
  for (std::string& other : others) other = absolute_path(with_home(other, options_.home));
  LoadOptions load = options_.load;
  if (stated != nullptr) load.stated = *stated;
  load_ = std::make_shared<BackgroundLoad>(absolute_path(with_home(path, options_.home)), std::move(load), options_.wake,
                                           stated != nullptr ? std::filesystem::path() : options_.states, std::move(others),
                                           capture);
  capture_ = capture;
}

// The steps that were chosen go, too; not the step time, which was measured.
void Session::start_fresh() {
  memory_.dismiss_notice();
  if (!document_ || part_ || document_->trace.stated.steps == options_.load.stated.steps) return;
  Stated stated = document_->trace.stated;
  stated.steps = options_.load.stated.steps;
  start_load(document_->trace.path, {}, capture_, &stated);
}

void Session::load_with(const Stated& stated) { start_load(subject()->trace.path, {}, capture_, &stated); }

void Session::open(const std::string& path) { open_all({path}); }

void Session::open_all(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  start_load(paths.front(), {paths.begin() + 1, paths.end()});
  opens_alone_ = true;
  if (second_.is_loading()) second_.close();  // it was for what is on its way out
}

// B goes for what has been opened, unless it was asked for since then.
void Session::leave_second() {
  if (std::exchange(opens_alone_, false) && second_.document() != asked_since_.lock()) second_.let_go();
}

void Session::open_second(const std::string& path) {
  if (snapshot()) return open_all({snapshots_.opened()->path, path});  // a snapshot is read together with another, or a trace
  if (subject() && is_pickle(path)) return open_all({path, subject()->trace.path});
  message_.clear();
  news_ = {};
  second_.open(absolute_path(with_home(path, options_.home)), options_.load, options_.states);
}

std::shared_ptr<const Document> Session::whole_subject() const {
  return subject() && !subject()->trace.is_part ? subject() : nullptr;
}

std::vector<Note> Session::notes_of_subject() const {
  if (!subject()) return {};
  const std::vector<Note>* of_second = notes_.of(*subject());
  return of_second != nullptr ? *of_second : memory_.latest().notes;
}

bool Session::carry_out(const Request& request) {
  return std::visit(
      Overloaded{
          [&](const OpenFile& r) { return r.as_second ? open_second(r.path) : open(r.path), true; },
          [&](const OpenSample& r) {
            if (r.index >= samples().size()) return true;
            const std::string path = sample_path(options_.assets, samples()[r.index]).string();
            return r.as_second ? open_second(path) : open(path), true;
          },
          [&](const BrowseFile& r) {
            saves_.ask_no_more();
            return chooser_.ask({folder_ ? folder_->path + "/" : "", r.as_second}), true;
          },
          [&](const ListFolder& r) { return folder_job_.ask(r.path), true; },
          [&](const Ask& r) { return ask(r), true; },
          [&](const SaveCrop& r) {
            return saves_.crop(whole_subject(), stamp_of_subject(), r.window, notes_of_subject()), true;
          },
          [&](const SaveHtml& r) { return saves_.html(whole_subject(), r.notes), true; },
          [&](const CopyEvent& r) {
            if (has(r.slice)) saves_.copy_event(subject(), r.slice);
            return true;
          },
          [&](const StartFresh&) { return start_fresh(), true; },
          [&](const DismissNotice&) { return memory_.dismiss_notice(), true; },
          [&](const SaveText& r) { return saves_.text(subject() ? subject()->trace.path : "", r), true; },
          [&](const OpenInEditor& r) {
            const auto here = subject() ? source_here(subject()->trace, r.file, settings_.source_paths) : std::nullopt;
            if (!here)
              message_ = printable(r.file) + " is not on this machine. Set its folder in View > Editor and sources.";
            else if (const auto error = open_in_editor(settings_.editor, *here, r.line))
              message_ = error->message;
            return true;
          },
          [&](const OpenOnDesktop& r) {
            if (const auto error = open_on_desktop(r.path)) message_ = error->message;
            return true;
          },
          [&](const AllowSources& r) {
            EditorSettings editor{settings_.editor, settings_.source_paths};
            editor.paths.push_back("=" + r.folder);
            return keep_editor(editor), true;
          },
          [&](const KeepEditor& r) { return keep_editor(r.editor), true; },
          [&](const KeepMuted& r) { return keep_muted(r), true; },
          [&](const KeepQueries& r) { return keep_queries(r), true; },
          [&](const SwapTraces&) { return change_places(), true; },
          [&](const CloseSecond&) { return second_.close(), true; },
          [&](const ActOn& r) { return side_ = r.side, true; },
          [&](const MakeComparison& r) {
            if (!part_) second_.compare(document_, r.options);
            return true;
          },
          [&](const ReloadFile&) {
            if (snapshot()) return open_all(snapshots_.paths()), true;
            if (!subject()) return true;
            const std::string path = subject()->trace.path;
            return acts_on_second() ? open_second(path) : start_load(path, {}, capture_), true;
          },
          [&](const StateStepTime& r) {
            if (!subject() || acts_on_second()) return true;
            Stated stated = subject()->trace.stated;
            stated.step_time = r.step;
            return load_with(stated), true;
          },
          [&](const StateSteps& r) {
            if (!subject() || acts_on_second()) return true;
            Stated stated = subject()->trace.stated;
            stated.steps = r.annotation;
            return load_with(stated), true;
          },
          [&](const CancelLoad&) { return cancel_load(), true; },
          [&](const CloseFile&) { return close(), true; },
          [&](const ListenForPrograms& r) { return recorder_.listen(r.on), true; },
          [&](const RecordPrograms& r) {
            RecordPrograms what = r;
            what.folder = with_home(what.folder, options_.home);
            return recorder_.record(std::move(what)), true;
          },
          [&](const RecordAgain&) { return recorder_.record_again(), true; },
          [&](const CancelRecording&) { return recorder_.cancel(), true; },
          [&](const DismissMessage&) { return message_.empty() ? void(news_ = {}) : message_.clear(), true; },
          [](const auto&) { return false; },
      },
      request);
}

void Session::poll(ViewState& view) {
  if (!said_at_start_.empty()) message_ = std::exchange(said_at_start_, {});
  for (std::shared_ptr<BackgroundLoad>& load : ending_) {
    if (load->done()) free_later_.add(std::move(load));
  }
  std::erase(ending_, nullptr);
  remember(view);
  notes_.track(given_, view);
  if (closed_) view.of(TraceSide::a).details = {};
  closed_ = false;
  if (replaced_seen_) free_later(std::exchange(replaced_, nullptr));
  replaced_seen_ = false;
  if (load_)
    if (const std::string second = load_->take_second(); !second.empty()) open_second(second);
  if (load_ && load_->done())
    take_load(view.of(TraceSide::a), view.window);
  else
    take_part(view.window);
  if (std::string trouble = snapshots_.poll(); !trouble.empty()) message_ = std::move(trouble);
  take_second();
  take_recorded(view.window);
  if (std::string trouble = second_.take_comparison(part_ ? nullptr : document_, view.window); !trouble.empty())
    message_ = std::move(trouble);
  if (std::string trouble = jobs_->take(); !trouble.empty()) message_ = std::move(trouble);
  take_done();
  if (const std::optional<Error> trouble = take_desktop_trouble()) message_ = trouble->message;
  if (std::optional<FolderView> folder = folder_job_.take()) {
    folder_ = std::move(folder);
    summaries_.begin(*folder_, options_.load, options_.states);
  }
  if (folder_ && !load_ && (!shown() || view.window.start_open)) summaries_.poll(*folder_);
  if (const std::optional<Error> trouble = folder_job_.take_trouble()) message_ = trouble->message;
  take_chosen(view.window);
}

void Session::take_chosen(WindowState& window) {
  const std::optional<FileChooser::Answer> chosen = chooser_.take();
  if (chosen && chosen->saves) return saves_.take_place(*chosen);
  if (!chosen || chosen->paths.empty()) return;
  if (!chosen->as_second || !(shown() || snapshot())) return open_all(chosen->paths);
  open_second(chosen->paths.front());
  window.start_open = false;
}

void Session::take_load(TraceView& view, WindowState& window) {
  const std::shared_ptr<BackgroundLoad> load = std::move(load_);
  free_later_.add(load);
  BackgroundLoad::Outcome outcome = load->take();
  if (outcome.ok() && load->snapshot()) return take_snapshot(load->snapshot(), window);
  if (outcome.ok()) {
    leave_second();
    adopt(std::move(*outcome), view, window);
    keep_stamp(document_, load->stamp());
    take_run(load->run(), window);
    remember_recent(window);
    remembered_ = document_.get();
    if (const std::optional<Error> trouble = memory_.adopt(*document_, load->stamp())) message_ = trouble->message;
    tell_of_counters_alone();
    return;
  }
  if (!message_.empty()) message_ += ' ';  // what was said while it loaded, as of broken settings, is not lost to it
  message_ += outcome.error().message;
  if (!load->listed().empty()) list_recordings(load->listed(), window);
  drop_part();
}

// It is alone in the window.
void Session::take_snapshot(std::shared_ptr<const OpenedSnapshot> opened, WindowState& window) {
  opens_alone_ = false;
  second_.let_go();
  drop_part();
  drop_document();
  window.start_open = false;
  snapshots_.show(std::move(opened));
  remember_file(settings_.recent, snapshots_.opened()->path);
  save_settings();
  writer_.flush();
}

// A folder is a run of many ranks, as several files are; a file from elsewhere is none of the run that was open.
void Session::take_run(const std::vector<std::string>& run, WindowState& window) {
  const std::string& file = document_->trace.path;
  const std::string around = std::filesystem::path(file).parent_path().string();
  const auto is_of_run = [&](const std::string& path) { return path == file || path == around; };
  if (!run.empty()) {
    window.ranks.paths = run;
    window.ranks.wanted = true;
    show_panel(window, "ranks");
  } else if (std::none_of(window.ranks.paths.begin(), window.ranks.paths.end(), is_of_run)) {
    window.ranks.paths.clear();
    window.ranks.wanted = false;
  }
}

// Of a rank of the folder that is open, the folder.
void Session::remember_recent(const WindowState& window) {
  const std::vector<std::string>& run = window.ranks.paths;
  remember_file(settings_.recent, run.size() == 1 ? run.front() : document_->trace.path);
  save_settings();
  writer_.flush();
}

void Session::take_part(WindowState& window) {
  std::shared_ptr<const Document> part = load_ ? load_->take_part() : nullptr;
  if (!part) return;
  if (!part_) window.start_open = false;  // what it led to is there; opened again since then, it stays
  replace_part(std::move(part));
}

// The next frame continues from the part that was shown, if there was one.
void Session::replace_part(std::shared_ptr<const Document> part) {
  std::shared_ptr<const Document> last = std::exchange(part_, std::move(part));
  if (replaced_)
    free_later(std::move(last));  // it came and went between two frames
  else
    replaced_ = std::move(last);
}

// Without the file that it began, a part is of no use: what was open before is shown again, as it was.
void Session::drop_part() {
  if (part_ && document_ && remembered_ == document_.get()) memory_.bring_back();
  free_later(std::exchange(part_, nullptr));
  free_later(std::exchange(replaced_, nullptr));
}

void Session::keep_stamp(const std::shared_ptr<const Document>& document, std::optional<FileStamp> stamp) {
  std::erase_if(stamps_, [](const auto& kept) { return kept.first.expired(); });
  stamps_.emplace_back(document, stamp);
}

std::optional<FileStamp> Session::stamp_of_subject() const {
  for (const auto& [document, stamp] : stamps_)
    if (document.lock() == subject()) return stamp;
  return std::nullopt;
}

void Session::free_later(std::shared_ptr<const Document> document) {
  if (!document) return;
  free_later_.add(document->trace_owner);
  free_later_.add(std::move(document));
}

bool Session::awaits_headline() const {
  if (!document_ || document_->headline()) return false;
  const Asked<AnalysisQuestion>& analysis = asked<AnalysisQuestion>(*document_);
  return analysis.question && !analysis.answer && analysis.trouble.empty();
}

void Session::adopt(std::shared_ptr<const Document> document, TraceView& view, WindowState& window) {
  jobs_->cancel();
  snapshots_.close();
  if (!part_) window.start_open = false;
  replace_part(nullptr);
  free_later(std::exchange(document_, std::move(document)));
  jobs_->ask(document_, AnalysisQuestion{});
  view.details = {};  // slice ids of the last document mean nothing in this one
  window.settings.findings.muted = settings_.muted;
  window.sql.recent = settings_.recent_queries;
  window.sql.saved = settings_.saved_queries;
}

void Session::change_places() {
  if (!document_ || part_ || !second_.document()) return;
  if (asked_since_.lock() == second_.document()) asked_since_ = document_;
  if (document_.get() == remembered_) notes_.take_over(document_, memory_.latest());
  second_.change_places(document_, jobs_);
  if (document_.get() == remembered_) notes_.let_go(*document_);
  side_ = other(side_);  // what was acted on still is
}

// There is nothing in such a file to compare or to read without the trace that it belongs to.
void Session::tell_of_counters_alone() {
  const Document *first = document_.get(), *second = second_.document().get();
  if (first && holds_counters_alone(first->trace))
    message_ = counters_alone_words(first->trace, second ? second->trace.path : "TRACE");
  else if (second && holds_counters_alone(second->trace))
    message_ = counters_alone_words(second->trace, first ? first->trace.path : "TRACE");
}

void Session::take_second() {
  const std::optional<SecondTrace::News> news = second_.poll();
  if (!news) return;
  if (!news->trouble.empty()) message_ = news->trouble;
  if (news->opened.empty()) return;
  if (load_) asked_since_ = second_.document();
  if (document_ && is_capture_for(document_->trace, second_.document()->trace)) return join_capture(news->opened);
  tell_of_counters_alone();
  const bool is_other = !document_ || document_->trace.path != news->opened;  // else the first one's notes are its own
  if (is_other)
    if (const std::optional<Error> trouble = notes_.adopt(second_.document())) message_ = trouble->message;
  keep_stamp(second_.document(), news->stamp);
  remember_file(settings_.recent, news->opened);
  save_settings();
}

// What running programs have recorded. Compared with the newest of what is open.
void Session::take_recorded(WindowState& window) {
  const std::optional<ProgramRecorder::Outcome> done = recorder_.take();
  if (!done) return;
  if (!done->traces.empty()) window.start_open = false;
  if (done->traces.empty()) {
    if (recorder_.listens()) return;  // the page says it
  } else if (done->what.as_second && document_ && !part_) {
    if (second_.document()) change_places();
    open_second(done->traces.front());
  } else {
    open(done->traces.size() == 1 ? done->traces.front() : done->folder);
  }
  if (!done->said.empty()) message_ = done->said;
}

// The open trace once more, joined with what captured its graphs.
void Session::join_capture(const std::string& capture) {
  second_.close();
  start_load(document_->trace.path, {}, capture);
}

void Session::ask(const Ask& what) {
  if (shown() && shown().get() == what.document) jobs_->ask(shown(), what.question);
  if (second_.document() && second_.document().get() == what.document) second_.jobs().ask(second_.document(), what.question);
}

void Session::take_done() {
  std::optional<ActionQueue::Done> done = saves_.take();
  if (!done) return;
  if (!done->say.empty()) {
    if (news_.saved.empty()) news_ = {};  // it was being saved
    done->saved.empty() ? say(std::move(done->say)) : tell({std::move(done->say), std::move(done->saved)});
  }
  if (done->copy) copy_ = std::move(done->copy);
  if (options_.wake) options_.wake();  // of what was done since then the next one is said in the next frame
}

// What the last frame showed of the trace that was opened as the first; of a second one only notes are.
void Session::remember(const ViewState& view) {
  // The window turns to A a frame after B was closed: until then its view is B's.
  const bool is_of_a = side_ == TraceSide::a && view.window.compare.side == TraceSide::a;
  if (document_ && !part_ && is_of_a && remembered_ == document_.get() && window_has_ == document_.get())
    memory_.track(*document_, view.of(TraceSide::a), view.window);
  memory_.poll(document_.get());
  if (std::string news = writer_.take_news(); !news.empty()) message_ = std::move(news);
}

void Session::keep_muted(const KeepMuted& what) {
  settings_.muted = what.rules;
  save_settings();
}

void Session::keep_editor(const EditorSettings& editor) {
  settings_.editor = editor.command;
  settings_.source_paths = editor.paths;
  save_settings();
}

void Session::keep_queries(const KeepQueries& what) {
  settings_.recent_queries = what.recent;
  settings_.saved_queries = what.saved;
  save_settings();
}

void Session::cancel_load() {
  if (!load_) return;
  load_->cancel();
  ending_.push_back(std::move(load_));
  drop_part();
}

// Of two traces the one that is acted on is closed, and the other one is left alone in the window.
void Session::close() {
  cancel_load();
  if (document_ && second_.document()) {
    if (side_ == TraceSide::a) second_.change_places(document_, jobs_);
    while (second_.is_loading()) second_.close();
    side_ = TraceSide::a;
    if (second_.document().get() == remembered_) {
      memory_.close();
      remembered_ = nullptr;
    }
    return second_.close();
  }
  snapshots_.close();
  drop_document();
}

void Session::drop_document() {
  jobs_->cancel();
  free_later(std::exchange(document_, nullptr));
  closed_ = true;
  remembered_ = nullptr;
  memory_.close();
}

bool Session::has(SliceId slice) const { return subject() && slice.valid() && slice.index() < subject()->trace.slice_count(); }

std::string Session::title() const {
  if (snapshot()) return std::filesystem::path(snapshot()->path).filename().string() + " - Gapscope";
  if (!shown()) return "Gapscope";
  const auto name = [](const Document& d) { return std::filesystem::path(d.trace.path).filename().string(); };
  return name(*shown()) + (shown_second() ? " | " + name(*shown_second()) : "") + " - Gapscope";
}

void Session::fill(FrameInput& in) {
  given_ = {shown(), shown_second()};  // those before are free_later_'s by now, where they are closed
  in.document = window_has_ = shown().get();
  in.snapshot = snapshot();
  in.moment = in.snapshot ? snapshots_.moment() : nullptr;
  in.kept = memory_.kept();
  in.notice = memory_.notice();
  in.part_before = replaced_.get();
  replaced_seen_ = true;
  in.message = message_;
  in.news = message_.empty() && !news_.text.empty() ? &news_ : nullptr;
  in.recent = settings_.recent;
  in.editor = {settings_.editor, settings_.source_paths};
  in.samples = options_.assets.empty() ? std::span<const Sample>{} : samples();
  in.folder = folder();
  in.can_browse = can_browse();
  in.has_desktop = has_desktop();
  in.second = second();
  in.loading = load_ ? &watch_.of(*load_) : nullptr;
  in.loading_second = second_.loading();
  in.attach = &recorder_.view();
}

}  // namespace gapscope
