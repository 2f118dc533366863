#pragma once
// The time account as text and as JSON.
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/analyze/counters/counter_facts.h"
#include "core/analyze/practices/practices.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/trust.h"
#include "core/index/lane_index.h"

namespace gapscope {

struct WhyReport {
  const Trace& trace;
  const LaneIndex& lanes;
  const TimeAccount& account;
  const std::vector<GpuOp>& ops;
  std::vector<const DeviceAccount*> devices;  // those asked for
  Span range;                                 // of the window
  bool by_step = false;
  Trust trust;
  Practices practices;
  CounterFacts counters{};  // empty where the trace has none
  Headline plain{};         // of the program without its profiler; its `plain` is null where nothing is said of that
};

// Of a device's gaps in `range` the longest ones, cut to it: spans with the gap that each is part of.
struct CutGap {
  const DeviceGap* gap;
  Span span;
};
std::vector<CutGap> longest_in(const DeviceAccount& device, Span range, std::size_t most);
constexpr std::size_t kGapsShown = 8;
// Of how many devices the longest gaps are listed: what the host was in meanwhile is read for each of them. No machine has
// more.
constexpr std::size_t kDevicesWithGaps = 64;

std::string why_json(const WhyReport& report);
std::string why_text(const WhyReport& report);

}  // namespace gapscope
