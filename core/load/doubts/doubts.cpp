#include "core/load/doubts/doubts.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/build/trace_span.h"

namespace gapscope {

std::vector<Doubt> doubts_of_rows(Header& header, RowStore& rows, const Adopted& adopted, std::int32_t only_rank,
                                  LoadReport& report) {
  std::vector<Doubt> out;
  add_missing_times(rows, report, out);
  add_ranks(header, rows, only_rank, out);
  const auto shown = [](std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); };
  if (adopted.device_waits > 0)
    out.push_back({DoubtKind::device_waits,
                   adopted.device_waits,
                   "busy time",
                   fmt::format("{} of the device's events {}: not counted as work.", shown(adopted.device_waits),
                               adopted.device_waits == 1 ? "is a wait" : "are waits"),
                   true,
                   false,
                   {}});
  if (adopted.bare_work > 0)
    out.push_back({DoubtKind::no_device_ids,
                   adopted.bare_work,
                   "device and stream numbers",
                   fmt::format("{} GPU operations name neither device nor stream: both are read from their lanes.",
                               shown(adopted.bare_work)),
                   true,
                   false,
                   {}});
  return out;
}

void find_doubts(Trace& trace) {
  add_impossible_durations(trace);
  add_clock_offsets(trace);
  const bool moved = find_doubt(trace.doubts, DoubtKind::impossible_durations) != nullptr ||
                     find_doubt(trace.doubts, DoubtKind::clock_offset) != nullptr;
  if (moved) {
    const LoadReport report = trace.report;  // of what was too far from the rest
    find_span(trace);
    trace.report = report;
  }
  add_recordings(trace);
  add_reported_losses(trace);
}

}  // namespace gapscope
