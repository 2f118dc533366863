#include "app/background_load.h"

#include <new>
#include <utility>

namespace gapscope {

BackgroundLoad::BackgroundLoad(std::string path, LoadOptions options, std::function<void()> wake)
    : path_(std::move(path)), options_(std::move(options)), wake_(std::move(wake)), thread_([this] { run(); }) {}

BackgroundLoad::~BackgroundLoad() { cancel(); }

double BackgroundLoad::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::shared_ptr<const Document> BackgroundLoad::take_part() {
  const std::lock_guard lock(part_mutex_);
  return std::exchange(part_, nullptr);
}

BackgroundLoad::Outcome BackgroundLoad::load() {
  options_.progress = &progress_;
  options_.on_part = [this](std::shared_ptr<const Trace> trace, const std::atomic<bool>& cancel) {
    std::shared_ptr<const Document> part = Document::make(std::move(trace), &cancel);
    if (!part) return;
    {
      const std::lock_guard lock(part_mutex_);
      part_ = std::move(part);
    }
    wake_();
  };
  Result<std::shared_ptr<const Trace>> trace = load_trace(path_, options_);
  if (!trace) return trace.error();
  progress_.stage = static_cast<int>(LoadStage::indexing);
  std::shared_ptr<const Document> document = Document::make(std::move(*trace), &progress_.cancel);
  return document ? Outcome(std::move(document)) : Outcome(Error{"Cancelled."});
}

void BackgroundLoad::run() {
  try {
    stamp_ = stamp_of(path_);
    outcome_ = load();
  } catch (const std::bad_alloc&) {
    outcome_ =
        Outcome(Error{path_ + ": not enough memory to open it; close other programs or open a shorter recording."});
  }
  done_ = true;
  wake_();
}

}  // namespace gapscope
