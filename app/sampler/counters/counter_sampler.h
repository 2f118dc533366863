#pragma once
// Samples counters of GPUs until the recording ends, and keeps what came until the recorder takes it: bounded, and what found
// no room is counted.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/sampler/counters/nvml_library.h"
#include "app/sampler/counters/pm_session.h"
#include "app/sampler/devices.h"

namespace gapscope::sampler {

class CounterSampler {
 public:
  using Clock = std::function<Ns()>;
  // Of each GPU that this process uses, from when it first does; or of all, from the start, for a program in another process.
  enum class Which : bool { in_use, all };
  // `groups`: see metric_sets.h; empty means all.
  CounterSampler(Which which, std::vector<std::string> groups, std::int64_t interval_ns, Clock clock);
  ~CounterSampler() { stop(PmSession::Why::process_ends); }
  CounterSampler(const CounterSampler&) = delete;
  CounterSampler& operator=(const CounterSampler&) = delete;

  // Throws std::system_error where there is no thread.
  void start();
  // Until the GPUs that are there are sampled, or cannot be; not longer than that.
  void wait_until_begun(std::chrono::milliseconds longest);
  // Fetches the rest. Does nothing the second time. The program's end never waits long for a driver that does not answer: then
  // the thread is left to itself, with this object, which must outlive it.
  void stop(PmSession::Why why) noexcept;

  struct Taken {
    std::vector<CounterReading> readings;  // of each device in the order of time
    std::vector<HealthReading> health;
    std::vector<std::string> sentences;  // for the one who started the recording
    std::uint64_t dropped = 0;           // readings that found no room
  };
  Taken take();

 private:
  void run() noexcept;
  void sample();
  void end_sessions();
  bool wait_for_end(std::chrono::milliseconds time);
  void look_for_gpus();
  void begin_on(int device, const std::string& bus_id);
  void read_health();
  void say(std::string sentence);
  void keep(const CounterReading& reading);

  const Which which_;
  const std::vector<std::string> groups_;
  const std::int64_t interval_ns_;
  const Clock clock_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable end_, begun_;
  bool ending_ = false, ended_ = false, has_begun_ = false;
  PmSession::Why why_ = PmSession::Why::process_ends;
  Taken kept_;
  // Only of the thread.
  NvmlLibrary nvml_;
  bool has_nvml_ = false;
  std::map<int, std::unique_ptr<PmSession>> sessions_;
  std::map<int, NvmlLibrary::Handle> gpus_;
};

}  // namespace gapscope::sampler
