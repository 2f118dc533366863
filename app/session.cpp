#include "app/session.h"

#include <fstream>
#include <system_error>

#include "app/folder_listing.h"
#include "app/recent_files.h"
#include "app/samples.h"
#include "app/free_name.h"
#include "core/view/slice_search.h"
#include "core/base/text.h"
#include "core/index/choose_crop.h"
#include "core/load/args.h"
#include "core/load/crop.h"

namespace gapscope {
namespace {

// A recent file must open from any working directory.
std::string absolute_path(const std::string& path) {
  if (path == "-") return path;
  std::error_code trouble;
  const std::filesystem::path whole = std::filesystem::absolute(path, trouble);
  return trouble ? path : whole.lexically_normal().string();
}

std::string with_home(const std::string& path, const std::string& home) {
  return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
}

// Building and indexing take about half as long as reading and parsing a plain file (measured: 0.47 s to 0.66 s and 0.9 s
// to 1.9 s); after a packed one less.
constexpr double kWholeToReading = 1.5;

constexpr std::chrono::milliseconds kRest{700};  // of preferences before they are written

double fraction_of(std::uint64_t done, std::uint64_t total) {
  return total == 0 ? -1 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
}

// The session's side of each request; every other kind is the window's.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

}  // namespace

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      args_job_(
          [](const ArgsQuestion& q) {
            return ArgsAnswer{q.trace, read_args_of(*q.trace, q.slice)};
          },
          options_.wake),
      folder_job_([home = options_.home](const std::string& path) { return list_folder(path, home); }, options_.wake),
      analysis_job_(
          [](const AnalysisTask& task) {
            task.document->diagnose(task.cancel.get());
            return true;
          },
          options_.wake),
      table_job_(make_table, options_.wake),
      kernels_job_(make_kernels, options_.wake),
      steps_job_(make_steps_of, options_.wake),
      area_jobs_(options_.wake),
      search_job_(make_search, options_.wake),
      crop_job_(save_crop, options_.wake),
      event_job_(read_event, options_.wake),
      memory_(options_.states, options_.wake) {
  Result<Settings> settings = read_settings(options_.settings_file);
  if (settings.ok())
    settings_ = std::move(*settings);
  else
    message_ = settings.error().message;
}

Session::~Session() {
  cancel_analysis();
  if (search_cancelled_) *search_cancelled_ = true;
  *crop_cancelled_ = true;
  if (settings_changed_) write_settings(options_.settings_file, settings_);
}

void Session::keep_preferences(const Preferences& now) {
  const auto time = std::chrono::steady_clock::now();
  if (now != settings_.preferences) {
    settings_.preferences = now;
    settings_changed_ = true;
    changed_at_ = time;
  }
  if (settings_changed_ && time - changed_at_ >= kRest) save_settings();
}

void Session::save_settings() {
  settings_changed_ = false;
  if (const std::optional<Error> trouble = write_settings(options_.settings_file, settings_)) message_ = trouble->message;
}

void Session::open(const std::string& path) {
  cancel_load();
  message_.clear();
  expected_seconds_ = 0;
  load_ = std::make_unique<BackgroundLoad>(absolute_path(with_home(path, options_.home)), options_.load,
                                           options_.wake);
}

bool Session::carry_out(const Request& request) {
  return std::visit(Overloaded{
                        [&](const OpenFile& r) { return open(r.path), true; },
                        [&](const OpenSample& r) {
                          if (r.index < samples().size())
                            open(sample_path(options_.assets, samples()[r.index]).string());
                          return true;
                        },
                        [&](const ListFolder& r) { return folder_job_.ask(r.path), true; },
                        [&](const ReadArgs& r) { return ask_args(r.slice), true; },
                        [&](const MakeTable& r) {
                          // A part's tables would be worked out for nothing: the whole follows soon.
                          if (document_ && !part_) table_job_.ask({document_, r.question});
                          return true;
                        },
                        [&](const MakeSteps& r) {
                          if (document_ && !part_) steps_job_.ask({document_, r.annotation});
                          return true;
                        },
                        [&](const MakeKernels& r) {
                          if (document_ && !part_) kernels_job_.ask({document_, r.range});
                          return true;
                        },
                        [&](const MakeAreaStats& r) {
                          if (document_ && !part_) area_jobs_.ask(document_, r.area);
                          return true;
                        },
                        [&](const MakeCallPaths& r) {
                          if (document_ && !part_) area_jobs_.ask(document_, r.question);
                          return true;
                        },
                        [&](const FindSlices& r) { return ask_search(r.question), true; },
                        [&](const SaveCrop& r) {
                          if (!document_ || part_) return true;
                          message_ = "Saving that part of the trace...";
                          crop_job_.ask({document_, r.window, crop_cancelled_});
                          return true;
                        },
                        [&](const CopyEvent& r) {
                          if (shown() && r.slice.valid()) event_job_.ask({shown()->trace_owner, r.slice});
                          return true;
                        },
                        [&](const StartFresh&) { return memory_.dismiss_notice(), true; },
                        [&](const DismissNotice&) { return memory_.dismiss_notice(), true; },
                        [&](const SaveText& r) { return save_text(r), true; },
                        [&](const KeepMuted& r) { return keep_muted(r), true; },
                        [&](const ReloadFile&) { return shown() ? open(std::string(shown()->trace.path)) : void(), true; },
                        [&](const CancelLoad&) { return cancel_load(), true; },
                        [&](const CloseFile&) { return close(), true; },
                        [&](const DismissMessage&) { return message_.clear(), true; },
                        [](const auto&) { return false; },
                    },
                    request);
}

void Session::poll(ViewState& view) {
  for (std::unique_ptr<BackgroundLoad>& load : ending_) {
    if (load->done()) free_later_.add(std::shared_ptr<const BackgroundLoad>(std::move(load)));
  }
  std::erase(ending_, nullptr);
  remember(view);
  if (closed_) view.details = {};
  closed_ = false;
  if (replaced_seen_) free_later(std::exchange(replaced_, nullptr));
  replaced_seen_ = false;
  if (load_ && load_->done())
    take_load(view);
  else
    take_part(view);
  take_args(view);
  take_table(view);
  take_kernels(view);
  take_steps(view);
  area_jobs_.take(shown(), view);
  take_search(view);
  take_crop_and_copy();
  if (std::optional<FolderView> folder = folder_job_.take()) folder_ = std::move(folder);
}

void Session::take_load(ViewState& view) {
  const std::shared_ptr<BackgroundLoad> load = std::move(load_);
  free_later_.add(load);
  BackgroundLoad::Outcome outcome = load->take();
  if (outcome.ok()) {
    adopt(std::move(*outcome), view);
    if (const std::optional<Error> trouble = memory_.adopt(*document_, load->stamp())) message_ = trouble->message;
    return;
  }
  message_ = outcome.error().message;
  drop_part();
}

void Session::take_part(ViewState& view) {
  std::shared_ptr<const Document> part = load_ ? load_->take_part() : nullptr;
  if (!part) return;
  replace_part(std::move(part));
  view.start_open = false;
}

// The next frame goes on from the part that was shown, if there was one.
void Session::replace_part(std::shared_ptr<const Document> part) {
  std::shared_ptr<const Document> last = std::exchange(part_, std::move(part));
  if (replaced_)
    free_later(std::move(last));  // it came and went between two frames
  else
    replaced_ = std::move(last);
}

// Without the file that it began, a part is of no use: what was open before is shown again.
void Session::drop_part() {
  free_later(std::exchange(part_, nullptr));
  free_later(std::exchange(replaced_, nullptr));
}

void Session::free_later(std::shared_ptr<const Document> document) {
  if (!document) return;
  free_later_.add(document->trace_owner);
  free_later_.add(std::move(document));
}

void Session::adopt(std::shared_ptr<const Document> document, ViewState& view) {
  cancel_analysis();
  replace_part(nullptr);
  free_later(std::exchange(document_, std::move(document)));
  start_analysis();
  view.details = {};  // slice ids of the last document mean nothing in this one
  view.start_open = false;
  view.findings.muted = settings_.muted;
  remember_file(settings_.recent, document_->trace.path);
  save_settings();
}

void Session::take_args(ViewState& view) {
  std::optional<ArgsAnswer> answer = args_job_.take();
  if (!answer || !shown() || answer->trace != shown()->trace_owner) return;
  view.details.args = std::move(answer->args);
  view.details.model = {};
}

Session::TableDone Session::make_table(const TableTask& task) {
  task.document->analyze();  // there already, but for a question that overtook it
  const OpEvents& events = task.document->analysis()->op_events(task.question.mode);
  const OpTableOptions options{task.question.range, task.question.by_shape};
  return {task.document, std::make_shared<const TableAnswer>(
                             TableAnswer{task.question, make_op_table(task.document->trace, events, options)})};
}

void Session::take_table(ViewState& view) {
  std::optional<TableDone> done = table_job_.take();
  if (!done || !shown() || done->document.lock() != shown()) return;
  view.table.answer = std::move(done->answer);
  view.table.selected = -1;
}

Session::KernelsDone Session::make_kernels(const KernelsTask& task) {
  const Document& document = *task.document;
  return {task.document, std::make_shared<const KernelsAnswer>(
                             KernelsAnswer{task.range, kernel_table(document.trace, document.links, task.range)})};
}

void Session::take_kernels(ViewState& view) {
  std::optional<KernelsDone> done = kernels_job_.take();
  if (!done || !shown() || done->document.lock() != shown()) return;
  view.kernels.answer = std::move(done->answer);
}

Session::StepsDone Session::make_steps_of(const StepsTask& task) {
  const Document& document = *task.document;
  return {task.document, std::make_shared<const StepsAnswer>(answer_steps(document.trace, document.links, task.annotation))};
}

void Session::take_steps(ViewState& view) {
  std::optional<StepsDone> done = steps_job_.take();
  if (!done || !shown() || done->document.lock() != shown()) return;
  view.steps.answer = std::move(done->answer);
}

Session::SearchDone Session::make_search(const SearchTask& task) {
  return {task.document, std::make_shared<const SearchAnswer>(find_slices(task.document->trace, task.document->names, task.question, task.cancel.get()))};
}

// A search that is overtaken ends at once. Parts are searched as well: what is there is worth finding.
void Session::ask_search(const SearchQuestion& question) {
  if (search_cancelled_) *search_cancelled_ = true;
  search_cancelled_ = std::make_shared<std::atomic<bool>>(false);
  if (shown()) search_job_.ask({shown(), question, search_cancelled_});
}

void Session::take_search(ViewState& view) {
  std::optional<SearchDone> done = search_job_.take();
  if (!done || !shown() || done->document.lock() != shown()) return;
  if (done->answer->question == view.search.asked) view.search.answer = std::move(done->answer);
}

std::string Session::save_crop(const CropTask& task) {
  const Document& document = *task.document;
  const std::string path = free_name_beside(document.trace.path, ".part.json.gz");
  const CropChoice choice = choose_crop(document.trace, document.links, task.window);
  const Result<CropFigures> figures = write_crop(document.trace, choice, path, task.cancel.get());
  if (!figures) return figures.error().message;
  return "Saved " + path + " with " + format_count(static_cast<std::int64_t>(choice.slice_count)) + " slices";
}

Session::EventText Session::read_event(const ArgsQuestion& question) {
  const Result<std::string> text = read_event_text(*question.trace, question.trace->slices.offset[question.slice.index()]);
  return text ? EventText{*text, {}} : EventText{{}, text.error().message};
}

void Session::take_crop_and_copy() {
  if (std::optional<std::string> said = crop_job_.take()) message_ = std::move(*said);
  if (std::optional<EventText> event = event_job_.take()) {
    if (event->error.empty())
      copy_ = std::move(event->text);
    else
      message_ = event->error;
  }
}

// What the last frame showed.
void Session::remember(const ViewState& view) {
  if (document_ && !part_ && window_has_ == document_.get()) memory_.track(*document_, view);
  if (const std::optional<Error> trouble = memory_.poll(document_.get())) message_ = trouble->message;
}

void Session::start_analysis() {
  analysis_cancelled_ = std::make_shared<std::atomic<bool>>(false);
  analysis_job_.ask({document_, analysis_cancelled_});
}

void Session::cancel_analysis() {
  area_jobs_.cancel();
  if (analysis_cancelled_) *analysis_cancelled_ = true;
}

void Session::save_text(const SaveText& what) {
  const std::string path = free_name_beside(shown() ? shown()->trace.path : "", what.ending);
  std::ofstream file(path, std::ios::binary);
  file << what.text;
  file.close();
  message_ = file ? "Saved " + path : path + ": could not be written; is there room, and may you write there?";
}

void Session::keep_muted(const KeepMuted& what) {
  settings_.muted = what.rules;
  save_settings();
}

void Session::cancel_load() {
  if (!load_) return;
  load_->cancel();
  ending_.push_back(std::move(load_));
  drop_part();
}

void Session::close() {
  cancel_load();
  cancel_analysis();
  free_later(std::exchange(document_, nullptr));
  closed_ = true;
  memory_.close();
}

void Session::ask_args(SliceId slice) {
  if (shown() && slice.valid()) args_job_.ask({shown()->trace_owner, slice});
}

std::string Session::title() const {
  if (!shown()) return "Gapscope";
  return std::filesystem::path(shown()->trace.path).filename().string() + " - Gapscope";
}

// Foreseen from the bytes read as long as there are more; from then on what is left of that.
double Session::seconds_left(const LoadProgress& progress) {
  const double seconds = load_->seconds();
  const double fraction = fraction_of(progress.bytes_done, progress.bytes_total);
  if (fraction > 0 && progress.stage <= static_cast<int>(LoadStage::reading)) {
    expected_seconds_ = seconds / fraction * kWholeToReading;
  }
  return expected_seconds_ > 0 ? std::max(0.0, expected_seconds_ - seconds) : -1;
}

void Session::fill(FrameInput& in) {
  in.document = window_has_ = shown().get();
  in.kept = memory_.kept();
  in.notice = memory_.notice();
  in.part_before = replaced_.get();
  replaced_seen_ = true;
  in.message = message_;
  in.recent = settings_.recent;
  in.samples = options_.assets.empty() ? std::span<const Sample>{} : samples();
  in.folder = folder_ ? &*folder_ : nullptr;
  in.loading = nullptr;
  if (!load_) return;
  const LoadProgress& progress = load_->progress();
  loading_view_.path = load_->path();
  loading_view_.stage = load_stage_name(static_cast<LoadStage>(progress.stage.load()));
  loading_view_.bytes_done = progress.bytes_done;
  loading_view_.bytes_total = progress.bytes_total;
  loading_view_.fraction = fraction_of(loading_view_.bytes_done, loading_view_.bytes_total);
  loading_view_.events = progress.events;
  loading_view_.seconds = load_->seconds();
  loading_view_.seconds_left = seconds_left(progress);
  in.loading = &loading_view_;
}

}  // namespace gapscope
