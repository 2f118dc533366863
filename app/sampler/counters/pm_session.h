#pragma once
// One GPU's counters, sampled by CUPTI's PM sampling: a thread empties the hardware's buffer often (what is not fetched in time
// is overwritten), another makes readings of what came. One session a GPU is all that the hardware has. No clock is locked.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/sampler/counters/metric_sets.h"
#include "app/sampler/counters/readings.h"

namespace gapscope::sampler {

struct PmRequest {
  int device = 0;  // of CUDA
  std::vector<std::string> groups;
  std::int64_t interval_ns = 20'000;
  double peak_dram = 0;  // bytes a second
  std::function<Ns()> clock;
};

class PmSession {
 public:
  // Called on a thread of the session, in the order of time.
  using Sink = std::function<void(const CounterReading&)>;

  PmSession();
  ~PmSession();
  PmSession(const PmSession&) = delete;
  PmSession& operator=(const PmSession&) = delete;

  // Begins to sample. Empty, or why this GPU has no counters here. Takes some 0.2 s.
  std::string start(const PmRequest& request, Sink sink);
  // Ends it and hands over what was fetched. Does nothing the second time. Where the process ends, its contexts may be gone
  // already: the driver is not asked any more, and takes the counters back by itself.
  enum class Why : bool { recording_ends, process_ends };
  void stop(Why why) noexcept;

  // What was left out, after start.
  const std::vector<std::string>& sentences() const;
  // Why it ended early; empty: it did not. After stop.
  std::string trouble() const;

  // What a GPU has: lines for a person. The driver is loaded and initialised.
  static std::vector<std::string> describe(int device);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gapscope::sampler
