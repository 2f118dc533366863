#include "app/sampler/counters/pm_session.h"

#include "app/sampler/counters/pm_host.h"
#include "app/sampler/counters/sample_clock.h"
#include "app/sampler/recorder_thread.h"

#if GAPSCOPE_HAVE_PM_SAMPLING
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace gapscope::sampler {
namespace {

constexpr std::uint32_t kSamplesPerImage = 256;  // with fewer CUPTI takes longer for each sample than it lasts (on an H200)
constexpr std::size_t kImages = 24;              // some 4.5 MB each on an H200
constexpr std::size_t kHardwareBytes = 64 << 20;
// CUPTI falls behind for good where more than some hundred samples wait for it (measured on an H200).
constexpr auto kBetweenFetches = std::chrono::microseconds(500);
constexpr int kMostDecodeErrors = 20;  // one after another

template <class Params>
Params sized(std::size_t bytes) {
  Params p{};
  p.structSize = bytes;
  return p;
}

// Samples by a fixed clock, and overwriting of unfetched samples, came after these.
bool has_fixed_clock(std::string_view chip) { return !chip.starts_with("TU") && chip != "GA100"; }
bool overwrites(std::string_view chip) { return !chip.starts_with("TU"); }

}  // namespace

struct PmSession::State {
  PmLibrary cupti;
  std::string chip;
  std::vector<std::uint8_t> availability, config;  // CUPTI continues reading both
  PmHost host{cupti};
  MetricSet set;
  std::vector<const char*> names;
  PmRequest request;
  Sink sink;
  CUpti_PmSampling_Object* sampling = nullptr;
  std::vector<std::vector<std::uint8_t>> images;

  std::mutex mutex;
  std::condition_variable came;
  std::vector<std::size_t> free;
  std::deque<std::size_t> full;
  std::string trouble;
  std::atomic<bool> ending{false}, fetched_all{false};
  bool first = true;
  SampleClock clock;
  std::thread fetcher, reader;

  std::string find_gpu();
  std::string choose();
  std::string configure();
  std::string make_images();
  std::string begin();
  bool initialize(std::vector<std::uint8_t>& image) const;
  void ask_for_peaks(const std::vector<std::uint8_t>& image);
  void fetch() noexcept;
  bool fetch_waiting();
  void read() noexcept;
  void read_image(const std::vector<std::uint8_t>& image, std::vector<double>& values);
  void fail(std::string sentence);
  void end_threads() noexcept;
  void give_back() noexcept;
  void close(Why why) noexcept;
};

// Empty, or why there is nothing to sample.
std::string PmSession::State::find_gpu() {
  if (std::string wrong = cupti.load(); !wrong.empty()) return wrong;
  auto start = sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  if (const CUptiResult r = cupti.initialize(&start); r != CUPTI_SUCCESS) return cupti.reason(r);
  auto name = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  name.deviceIndex = static_cast<std::size_t>(request.device);
  if (const CUptiResult r = cupti.chip_name(&name); r != CUPTI_SUCCESS) return cupti.reason(r);
  chip = name.pChipName;
  auto supported = sized<CUpti_Profiler_DeviceSupported_Params>(CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  supported.cuDevice = request.device;
  supported.api = CUPTI_PROFILER_PM_SAMPLING;
  if (cupti.device_supported(&supported) == CUPTI_SUCCESS) {
    if (supported.vGpu != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
      return cupti.reason(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
    if (supported.confidentialCompute != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
      return cupti.reason(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  }
  auto available =
      sized<CUpti_PmSampling_GetCounterAvailability_Params>(CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
  available.deviceIndex = static_cast<std::size_t>(request.device);
  if (const CUptiResult r = cupti.availability(&available); r != CUPTI_SUCCESS) return cupti.reason(r);
  availability.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = availability.data();
  const CUptiResult r = cupti.availability(&available);
  return r == CUPTI_SUCCESS ? std::string() : cupti.reason(r);
}

std::string PmSession::State::choose() {
  set = choose_metrics(chip, request.groups, [this](const std::vector<const char*>& list) {
    return host.passes_of(chip.c_str(), availability, list);
  });
  if (set.metrics.empty()) return set.sentences.empty() ? "nothing can be sampled" : set.sentences.back();
  for (const Metric& metric : set.metrics) names.push_back(metric.name.c_str());
  const CUptiResult r = host.open(chip.c_str(), availability);
  return r == CUPTI_SUCCESS ? std::string() : cupti.reason(r);
}

std::string PmSession::State::configure() {
  config = host.config_of(names);
  if (config.empty()) return "CUPTI makes no configuration of these counters";
  auto on = sized<CUpti_PmSampling_Enable_Params>(CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  on.deviceIndex = static_cast<std::size_t>(request.device);
  if (const CUptiResult r = cupti.enable(&on); r != CUPTI_SUCCESS) return cupti.reason(r);
  sampling = on.pPmSamplingObject;
  auto p = sized<CUpti_PmSampling_SetConfig_Params>(CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  p.pPmSamplingObject = sampling;
  p.configSize = config.size();
  p.pConfig = config.data();
  p.hardwareBufferSize = kHardwareBytes;
  p.samplingInterval = static_cast<std::uint64_t>(request.interval_ns);
  p.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  if (!has_fixed_clock(chip)) {
    p.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;  // about a cycle a nanosecond
    set.sentences.push_back("This GPU counts its own cycles between two samples: the interval is only about what was asked.");
  }
  p.hwBufferAppendMode = overwrites(chip) ? CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST
                                          : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  const CUptiResult r = cupti.set_config(&p);
  return r == CUPTI_SUCCESS ? std::string() : cupti.reason(r);
}

bool PmSession::State::initialize(std::vector<std::uint8_t>& image) const {
  auto p = sized<CUpti_PmSampling_CounterDataImage_Initialize_Params>(
      CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  p.pPmSamplingObject = sampling;
  p.counterDataSize = image.size();
  p.pCounterData = image.data();
  return cupti.initialize_data(&p) == CUPTI_SUCCESS;
}

std::string PmSession::State::make_images() {
  auto size = sized<CUpti_PmSampling_GetCounterDataSize_Params>(CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pPmSamplingObject = sampling;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxSamples = kSamplesPerImage;
  if (const CUptiResult r = cupti.data_size(&size); r != CUPTI_SUCCESS) return cupti.reason(r);
  images.assign(kImages, std::vector<std::uint8_t>(size.counterDataSize));
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!initialize(images[i])) return "CUPTI gives no room for samples";
    free.push_back(i);
  }
  return {};
}

std::string PmSession::State::begin() {
  auto p = sized<CUpti_PmSampling_Start_Params>(CUpti_PmSampling_Start_Params_STRUCT_SIZE);
  p.pPmSamplingObject = sampling;
  if (const CUptiResult r = cupti.start(&p); r != CUPTI_SUCCESS) return cupti.reason(r);
  try {
    reader = std::thread([this] { read(); });
    fetcher = std::thread([this] { fetch(); });
  } catch (const std::system_error&) {
    return "no thread could be started";
  }
  return {};
}

// Fetches until nothing waits, which may be never while more is sampled. False where CUPTI refuses.
bool PmSession::State::fetch_waiting() {
  for (bool more = true; more && !ending;) {
    std::size_t at = 0;
    {
      const std::lock_guard lock(mutex);
      if (free.empty())
        return true;  // the reader is behind; what waits too long is overwritten, seen to be missing, and counted
      at = free.back();
      free.pop_back();
    }
    auto p = sized<CUpti_PmSampling_DecodeData_Params>(CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
    p.pPmSamplingObject = sampling;
    p.pCounterDataImage = images[at].data();
    p.counterDataImageSize = images[at].size();
    const CUptiResult result = cupti.decode(&p);
    more = result == CUPTI_SUCCESS && p.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    {
      const std::lock_guard lock(mutex);
      full.push_back(at);
    }
    came.notify_one();
    if (result != CUPTI_SUCCESS) return false;
  }
  return true;
}

void PmSession::State::fetch() noexcept {
  leave_signals_to_the_program();
  try {
    for (int errors = 0; !ending && errors < kMostDecodeErrors;) {
      std::this_thread::sleep_for(kBetweenFetches);
      errors = fetch_waiting() ? 0 : errors + 1;
      if (errors == kMostDecodeErrors) fail("Counters end early: CUPTI could not read its samples any more.");
    }
  } catch (...) {
    fail("Counters end early: there was not enough memory for them.");
  }
}

// What a metric reaches at most in a cycle is known to CUPTI, once there is a sample to ask about; the table's word is for
// where it does not say.
void PmSession::State::ask_for_peaks(const std::vector<std::uint8_t>& image) {
  for (Metric& metric : set.metrics) {
    if (metric.per_cycle == 0) continue;
    const std::string peak = metric.name + ".peak_sustained";
    std::vector<const char*> name = {peak.c_str()};
    std::vector<double> value;
    if (host.evaluate(image, 0, name, value) == CUPTI_SUCCESS && std::isfinite(value[0]) && value[0] > 0)
      metric.per_cycle = value[0];
  }
}

void PmSession::State::read_image(const std::vector<std::uint8_t>& image, std::vector<double>& values) {
  auto info = sized<CUpti_PmSampling_GetCounterDataInfo_Params>(CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  if (cupti.data_info(&info) != CUPTI_SUCCESS) return;
  const SampleClock::Moment now = moment_at(request.clock());
  for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
    auto sample =
        sized<CUpti_PmSampling_CounterData_GetSampleInfo_Params>(CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
    sample.pPmSamplingObject = sampling;
    sample.pCounterDataImage = image.data();
    sample.counterDataImageSize = image.size();
    sample.sampleIndex = i;
    if (cupti.sample_info(&sample) != CUPTI_SUCCESS || host.evaluate(image, i, names, values) != CUPTI_SUCCESS) continue;
    // The very first holds what was counted since the counters were set up.
    if (std::exchange(first, false)) {
      ask_for_peaks(image);
      continue;
    }
    const std::optional<Ns> begin = clock.ours_of(static_cast<std::int64_t>(sample.startTimestamp), now),
                            end = clock.ours_of(static_cast<std::int64_t>(sample.endTimestamp), now);
    if (begin && end)
      sink(reading_of(set, values, request.device, {*begin, *end}, request.peak_dram));
    else
      fail("Counters end early: another profiler in the program gave CUPTI a clock that is not known here.");
  }
}

void PmSession::State::read() noexcept {
  leave_signals_to_the_program();
  try {
    std::vector<double> values;
    for (;;) {
      std::size_t at = 0;
      {
        std::unique_lock lock(mutex);
        came.wait(lock, [&] { return !full.empty() || fetched_all; });
        if (full.empty()) return;
        at = full.front();
        full.pop_front();
      }
      read_image(images[at], values);
      if (!initialize(images[at])) continue;  // not used again
      const std::lock_guard lock(mutex);
      free.push_back(at);
    }
  } catch (...) {
    fail("Counters end early: there was not enough memory for them.");
  }
}

void PmSession::State::fail(std::string sentence) {
  const std::lock_guard lock(mutex);
  if (trouble.empty()) trouble = std::move(sentence);
}

void PmSession::State::end_threads() noexcept {
  ending = true;
  if (fetcher.joinable()) fetcher.join();
  {
    const std::lock_guard lock(mutex);
    fetched_all = true;
  }
  came.notify_all();
  if (reader.joinable()) reader.join();
}

void PmSession::State::close(Why why) noexcept {
  if (!sampling) return;
  end_threads();
  if (why == Why::recording_ends) give_back();
  sampling = nullptr;
}

// The counters, for the program continues. What was sampled since the last fetch, less than a millisecond, is let go.
void PmSession::State::give_back() noexcept {
  auto off = sized<CUpti_PmSampling_Stop_Params>(CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
  off.pPmSamplingObject = sampling;
  cupti.stop(&off);
  auto disable = sized<CUpti_PmSampling_Disable_Params>(CUpti_PmSampling_Disable_Params_STRUCT_SIZE);
  disable.pPmSamplingObject = sampling;
  cupti.disable(&disable);
}

PmSession::PmSession() : state_(std::make_unique<State>()) {}
PmSession::~PmSession() { stop(Why::process_ends); }

std::string PmSession::start(const PmRequest& request, Sink sink) {
  State& s = *state_;
  s.request = request;
  s.sink = std::move(sink);
  s.clock = SampleClock(moment_at(request.clock()));
  std::string wrong = s.find_gpu();
  if (wrong.empty()) wrong = s.choose();
  if (wrong.empty()) wrong = s.configure();
  if (wrong.empty()) wrong = s.make_images();
  if (wrong.empty()) wrong = s.begin();
  if (!wrong.empty()) s.close(Why::recording_ends);
  return wrong;
}

void PmSession::stop(Why why) noexcept { state_->close(why); }
const std::vector<std::string>& PmSession::sentences() const { return state_->set.sentences; }
std::string PmSession::trouble() const {
  const std::lock_guard lock(state_->mutex);
  return state_->trouble;
}

std::vector<std::string> PmSession::describe(int device) {
  PmSession session;
  State& s = *session.state_;
  s.request.device = device;
  std::string wrong = s.find_gpu();
  if (wrong.empty()) wrong = s.choose();
  if (!wrong.empty()) return {"  sampled by CUPTI: nothing: " + wrong + "."};
  std::vector<std::string> lines = {"  sampled by CUPTI in one pass, chip " + s.chip + ":"};
  for (const MetricGroup& group : metric_groups()) {
    std::string names;
    for (const Metric& metric : s.set.metrics)
      if (metric.quantity &&
          std::find(group.quantities.begin(), group.quantities.end(), *metric.quantity) != group.quantities.end())
        names.append(names.empty() ? "" : ", ").append(metric.name);
    if (names.empty()) continue;
    std::string line = "    " + std::string(group.key);
    line.resize(std::max<std::size_t>(line.size() + 1, 12), ' ');
    lines.push_back(line + std::string(group.title) + " (" + std::string(group.units) + "): " + names);
  }
  for (const std::string& sentence : s.set.sentences) lines.push_back("    " + sentence);
  return lines;
}

}  // namespace gapscope::sampler

#else  // a toolkit before CUDA 12.6

namespace gapscope::sampler {
namespace {
constexpr const char* kTooOld = "gapscope was built with a CUDA toolkit that cannot sample counters: 12.6 or later is needed";
}

struct PmSession::State {
  std::vector<std::string> sentences;
};
PmSession::PmSession() : state_(std::make_unique<State>()) {}
PmSession::~PmSession() = default;
std::string PmSession::start(const PmRequest&, Sink) { return kTooOld; }
void PmSession::stop(Why) noexcept {}
const std::vector<std::string>& PmSession::sentences() const { return state_->sentences; }
std::string PmSession::trouble() const { return {}; }
std::vector<std::string> PmSession::describe(int) { return {std::string("  ") + kTooOld + "."}; }

}  // namespace gapscope::sampler

#endif
