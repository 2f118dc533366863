#pragma once
// The recorder inside a program: CUPTI fills buffers, one thread of ours turns them into the trace. There is one in a process;
// an injected library has no other place for it than a global.
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/sampler/cupti_library.h"
#include "app/sampler/cupti_records.h"
#include "app/sampler/event_writer.h"

namespace gapscope::sampler {

class Recorder {
 public:
  explicit Recorder(RecordingOptions options);

  // Empty, or a sentence: then the program runs on without being recorded.
  std::string start();
  // Ends the recording, writes the rest. Does nothing the second time.
  void stop();

  // CUPTI's requests, on any thread.
  void request_buffer(std::uint8_t** buffer, std::size_t* size);
  void take_buffer(std::uint8_t* buffer, std::size_t valid);

  // From a signal handler: stop soon, then die of it.
  void end_by_signal(int signal) { signal_ = signal; }
  int initialize_nvtx(void* exported) { return cupti_.initialize_nvtx(exported); }

 private:
  struct Filled {
    std::uint8_t* buffer = nullptr;
    std::size_t valid = 0;
  };
  void run();
  bool wait_for_buffer(Filled& filled);
  bool take_filled(Filled& filled);
  void read_all();
  void read_buffer(const Filled& filled);
  void look_at_clock();
  void enable();
  void choose_calls();
  void disable();
  void say(const std::string& sentence);

  RecordingOptions options_;
  CuptiLibrary cupti_;
  std::optional<Names> names_;
  EventWriter writer_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable filled_ready_, buffer_free_;
  std::deque<Filled> filled_;
  std::vector<std::uint8_t*> free_;
  std::size_t buffers_ = 0, lent_ = 0;  // in all, and with CUPTI right now
  bool ending_ = false;
  std::atomic<bool> stopped_{false};
  std::atomic<int> signal_{0};
  bool enabled_ = false, over_ = false;
  Ns started_ = 0, enabled_at_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace gapscope::sampler
