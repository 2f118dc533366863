#include "app/record/recording.h"

#include <charconv>
#include <cstdlib>

namespace gapscope {
namespace {

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

template <class Int>
Int number_of(const char* name) {
  Int value = 0;
  const std::string text = text_of(name);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void put_in_environment(const RecordingOptions& options) {
  const auto put = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  put(kRecordOut, options.out);
  put(kRecordStatus, options.status);
  put(kRecordDelay, std::to_string(options.delay_ms));
  put(kRecordDuration, std::to_string(options.duration_ms));
  put(kRecordRange, options.range);
  put(kRecordMaxMb, std::to_string(options.max_mb));
  put(kRecordProfilerApi, options.profiler_api ? "1" : "");
  put(kRecordQueueTimes, options.queue_times ? "1" : "");
  put(kRecordRun, options.run);
  put(kRecordCounters, options.counters ? "1" : "");
  put(kRecordCounterGroups, options.counter_groups);
  put(kRecordCounterInterval, std::to_string(options.counter_interval_ns));
  put(kRecordCountersOnly, options.counters_only ? "1" : "");
}

RecordingOptions options_from_environment() {
  return {text_of(kRecordOut),
          text_of(kRecordStatus),
          number_of<std::int64_t>(kRecordDelay),
          number_of<std::int64_t>(kRecordDuration),
          text_of(kRecordRange),
          number_of<std::uint64_t>(kRecordMaxMb),
          !text_of(kRecordProfilerApi).empty(),
          !text_of(kRecordQueueTimes).empty(),
          text_of(kRecordRun),
          !text_of(kRecordCounters).empty(),
          text_of(kRecordCounterGroups),
          number_of<std::int64_t>(kRecordCounterInterval),
          !text_of(kRecordCountersOnly).empty()};
}

}  // namespace gapscope
