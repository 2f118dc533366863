#include "app/sampler/recorder.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <system_error>

#include "app/record/piece_name.h"
#include "app/record/status.h"
#include "app/sampler/call_names.h"
#include "app/sampler/devices.h"

namespace gapscope::sampler {
namespace {

constexpr std::size_t kBufferBytes = 2 << 20;
constexpr std::size_t kMostBuffers = 32;  // 64 MB: then the program waits for the disk instead of eating memory
constexpr std::size_t kAlignment = 8;     // CUPTI's wish
constexpr Ns kFlush = 500'000'000;        // between two flushes: at most so much is lost when the program is killed
constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kLongestWait = std::chrono::seconds(5);

constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_CONTEXT,         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY,          CUPTI_ACTIVITY_KIND_MEMCPY2,
                               CUPTI_ACTIVITY_KIND_MEMSET,          CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD,
                               CUPTI_ACTIVITY_KIND_MARKER};

Ns now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return Ns{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string text_of_file(const std::string& path, char between) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  for (char& c : text)
    if (c == '\0') c = between;
  return text;
}

// "python3" of "/usr/bin/python3 train.py": the kernel's own name of a process is cut after 15 letters.
std::string file_name_of(const std::string& command) {
  const std::string path = command.substr(0, command.find(' '));
  return path.substr(path.rfind('/') + 1);
}

TraceInfo facts(const CuptiLibrary& cupti) {
  TraceInfo info;
  info.process = getpid();
  info.command = text_of_file("/proc/self/cmdline", ' ');
  info.program = file_name_of(info.command);
  std::uint32_t version = 0;
  cupti.version(&version);
  info.cupti_version = static_cast<int>(version);
  Driver driver = ask_driver();
  info.driver_version = driver.version;
  info.devices = std::move(driver.devices);
  info.base = base_time(now());
  const JobPlace place = place_in_job();
  info.rank = place.rank;
  info.world_size = place.size;
  return info;
}

std::string thread_name(std::uint32_t thread) {
  return text_of_file("/proc/self/task/" + std::to_string(thread) + "/comm", ' ');
}

Recorder* recorder = nullptr;  // for CUPTI's callbacks, which carry nothing of ours

// What threads throw when they cannot be had, and strings when there is no memory, ends with a sentence.
constexpr const char* kNoMemory = "Not enough memory to continue the recording: the trace ends early. The program continues.";
constexpr const char* kBroken = "The recorder failed: the trace ends early. The program continues.";

// A thread's first exception needs memory of the thread's own, without which the C library aborts: better asked for while there
// is some.
void have_room_to_throw() { [[maybe_unused]] volatile const int none = std::uncaught_exceptions(); }

void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *most_records = 0;  // as many as fit
  recorder->request_buffer(buffer, size);
}

void CUPTIAPI on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  recorder->take_buffer(buffer, valid);
}

std::uint64_t CUPTIAPI on_time() { return static_cast<std::uint64_t>(now()); }

}  // namespace

Recorder::Recorder(RecordingOptions options)
    : options_(options), writer_(std::move(options), {[this] { return facts(cupti_); }, thread_name}) {
  filled_.reserve(kMostBuffers);
  free_.reserve(kMostBuffers);
  recorder = this;
}

std::string Recorder::refusal(CUptiResult result, const char* what) const {
  const char* why = nullptr;
  cupti_.result_string(result, &why);
  return std::string(what) + " (" + (why ? why : "no reason given") + ").";
}

// Nothing is enabled before the thread is there that empties the buffers; it reads nothing before all is enabled. It is not
// waited for: a program may bring CUDA up while it loads a library, and the thread then blocks until that is done.
std::string Recorder::start() {
  have_room_to_throw();
  if (std::string wrong = cupti_.load(); !wrong.empty()) return wrong;
  cupti_.register_timestamps(on_time);
  if (!options_.counters_only) {
    names_.emplace(cupti_.callback_name);
    cupti_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (const CUptiResult result = cupti_.register_callbacks(on_request, on_complete); result != CUPTI_SUCCESS)
      return refusal(result, "CUPTI refuses to record") + " Is another profiler at work in this program?";
  }
  started_ = flushed_ = now();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return "No thread could be started for the recorder: this program is not recorded.";
  }
  try {
    if (options_.delay_ms == 0) enable();
  } catch (...) {
    give_up(kNoMemory);
  }
  ready_ = true;
  ready_.notify_all();
  return {};
}

