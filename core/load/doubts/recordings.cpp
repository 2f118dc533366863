// Several recordings in one file, one after the other: each has a span of the profiler around it or, where a tool that joined
// them left these out, steps whose numbers begin anew.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/load/doubts/doubts.h"

namespace gapscope {

namespace {

std::vector<Span> spans_of_profiler(const Trace& trace) {
  std::vector<Span> spans;
  for (const Lane& lane : trace.lanes) {
    if (lane.kind != LaneKind::profiler) continue;
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s)
      if (trace.kind(SliceId(s)) == Kind::profiler && trace.slices.end[s] > trace.slices.begin[s])
        spans.push_back(trace.span_of(SliceId(s)));
  }
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  std::vector<Span> apart;  // of ranks, they overlap
  for (const Span& span : spans) {
    if (!apart.empty() && span.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, span.end);
    else
      apart.push_back(span);
  }
  return apart;
}

// "ProfilerStep#5": 5.
std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (!name.starts_with(kStep)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + kStep.size(), end, number);
  return error == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

// Between two steps of one thread where the second has no later number.
std::vector<Span> between_restarts(const Trace& trace) {
  std::vector<Span> out;
  for (const Lane& lane : trace.lanes) {
    std::optional<std::int64_t> last;
    Ns last_end = 0;
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s) {
      if (trace.kind(SliceId(s)) != Kind::annotation) continue;
      const std::optional<std::int64_t> number = step_number(trace.name(SliceId(s)));
      if (!number) continue;
      if (last && *number <= *last && trace.slices.begin[s] > last_end) out.push_back({last_end, trace.slices.begin[s]});
      last = number;
      last_end = trace.slices.end[s];
    }
    if (!out.empty()) return out;
  }
  return out;
}

// The longest part of `window` in which nothing is recorded.
Span longest_empty(const Trace& trace, Span window) {
  std::vector<Span> inside;
  for (std::uint32_t s = 0; s < trace.slice_count(); ++s) {
    const Span span = trace.span_of(SliceId(s));
    if (span.begin < window.end && span.end > window.begin) inside.push_back(span);
  }
  std::sort(inside.begin(), inside.end(), [](Span a, Span b) { return a.begin < b.begin; });
  Span longest{window.begin, window.begin};
  Ns covered = window.begin;
  inside.push_back({window.end, window.end});
  for (const Span& span : inside) {
    if (span.begin - covered > longest.length()) longest = {covered, span.begin};
    covered = std::max(covered, span.end);
  }
  return longest;
}

std::vector<Span> spans_between_restarts(const Trace& trace) {
  constexpr std::size_t kMost = 16;       // each looks at all slices
  constexpr Ns kLeastBetween = kNsPerMs;  // a profiler takes longer to start again
  std::vector<Span> between = between_restarts(trace);
  if (between.empty() || between.size() > kMost) return {};
  std::vector<Span> out;
  Ns begin = trace.span.begin;
  for (const Span& window : between) {
    const Span empty = longest_empty(trace, window);
    if (empty.length() < kLeastBetween) continue;
    out.push_back({begin, empty.begin});
    begin = empty.end;
  }
  out.push_back({begin, trace.span.end});
  return out;
}

// Correlation ids that begin anew with each recording get numbers of their own, so that none joins work with another's call.
void part_ids(Trace& trace) {
  const auto recording_of = [&](SliceId slice) {
    const auto after = std::upper_bound(trace.recordings.begin(), trace.recordings.end(), trace.begin(slice),
                                        [](Ns t, const Span& span) { return t < span.begin; });
    return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(0, after - trace.recordings.begin() - 1));
  };
  std::unordered_map<std::uint64_t, std::uint64_t> known;  // by correlation: the recording
  bool shared = false;
  std::uint64_t ids = 1;
  for (const Call& call : trace.calls) {
    if (call.correlation == 0) continue;
    const std::uint64_t recording = recording_of(call.slice);
    shared |= known.try_emplace(call.correlation, recording).first->second != recording;
    ids = std::max(ids, call.correlation + 1);
  }
  for (const GpuRow& row : trace.gpu) ids = std::max(ids, row.correlation + 1);
  if (!shared || ids > std::numeric_limits<std::uint64_t>::max() / trace.recordings.size()) return;
  for (Call& call : trace.calls)
    if (call.correlation != 0) call.correlation += ids * recording_of(call.slice);
  for (GpuRow& row : trace.gpu)
    if (row.correlation != 0) row.correlation += ids * recording_of(row.slice);
}

}  // namespace

void add_recordings(Trace& trace) {
  std::vector<Span> apart = spans_of_profiler(trace);
  if (apart.empty()) apart = spans_between_restarts(trace);
  if (apart.size() < 2) return;
  Ns recorded = 0, between = 0;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    recorded += apart[i].length();
    if (i > 0) between += apart[i].begin - apart[i - 1].end;
  }
  trace.recordings = apart;
  part_ids(trace);
  trace.doubts.push_back(
      {DoubtKind::several_recordings,
       apart.size(),
       "the time between them",
       fmt::format(
           "This file holds {} recordings of {} together. The time between them, {}, was not recorded and does not count.",
           apart.size(), format_duration(recorded), format_duration(between)),
       true,
       false,
       {}});
}

}  // namespace gapscope
