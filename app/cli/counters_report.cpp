#include <cmath>

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/counters/counter_columns.h"
#include "core/analyze/counters/counter_words.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/load/merge_counters.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kKernelsShown = 30;
constexpr std::size_t kNameChars = 70;
constexpr const char* kNone = "This trace has no hardware counters. Record with gapscope record --counters -- COMMAND.\n";

std::string means_text(const CounterMeans& means) {
  if (!means.measured()) return "too short to measure";
  std::string out;
  for (const CounterWord& word : counter_words())
    if (const std::string value = counter_value(means, word); !value.empty())
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", word.title, value);
  if (!std::isnan(means.joules)) out += fmt::format(", energy {} J", format_significant(means.joules));
  out += " (" + samples_text(means);
  return out + (means.readings > 1 ? fmt::format("; the driver was asked at least {} times)", means.readings) : ")");
}

std::string kernels_text(const MeasuredRows& rows) {
  const std::string out = text_of(rows, first_rows(rows, kKernelsShown));
  return rows.rows() > kKernelsShown ? out + fmt::format("and {} more kernels\n", rows.rows() - kKernelsShown) : out;
}

std::string roofline_text(const Trace& trace, const CounterFacts& counters) {
  if (counters.roofline().empty()) return {};
  std::string out =
      fmt::format("\n{:>12} {:>14} {:>8}  {}\n", "TFLOP/s", "FLOP per byte", "launches", "kernel, by its recorded shapes");
  for (const RooflinePoint& point : counters.roofline())
    out += fmt::format("{:>12} {:>14} {:>8}  {}\n", format_significant(point.per_second / 1e12),
                       format_significant(point.per_byte), point.launches,
                       printable(std::string(trace.strings[point.name].substr(0, kNameChars))));
  return out;
}

Json roofline_json(const Trace& trace, const CounterFacts& counters) {
  Json out = Json::array();
  for (const RooflinePoint& point : counters.roofline())
    out.push_back({{"name", trace.strings[point.name]},
                   {"device", point.device},
                   {"launches", point.launches},
                   {"time_ns", point.time},
                   {"flop_per_s", point.per_second},
                   {"flop_per_dram_byte", point.per_byte},
                   {"multiplies_in", point.math ? Json(math_type_name(*point.math)) : Json(nullptr)}});
  return out;
}

}  // namespace

std::string counters_report(const TraceSession& session, const AnalysisOptions& options) {
  const Trace& trace = session.trace();
  const CounterFacts& counters = session.counters();
  if (counters.empty() && !options.json) return kNone;
  Json devices = Json::array();
  std::string text;
  for (const DeviceCounters& device : counters.devices()) {
    const CounterMeans busy = counters.while_busy(device, trace.span), window = device.over(trace.span);
    devices.push_back({{"device", device.device()}, {"while_busy", means_json(busy)}, {"window", means_json(window)}});
    if (!holds_counters_alone(trace)) text += fmt::format("GPU {} while it works: {}\n", device.device(), means_text(busy));
    text += fmt::format("GPU {} while sampled: {}\n", device.device(), means_text(window));
  }
  if (!options.json && holds_counters_alone(trace)) return text + counters_alone_words(trace, "TRACE") + "\n";
  const MeasuredRows rows = measured_rows(trace, counters);
  if (!options.json) return text + "\n" + kernels_text(rows) + roofline_text(trace, counters);
  const Json kernels = json_of(rows, first_rows(rows, rows.rows()));
  Json json = {{"devices", devices}, {"kernels", kernels}, {"roofline", roofline_json(trace, counters)}};
  return with_doubts(std::move(json), session).dump(2) + "\n";
}

}  // namespace gapscope