void Recorder::start_counters() {
  using Which = CounterSampler::Which;
  counters_ = std::make_unique<CounterSampler>(options_.counters_only ? Which::all : Which::in_use,
                                               split_list(options_.counter_groups), options_.counter_interval_ns, now);
  try {
    counters_->start();
    if (options_.counters_only) counters_->wait_until_begun(kLongestWait);
  } catch (const std::system_error&) {
    counters_.reset();
    tell_sentence(options_.status, "No thread could be started for counters: the recording continues without them.");
  }
}

void Recorder::enable() {
  enabled_ = true;
  enabled_at_ = now();
  if (options_.counters) start_counters();
  if (options_.counters_only) enabled_at_ = now();  // they have begun
  if (options_.counters_only) return;
  if (options_.queue_times) cupti_.latency_timestamps(1);
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult result = cupti_.enable(kind);
    if (result == CUPTI_SUCCESS) continue;
    tell_sentence(options_.status, refusal(result, "CUPTI does not record everything"));
    return;
  }
  choose_calls();
}

// What would be left out is not even recorded: a call that takes 100 ns should not cost 500. CUPTI numbers its functions from
// 1 on.
void Recorder::choose_calls() {
  for (std::uint32_t id = 1; id < CUPTI_RUNTIME_TRACE_CBID_SIZE; ++id)
    if (is_left_out(names_->call(false, id), false)) cupti_.enable_runtime_call(id, 0);
  for (std::uint32_t id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id)
    if (!is_left_out(names_->call(true, id), true)) cupti_.enable_driver_call(id, 1);
}

void Recorder::disable() {
  if (!options_.counters_only)
    for (const CUpti_ActivityKind kind : kKinds) cupti_.disable(kind);
  if (counters_) counters_->stop(PmSession::Why::recording_ends);
  enabled_ = false;
}

void Recorder::flush(std::uint32_t how) noexcept {
  if (!options_.counters_only) cupti_.flush_all(how);
}

void Recorder::request_buffer(std::uint8_t** buffer, std::size_t* size) noexcept {
  *buffer = nullptr;
  *size = 0;
  std::unique_lock lock(mutex_);
  const auto is_one_free = [&] { return !free_.empty() || buffers_ < kMostBuffers; };
  buffer_free_.wait_for(lock, kLongestWait, [&] { return is_one_free() || over_ || stopped_; });
  if (!is_one_free()) return;  // CUPTI counts what it cannot keep
  if (free_.empty()) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
    if (*buffer) ++buffers_;
  } else {
    *buffer = free_.back();
    free_.pop_back();
  }
  if (!*buffer) return;
  *size = kBufferBytes;
  ++lent_;
}

void Recorder::take_buffer(std::uint8_t* buffer, std::size_t valid) noexcept {
  const std::lock_guard lock(mutex_);
  if (filled_.size() == kMostBuffers) return;  // none of ours
  filled_.push_back({buffer, valid});
  if (lent_ > 0) --lent_;
  filled_ready_.notify_one();
}

bool Recorder::wait_for_buffer(Filled& filled) {
  {
    std::unique_lock lock(mutex_);
    filled_ready_.wait_for(lock, kTick, [&] { return !filled_.empty() || ending_; });
  }
  return take_filled(filled);
}

bool Recorder::take_filled(Filled& filled) {
  const std::lock_guard lock(mutex_);
  if (filled_.empty()) return false;
  filled = filled_.front();
  filled_.erase(filled_.begin());
  return true;
}

void Recorder::read_all() {
  for (Filled filled; take_filled(filled);) read_buffer(filled);
}

void Recorder::read_buffer(const Filled& filled) {
  struct GiveBack {  // also when a record asks for more memory than there is
    Recorder& r;
    std::uint8_t* buffer;
    ~GiveBack() {
      const std::lock_guard lock(r.mutex_);
      if (r.free_.size() < kMostBuffers) r.free_.push_back(buffer);
      r.buffer_free_.notify_one();
    }
  } give_back{*this, filled.buffer};
  CUpti_Activity* record = nullptr;
  while (!over_ && cupti_.next_record(filled.buffer, filled.valid, &record) == CUPTI_SUCCESS)
    if (const std::optional<Seen> seen = read_record(*record, *names_)) writer_.add(*seen);
}

void Recorder::write_counters() {
  if (!counters_ || over_) return;
  const CounterSampler::Taken taken = counters_->take();
  for (const std::string& sentence : taken.sentences) tell_sentence(options_.status, sentence);
  counters_told_ = counters_told_ || !taken.sentences.empty();
  for (const CounterReading& reading : taken.readings) writer_.add_counters(reading);
  for (const HealthReading& reading : taken.health) writer_.add_counters(reading);
  counters_dropped_ += taken.dropped;
}

