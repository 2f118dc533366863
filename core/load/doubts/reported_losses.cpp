// GPU work that the profiler itself says is missing: Nsight Systems' own diagnostics.
#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/load/doubts/doubts.h"
#include "core/trace/profiler_reports.h"

namespace gapscope {
namespace {

bool has_any(std::string_view text, const auto& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains_ignore_case(text, word); });
}

}  // namespace

void add_reported_losses(Trace& trace) {
  constexpr std::array<std::string_view, 3> kWork = {"CUDA", "CUPTI", "GPU"};
  constexpr std::array<std::string_view, 4> kLost = {"lost", "dropped", "discarded", "overflow"};
  constexpr std::array<std::string_view, 3> kMaybe = {"not all", "might", "may have"};  // it says so of many a whole recording
  std::uint64_t lost = 0, maybe = 0;
  for (const std::string& report : profiler_reports(trace)) {
    if (!has_any(report, kWork)) continue;
    if (has_any(report, kLost) && !has_any(report, kMaybe))
      ++lost;
    else if (has_any(report, kLost) || contains_ignore_case(report, "not all"))
      ++maybe;
  }
  if (lost + maybe == 0) return;
  trace.doubts.push_back({DoubtKind::lost_kernels, lost + maybe, "Busy time, idle time and its causes",
                          lost > 0
                              ? "Nsight Systems says that GPU work was lost: a gap may be work that was not recorded."
                              : "Nsight Systems warns that GPU work may be missing: a gap may be work that was not recorded.",
                          false, lost > 0, "Record again, for a shorter time or with fewer kinds of events in --trace."});
}

}  // namespace gapscope
