#include "core/load/load_timeline.h"

#include <algorithm>

#include <sys/resource.h>

namespace gapscope {
namespace {

double seconds(LoadTimeline::Clock::duration d) { return std::chrono::duration<double>(d).count(); }

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return of(used.ru_utime) + of(used.ru_stime);
}

}  // namespace

void LoadTimeline::add(Stage stage, Clock::time_point begin, double processor_seconds_before) {
  const auto end = Clock::now();
  const double used = processor_seconds() - processor_seconds_before;
  const std::lock_guard lock(mutex_);
  stretches_.push_back({stage, thread_number(), seconds(begin - start_), seconds(end - start_), used});
}

int LoadTimeline::thread_number() {
  const auto at = std::find(threads_.begin(), threads_.end(), std::this_thread::get_id());
  const auto number = at - threads_.begin();
  if (at == threads_.end()) threads_.push_back(std::this_thread::get_id());
  return static_cast<int>(number);
}

Timed::Timed(LoadTimeline* timeline, LoadTimeline::Stage stage) : timeline_(timeline), stage_(stage) {
  if (timeline_ == nullptr) return;
  processor_seconds_ = processor_seconds();
  begin_ = LoadTimeline::Clock::now();
}

Timed::~Timed() {
  if (timeline_ != nullptr) timeline_->add(stage_, begin_, processor_seconds_);
}

}  // namespace gapscope