void Recorder::tell_lost_samples() {
  const std::uint64_t lost = std::max(writer_.counters().lost(), counters_dropped_), all = lost + writer_.counters().samples();
  if (counters_ && all == 0 && !counters_told_)
    tell_sentence(
        options_.status,
        "No counters were recorded: the program ended before they began. They take some tenths of a second to start.");
  if (lost == 0 || all == 0) return;
  char share[32];
  std::snprintf(share, sizeof share, "%.2g", 100 * static_cast<double>(lost) / static_cast<double>(all));
  tell_sentence(options_.status, std::to_string(lost) + " of " + std::to_string(all) + " samples of counters (" + share +
                                     " %) were lost: they were not fetched in time. The trace says where. A longer "
                                     "--counter-interval or fewer counters lose fewer.");
}

// The rest is written, the trace gets its name, and the one who started the program is notified.
void Recorder::end_recording() {
  if (counters_) counters_->stop(options_.counters_only ? PmSession::Why::recording_ends : PmSession::Why::process_ends);
  read_all();
  if (over_) return;
  write_counters();
  tell_lost_samples();
  writer_.finish(now());
  over_ = true;
  tell_sentence(options_.status, writer_.trouble());
  if (!writer_.path().empty()) tell_trace(options_.status, {writer_.path(), place_in_job().rank});
  // CUPTI has one listener. What a later one was given of our buffers did not come back to us.
  if (ending_ && lent_ > 0)
    tell_sentence(
        options_.status,
        "Another profiler (perhaps PyTorch's own) took over CUPTI while this program ran, so both traces are incomplete. "
        "gapscope record --counters-only records only the GPU's counters, and the other profiler's trace stays complete.");
  std::size_t dropped = 0;
  if (!options_.counters_only && cupti_.dropped(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0)
    tell_sentence(
        options_.status,
        std::to_string(dropped) + " records were lost: the disk or the processor could not keep up, or there was no memory.");
}

// Needs no memory where there is none: the file is finished if that can be done, and else left for `gapscope record` to finish.
void Recorder::give_up(const char* sentence) noexcept {
  if (over_.exchange(true)) return;
  disable();
  tell_plainly(options_.status.c_str(), sentence);
  try {
    writer_.finish_short();
    tell_sentence(options_.status, writer_.trouble());
    if (!writer_.path().empty()) tell_trace(options_.status, {writer_.path(), place_in_job().rank});
  } catch (...) {
    writer_.abandon();
  }
  buffer_free_.notify_all();
}

// What happens at a time and not for a record.
void Recorder::look_at_clock() {
  const Ns time = now();
  constexpr Ns kMs = 1'000'000;
  if (!enabled_ && !over_ && enabled_at_ == 0 && time - started_ >= options_.delay_ms * kMs) enable();
  const bool lasted = options_.duration_ms > 0 && enabled_ && time - enabled_at_ >= options_.duration_ms * kMs;
  if ((lasted || writer_.full() || !writer_.trouble().empty()) && !over_) {
    disable();
    flush(0);
    read_all();
    if (writer_.full())
      tell_sentence(options_.status, "The recording ended early: it had reached " + std::to_string(options_.max_mb) + " MB.");
    end_recording();
  }
  if (const int signal = signal_.exchange(0)) die_of(signal);
}

// Where exit has begun, it ends the program itself.
void Recorder::die_of(int signal) {
  if (stopped_.exchange(true)) return;
  if (enabled_) flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  try {
    end_recording();
  } catch (...) {
    give_up(kNoMemory);
  }
  ::signal(signal, SIG_DFL);
  kill(getpid(), signal);
}

// False at the end.
bool Recorder::go_on() {
  if (Filled filled; wait_for_buffer(filled)) read_buffer(filled);
  write_counters();
  if (const Ns time = now(); !over_ && time - flushed_ > kFlush) {
    flushed_ = time;
    if (enabled_) flush(0);  // CUPTI itself would keep buffers until they are full
    read_all();
    writer_.flush(time);
  }
  look_at_clock();
  {
    const std::lock_guard lock(mutex_);
    if (!ending_ || !filled_.empty()) return true;
  }
  end_recording();
  return false;
}

void Recorder::run() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);  // the program's signals are its own
  have_room_to_throw();
  ready_.wait(false);
  for (bool more = true; more;) {
    try {
      more = go_on();
    } catch (const std::bad_alloc&) {
      give_up(kNoMemory);
    } catch (...) {
      give_up(kBroken);
    }
  }
}

void Recorder::stop() noexcept {
  if (stopped_.exchange(true)) return;
  try {
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      filled_ready_.notify_one();
      buffer_free_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  } catch (...) {
    give_up(kBroken);
  }
}

}  // namespace gapscope::sampler
