#include "app/attach/recorded_facts.h"

#include <algorithm>

#include "core/analyze/account/time_account.h"
#include "core/analyze/doubts.h"
#include "core/analyze/steps.h"
#include "core/load/load_trace.h"
#include "core/session/trace_session.h"

namespace gapscope::attach {

std::optional<Ns> median(std::vector<Ns> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<RecordedFacts> facts_of_recording(const std::string& path) {
  const auto trace = load_trace(path);
  if (!trace.ok()) return std::nullopt;
  const TraceSession session(*trace);
  const TimeAccount& account = session.account();
  RecordedFacts facts;
  facts.window = account.window().length();
  if (const DeviceAccount* device = account.busiest()) facts.busy = device->times.window - device->times.idle_total();
  std::vector<Ns> lengths;
  const Steps& steps = session.steps();
  if (steps.annotated)
    for (const Step& step : steps.steps) lengths.push_back(step.span.length());
  facts.step = median(std::move(lengths));
  facts.doubts = doubts_of(**trace, session.ops());
  return facts;
}

bool is_slow(Ns step, std::span<const Ns> before, double times) {
  const std::optional<Ns> usual = median({before.begin(), before.end()});
  return !usual || static_cast<double>(step) > times * static_cast<double>(*usual);
}

}  // namespace gapscope::attach
