#pragma once
// The recorder inside a program: CUPTI fills buffers, one thread of ours turns them into the trace. There is one in a process;
// an injected library has no other place for it than a global. It runs in a program that is not ours: whatever it lacks
// (memory, a thread, room on the disk), it says so in one sentence, stops recording, and the program continues. No exception
// leaves it.
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/sampler/counters/counter_sampler.h"
#include "app/sampler/cupti_library.h"
#include "app/sampler/cupti_records.h"
#include "app/sampler/event_writer.h"

namespace gapscope::sampler {

class Recorder {
 public:
  explicit Recorder(RecordingOptions options);

  // Empty, or a sentence: then the program runs on without being recorded. Of counters alone, in a process of ours alongside
  // the program: the driver has been started, and they begin before this returns.
  std::string start();
  // Ends the recording, writes the rest. Does nothing the second time.
  void stop() noexcept;
  // In a forked child, which has neither our thread nor CUDA: the file is the parent's.
  void leave_to_parent() noexcept { writer_.abandon(); }

  // CUPTI's requests, on any thread.
  void request_buffer(std::uint8_t** buffer, std::size_t* size) noexcept;
  void take_buffer(std::uint8_t* buffer, std::size_t valid) noexcept;

  // From a signal handler: stop soon, then die of it.
  void end_by_signal(int signal) noexcept { signal_ = signal; }
  int initialize_nvtx(void* exported) { return cupti_.initialize_nvtx(exported); }

 private:
  struct Filled {
    std::uint8_t* buffer = nullptr;
    std::size_t valid = 0;
  };
  void run() noexcept;
  bool go_on();
  bool wait_for_buffer(Filled& filled);
  bool take_filled(Filled& filled);
  void read_all();
  void read_buffer(const Filled& filled);
  void look_at_clock();
  void write_counters();
  void tell_lost_samples();
  void end_recording();
  void give_up(const char* sentence) noexcept;
  void die_of(int signal);
  void enable();
  void choose_calls();
  void disable();
  void start_counters();
  void flush(std::uint32_t how) noexcept;
  std::string refusal(CUptiResult result, const char* what) const;

  RecordingOptions options_;
  CuptiLibrary cupti_;
  std::optional<Names> names_;
  EventWriter writer_;
  std::unique_ptr<CounterSampler> counters_;
  std::uint64_t counters_dropped_ = 0;
  bool counters_told_ = false;  // something about them was said already
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable filled_ready_, buffer_free_;
  // Both have room for every buffer there can be, so that CUPTI's callbacks need no memory.
  std::vector<Filled> filled_;  // the first to be read first
  std::vector<std::uint8_t*> free_;
  std::size_t buffers_ = 0, lent_ = 0;  // in all, and with CUPTI right now
  bool ending_ = false;
  std::atomic<bool> stopped_{false}, ready_{false};
  std::atomic<bool> over_{false};  // nothing is recorded any more
  std::atomic<int> signal_{0};
  bool enabled_ = false;
  Ns started_ = 0, enabled_at_ = 0, flushed_ = 0;
};

}  // namespace gapscope::sampler
