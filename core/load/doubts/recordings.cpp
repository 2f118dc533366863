// Several recordings in one file, one after the other: each has a span of the profiler around it.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/load/doubts/doubts.h"

namespace gapscope {

void add_recordings(Trace& trace) {
  std::vector<Span> spans;
  for (const Lane& lane : trace.lanes) {
    if (lane.kind != LaneKind::profiler) continue;
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s)
      if (trace.kind(SliceId(s)) == Kind::profiler && trace.slices.end[s] > trace.slices.begin[s])
        spans.push_back(trace.span_of(SliceId(s)));
  }
  if (spans.size() < 2) return;
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  std::vector<Span> apart;  // of ranks, they overlap
  for (const Span& span : spans) {
    if (!apart.empty() && span.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, span.end);
    else
      apart.push_back(span);
  }
  if (apart.size() < 2) return;
  Ns recorded = 0, between = 0;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    recorded += apart[i].length();
    if (i > 0) between += apart[i].begin - apart[i - 1].end;
  }
  trace.recordings = apart;
  trace.doubts.push_back(
      {DoubtKind::several_recordings,
       apart.size(),
       "the time between them",
       fmt::format(
           "This file holds {} recordings of {} together. What lies between them, {}, was not recorded and counts for nothing.",
           apart.size(), format_duration(recorded), format_duration(between)),
       true,
       false,
       {}});
}

}  // namespace gapscope
