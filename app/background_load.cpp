#include "app/background_load.h"

#include <new>
#include <utility>

namespace gapscope {

BackgroundLoad::BackgroundLoad(std::string path, std::function<void()> wake)
    : path_(std::move(path)), wake_(std::move(wake)), thread_([this] { run(); }) {}

BackgroundLoad::~BackgroundLoad() { cancel(); }

double BackgroundLoad::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void BackgroundLoad::run() {
  LoadOptions options;
  options.progress = &progress_;
  try {
    Result<std::shared_ptr<const Trace>> trace = load_trace(path_, options);
    if (trace.ok()) {
      progress_.stage = static_cast<int>(LoadStage::indexing);
      std::shared_ptr<const Document> document = Document::make(std::move(*trace), &progress_.cancel);
      outcome_ = document ? Outcome(std::move(document)) : Outcome(Error{"Cancelled."});
    } else {
      outcome_ = Outcome(trace.error());
    }
  } catch (const std::bad_alloc&) {
    outcome_ =
        Outcome(Error{path_ + ": not enough memory to open it; close other programs or open a shorter recording."});
  }
  done_ = true;
  wake_();
}

}  // namespace gapscope
