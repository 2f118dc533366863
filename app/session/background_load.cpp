#include "app/session/background_load.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/session/captured_trace.h"
#include "app/state/kept_files.h"
#include "core/base/failure.h"
#include "core/base/huge_pages.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/base/trace_name.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// Down to where there is something to choose from: a trace, or several folders.
std::string folder_to_choose_in(std::string folder) {
  for (;;) {
    std::vector<std::string> folders;
    std::error_code error, ignored;
    for (const std::string& name : names_in(folder, error)) {
      if (is_trace_name(name)) return folder;
      std::string path = folder + '/' + name;
      if (!name.starts_with('.') && std::filesystem::is_directory(path, ignored)) folders.push_back(std::move(path));
    }
    if (folders.size() != 1) return folder;
    folder = std::move(folders.front());
  }
}

}  // namespace

BackgroundLoad::BackgroundLoad(std::string path, LoadOptions options, std::function<void()> wake, std::filesystem::path states,
                               std::vector<std::string> others, std::string capture)
    : work_(std::make_shared<Work>()) {
  work_->path = std::move(path);
  work_->options = std::move(options);
  work_->wake = std::move(wake);
  work_->states = std::move(states);
  work_->others = std::move(others);
  work_->capture = std::move(capture);
  try {
    thread_.emplace([work = work_] { work->run(); }, [work = work_]() noexcept { work->fail(); });
  } catch (...) {
    try {
      if (!stamp_of(work_->path)) throw;  // a pipe could make the window wait for ever
      work_->run();
    } catch (...) {
      work_->fail();
    }
  }
}

BackgroundLoad::~BackgroundLoad() {
  cancel();
  thread_.reset();
  const std::lock_guard lock(work_->mutex);
  work_->wake = nullptr;
}

void BackgroundLoad::cancel() {
  work_->progress.cancel = true;
  if (thread_) thread_->request_stop();
}

double BackgroundLoad::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::shared_ptr<const Document> BackgroundLoad::take_part() {
  const std::lock_guard lock(work_->mutex);
  return std::exchange(work_->part, nullptr);
}

std::string BackgroundLoad::take_second() {
  const std::lock_guard lock(work_->mutex);
  return std::exchange(work_->second, {});
}

// Of a folder `path` becomes the first trace in it; one of recordings that are no run is listed.
std::optional<Error> BackgroundLoad::Work::enter_folder() {
  if (!holds_several_traces(path)) return std::nullopt;
  const RankFiles found = find_rank_files({path});
  if (found.files.empty() && found.problems.empty()) return Error{"There is no trace in " + path + "."};
  if (found.files.empty()) {
    std::error_code ignored;
    if (found.in_folders.empty() || !std::filesystem::is_directory(path, ignored)) return Error{found.problems.front()};
    listed = folder_to_choose_in(path);
    return Error{found.in_folders + " Choose here."};
  }
  if (found.files.size() > 1 && std::none_of(found.files.begin(), found.files.end(), says_its_rank)) {
    listed = path;
    return Error{fmt::format("{} holds {} recordings that are not ranks of one run: choose one.", printable(path),
                             format_count(static_cast<std::int64_t>(found.files.size())))};
  }
  std::string folder = std::exchange(path, found.files.front());
  if (found.files.size() > 1 || says_its_rank(path)) ranks = {std::move(folder)};
  return std::nullopt;
}

// Of several files the first is shown while the others are read as ranks, or the second is compared with it.
void BackgroundLoad::Work::judge_others() {
  if (others.empty()) return;
  std::vector<std::string> all{path};
  all.insert(all.end(), others.begin(), others.end());
  if (are_ranks_of_a_run(all)) {
    ranks = std::move(all);
    return;
  }
  const std::lock_guard lock(mutex);
  second = others.front();
  if (wake) wake();
}

BackgroundLoad::Outcome BackgroundLoad::Work::load() {
  options.progress = &progress;
  options.on_part = [this](std::shared_ptr<const Trace> trace, const std::atomic<bool>& cancel) {
    std::shared_ptr<const Document> made = Document::make(std::move(trace), &cancel);
    if (!made) return;
    const std::lock_guard lock(mutex);
    part = std::move(made);
    if (wake) wake();
  };
  if (stamp && !states.empty()) add_saved(options.stated, states, path, stamp->bytes);
  Result<std::shared_ptr<const Trace>> trace = load_captured_trace(path, options, capture);
  if (!trace) return trace.error();
  progress.stage = static_cast<int>(LoadStage::indexing);
  std::shared_ptr<const Document> document = Document::make(std::move(*trace), &progress.cancel);
  return document ? Outcome(std::move(document)) : Outcome(Error{"Cancelled."});
}

BackgroundLoad::Outcome BackgroundLoad::Work::load_snapshot() {
  std::string before;
  std::shared_ptr<const Trace> program;
  progress.stage = static_cast<int>(LoadStage::reading);
  if (!others.empty() && is_pickle(others.front())) {
    before = std::exchange(path, others.front());
  } else if (!others.empty()) {
    options.progress = &progress;
    Result<std::shared_ptr<const Trace>> loaded = load_trace(others.front(), options);
    if (!loaded) return loaded.error();
    program = std::move(*loaded);
  }
  Result<std::shared_ptr<const OpenedSnapshot>> opened =
      open_snapshot(path, before, {&progress.bytes_done, &progress.bytes_total, &progress.cancel}, program.get());
  if (!opened) return opened.error();
  if (progress.cancel) return Error{"Cancelled."};
  snapshot = std::move(*opened);
  return std::shared_ptr<const Document>();
}

void BackgroundLoad::Work::run() {
  const HugePages allowed;
  if (others.size() == 1 && !is_pickle(path) && is_pickle(others.front())) std::swap(path, others.front());
  if (is_pickle(path)) {
    outcome = load_snapshot();
    return finish();
  }
  judge_others();
  const std::optional<Error> trouble = enter_folder();
  stamp = stamp_of(path);
  outcome = trouble ? Outcome(*trouble) : load();
  finish();
}

// In a catch block.
void BackgroundLoad::Work::fail() noexcept {
  outcome = Outcome(current_failure("open", path));
  finish();
}

void BackgroundLoad::Work::finish() noexcept {
  done = true;
  const std::lock_guard lock(mutex);
  if (wake) wake();
}

}  // namespace gapscope
