#include "app/sampler/counters/counter_sampler.h"

#include "app/sampler/recorder_thread.h"

#include <chrono>
#include <utility>

namespace gapscope::sampler {
namespace {

constexpr std::size_t kMostReadings = 100'000;  // 10 MB, or 2 s of one GPU: the recorder takes them every 0.1 s
constexpr std::size_t kMostHealth = 10'000;
constexpr auto kLongestEnd = std::chrono::seconds(5);
// A context is in use a little before it is whole, and the driver must not be asked for counters in between.
constexpr auto kContextSettles = std::chrono::milliseconds(50);
constexpr auto kTick = std::chrono::milliseconds(20);  // NVML's own values change no more often

}  // namespace

CounterSampler::CounterSampler(Which which, std::vector<std::string> groups, std::int64_t interval_ns, Clock clock)
    : which_(which), groups_(std::move(groups)), interval_ns_(interval_ns), clock_(std::move(clock)) {}

void CounterSampler::start() {
  thread_ = std::thread([this] { run(); });
}

void CounterSampler::wait_until_begun(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  begun_.wait_for(lock, longest, [this] { return has_begun_ || ended_; });
}

void CounterSampler::say(std::string sentence) {
  const std::lock_guard lock(mutex_);
  kept_.sentences.push_back(std::move(sentence));
}

void CounterSampler::keep(const CounterReading& reading) {
  const std::lock_guard lock(mutex_);
  if (kept_.readings.size() < kMostReadings)
    kept_.readings.push_back(reading);
  else
    ++kept_.dropped;
}

CounterSampler::Taken CounterSampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

void CounterSampler::begin_on(int device, const std::string& bus_id) {
  const NvmlLibrary::Handle gpu = has_nvml_ ? nvml_.find(bus_id) : nullptr;
  gpus_[device] = gpu;
  auto& session = sessions_[device];
  const std::string who = "GPU " + std::to_string(device);
  if (nvml_.is_divided(gpu))
    return say(who + " is divided (MIG): its counters cannot be sampled. The recording continues without them.");
  PmRequest request{device, groups_, interval_ns_, peak_dram(device), clock_};
  session = std::make_unique<PmSession>();
  const std::string wrong = session->start(request, [this](const CounterReading& reading) { keep(reading); });
  if (wrong.empty())
    for (const std::string& sentence : session->sentences()) say(who + ": " + sentence);
  else
    say("The counters of " + who + " are not recorded: " + wrong + ". The recording continues without them.");
  if (!wrong.empty()) session.reset();
}

// In the program a GPU's counters are begun with its first context: under torchrun each process sees all GPUs and uses one.
// From outside, the GPU is sampled whatever program uses it: no context of ours takes memory there.
void CounterSampler::look_for_gpus() {
  if (which_ == Which::all) {
    for (const Gpu& gpu : all_gpus())
      if (!gpus_.contains(gpu.device)) begin_on(gpu.device, gpu.bus_id);
    return;
  }
  for (const Gpu& gpu : gpus_in_use()) {
    if (gpus_.contains(gpu.device)) continue;
    if (wait_for_end(kContextSettles)) return;
    const ContextHeld context(gpu.device);
    begin_on(gpu.device, gpu.bus_id);
  }
}

void CounterSampler::read_health() {
  for (const auto& [device, gpu] : gpus_) {
    if (!gpu) continue;
    HealthReading reading = nvml_.read(gpu);
    reading.device = device;
    reading.time = clock_();
    const std::lock_guard lock(mutex_);
    if (kept_.health.size() < kMostHealth) kept_.health.push_back(reading);
  }
}

bool CounterSampler::wait_for_end(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return end_.wait_for(lock, time, [this] { return ending_; });
}

void CounterSampler::sample() {
  const std::string wrong = nvml_.load();
  has_nvml_ = wrong.empty();
  if (!wrong.empty()) say(wrong);
  do {
    look_for_gpus();
    read_health();
    if (const std::lock_guard lock(mutex_); !std::exchange(has_begun_, true)) begun_.notify_all();
  } while (!wait_for_end(kTick));
}

void CounterSampler::end_sessions() {
  for (auto& [device, session] : sessions_) {
    if (!session) continue;
    session->stop(why_);
    if (std::string trouble = session->trouble(); !trouble.empty()) say(std::move(trouble));
    if (why_ == PmSession::Why::recording_ends)
      session.reset();
    else [[maybe_unused]]
      const PmSession* left = session.release();  // to the process's end, like CUPTI's own
  }
}

void CounterSampler::run() noexcept {
  leave_signals_to_the_program();
  try {
    sample();
  } catch (...) {
    // Without memory there are no more counters; what was taken stays.
  }
  try {
    end_sessions();
  } catch (...) {
    // unsaid
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  end_.notify_all();
  begun_.notify_all();
}

void CounterSampler::stop(PmSession::Why why) noexcept {
  std::unique_lock lock(mutex_);
  if (!ending_) why_ = why;
  ending_ = true;
  end_.notify_all();
  if (!thread_.joinable()) return;
  const bool ended = end_.wait_for(lock, kLongestEnd, [this] { return ended_; });
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();
}

}  // namespace gapscope::sampler
