#pragma once
// What each thread of a load did when, for `gapscope info --stages`. A load without one does not look at the clock for it.
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace gapscope {

class LoadTimeline {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Stage { reading, inflating, parsing, storing, building, indexing };
  // Seconds since the timeline was made. Building and indexing are by several threads, and are said once, for all.
  struct Stretch {
    Stage stage = Stage::reading;
    int thread = 0;  // 0, 1, 2, ... as they were first met
    double begin = 0, end = 0;
    double processor_seconds = 0;  // of the whole program, between the two
  };

  // Any thread.
  void add(Stage stage, Clock::time_point begin, double processor_seconds_before);
  // Once the load has ended; in the order in which they ended.
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  int thread_number();

  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::vector<std::thread::id> threads_;
  std::vector<Stretch> stretches_;
};

// Adds the time from its beginning to its end; nothing where there is no timeline.
class Timed {
 public:
  Timed(LoadTimeline* timeline, LoadTimeline::Stage stage);
  ~Timed();
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  LoadTimeline* timeline_;
  LoadTimeline::Stage stage_;
  LoadTimeline::Clock::time_point begin_;
  double processor_seconds_ = 0;
};

// As load_trace(path) does by default.
Result<std::shared_ptr<const Trace>> load_trace_on(LoadTimeline& timeline, const std::string& path);

}  // namespace gapscope
