#include "app/session/folder_summaries.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/state/kept_files.h"
#include "core/base/trace_name.h"
#include "core/diagnose/diagnose.h"
#include "core/session/trace_session.h"
#include "core/view/overview/answer_card.h"

namespace gapscope {
namespace {

// Of a file, which then takes a second or two, and some hundred MB of memory; a packed one is some ten times as large as it
// looks.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20, kMostPacked = std::uint64_t{8} << 20;
constexpr std::size_t kMostFiles = 200;

}  // namespace

FolderSummaries::FolderSummaries(std::function<void()> wake)
    : job_("read the recordings of the folder", &read, std::move(wake)) {}

RunSummary FolderSummaries::read(const Question& question) {
  LoadOptions options = question.options;
  options.progress = question.progress.get();
  add_saved(options.stated, question.states, question.path, question.bytes);
  const Result<std::shared_ptr<const Trace>> trace = load_trace(question.path, options);
  if (!trace) return {trace.error().message, 0, std::nullopt, true};
  const TraceSession session(*trace);
  const Headline& headline = headline_of(session);
  const AnswerCard card = answer_card(**trace, headline, nullptr, recorded_run(session));
  return {headline.limit(), card.step, card.gpu_share, false};
}

void FolderSummaries::begin(FolderView& folder, const LoadOptions& options, const std::filesystem::path& states) {
  hold();
  left_.clear();
  for (std::size_t i = 0; i < folder.entries.size(); ++i) {
    const FolderEntry& entry = folder.entries[i];
    if (entry.is_folder || entry.bytes == 0 || !is_trace_name(entry.name) ||
        entry.bytes > (entry.name.ends_with(".json") ? kMostBytes : kMostPacked))
      continue;
    left_.push_back({(std::filesystem::path(folder.path) / entry.name).string(), entry.bytes, i, options, states, nullptr});
  }
  std::stable_sort(left_.begin(), left_.end(), [](const Question& a, const Question& b) { return a.bytes > b.bytes; });
  if (left_.size() > kMostFiles) left_.erase(left_.begin(), left_.end() - static_cast<std::ptrdiff_t>(kMostFiles));
  for (const Question& question : left_) folder.entries[question.entry].summary.emplace();
}

void FolderSummaries::hold() {
  if (!under_way_) return;
  under_way_->progress->cancel = true;
  left_.push_back(std::move(*under_way_));
  under_way_.reset();
}

void FolderSummaries::poll(FolderView& folder) {
  std::optional<RunSummary> answer = job_.take();
  const std::optional<Error> trouble = job_.take_trouble();
  if (under_way_ && (answer || trouble)) {
    RunSummary& summary = folder.entries[under_way_->entry].summary.emplace();
    summary = answer ? std::move(*answer) : RunSummary{trouble->message, 0, std::nullopt, true};
    under_way_.reset();
  }
  if (under_way_ || left_.empty()) return;
  under_way_ = std::move(left_.back());
  left_.pop_back();
  under_way_->progress = std::make_shared<LoadProgress>();
  job_.ask(*under_way_);
}

void FolderSummaries::request_stop() {
  hold();
  job_.request_stop();
}

}  // namespace gapscope
