#include "app/session.h"

#include <fstream>
#include <system_error>

#include "app/folder_listing.h"
#include "app/recent_files.h"
#include "app/samples.h"
#include "app/free_name.h"

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
      kernels_job_(make_kernels, options_.wake) {
  Result<Settings> settings = read_settings(options_.settings_file);
  if (settings.ok())
    settings_ = std::move(*settings);
  else
    message_ = settings.error().message;
}

Session::~Session() { cancel_analysis(); }

void Session::open(const std::string& path) {
  cancel_load();
  message_.clear();
  load_ = std::make_unique<BackgroundLoad>(absolute_path(with_home(path, options_.home)), options_.wake);
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
                          if (document_) table_job_.ask({document_, r.question});
                          return true;
                        },
                        [&](const MakeKernels& r) {
                          if (document_) kernels_job_.ask({document_, r.range});
                          return true;
                        },
                        [&](const SaveText& r) { return save_text(r), true; },
                        [&](const KeepMuted& r) { return keep_muted(r), true; },
                        [&](const ReloadFile&) { return document_ ? open(document_->trace.path) : void(), true; },
                        [&](const CancelLoad&) { return cancel_load(), true; },
                        [&](const CloseFile&) { return close(), true; },
                        [&](const DismissMessage&) { return message_.clear(), true; },
                        [](const auto&) { return false; },
                    },
                    request);
}

void Session::poll(ViewState& view) {
  std::erase_if(ending_, [](const auto& load) { return load->done(); });
  if (closed_) view.details = {};
  closed_ = false;
  if (load_ && load_->done()) take_load(view);
  take_args(view);
  take_table(view);
  take_kernels(view);
  if (std::optional<FolderView> folder = folder_job_.take()) folder_ = std::move(folder);
}

void Session::take_load(ViewState& view) {
  const std::unique_ptr<BackgroundLoad> load = std::move(load_);
  BackgroundLoad::Outcome outcome = load->take();
  if (!outcome.ok()) {
    message_ = outcome.error().message;
    return;
  }
  adopt(std::move(*outcome), view);
}

void Session::adopt(std::shared_ptr<const Document> document, ViewState& view) {
  cancel_analysis();
  document_ = std::move(document);
  start_analysis();
  view.details = {};  // slice ids of the last document mean nothing in this one
  view.start_open = false;
  view.findings.muted = settings_.muted;
  remember_file(settings_.recent, document_->trace.path);
  if (const std::optional<Error> trouble = write_settings(options_.settings_file, settings_))
    message_ = trouble->message;
}

void Session::take_args(ViewState& view) {
  std::optional<ArgsAnswer> answer = args_job_.take();
  if (!answer || !document_ || answer->trace != document_->trace_owner) return;
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
  if (!done || !document_ || done->document.lock() != document_) return;
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
  if (!done || !document_ || done->document.lock() != document_) return;
  view.kernels.answer = std::move(done->answer);
}

void Session::start_analysis() {
  analysis_cancelled_ = std::make_shared<std::atomic<bool>>(false);
  analysis_job_.ask({document_, analysis_cancelled_});
}

void Session::cancel_analysis() {
  if (analysis_cancelled_) *analysis_cancelled_ = true;
}

void Session::save_text(const SaveText& what) {
  const std::string path = free_name_beside(document_ ? document_->trace.path : "", what.ending);
  std::ofstream file(path, std::ios::binary);
  file << what.text;
  file.close();
  message_ = file ? "Saved " + path : path + ": could not be written; is there room, and may you write there?";
}

void Session::keep_muted(const KeepMuted& what) {
  settings_.muted = what.rules;
  if (const std::optional<Error> trouble = write_settings(options_.settings_file, settings_)) message_ = trouble->message;
}

void Session::cancel_load() {
  if (!load_) return;
  load_->cancel();
  ending_.push_back(std::move(load_));
}

void Session::close() {
  cancel_load();
  cancel_analysis();
  document_.reset();
  closed_ = true;
}

void Session::ask_args(SliceId slice) {
  if (document_ && slice.valid()) args_job_.ask({document_->trace_owner, slice});
}

std::string Session::title() const {
  if (!document_) return "Gapscope";
  return std::filesystem::path(document_->trace.path).filename().string() + " - Gapscope";
}

void Session::fill(FrameInput& in) {
  in.document = document_.get();
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
  in.loading = &loading_view_;
}

}  // namespace gapscope
