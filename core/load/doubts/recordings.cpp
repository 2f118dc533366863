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

// Of several ranks in one file each has a span, and their clocks may be far apart: then those of each have to be several.
std::vector<Span> spans_of_profiler(const Trace& trace, std::uint64_t ranks) {
  std::vector<Span> spans;
  for (const Lane& lane : trace.lanes) {
    if (lane.kind != LaneKind::profiler) continue;
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s)
      if (trace.kind(SliceId(s)) == Kind::profiler && trace.slices.end[s] > trace.slices.begin[s])
        spans.push_back(trace.span_of(SliceId(s)));
  }
  if (ranks > 1 && spans.size() < 2 * ranks) return {};
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

// Between two steps of one thread where the second has no later number, or begins so late that it is not the next one: each
// ends where the next begins.
struct Restart {
  Span window;
  Ns least_empty = 0;  // in which nothing is recorded
};
std::vector<Restart> between_restarts(const Trace& trace) {
  constexpr Ns kLeastBetween = kNsPerMs;  // a profiler takes longer to start again
  constexpr Ns kLeastApart = kNsPerS;
  std::vector<Restart> out;
  for (const Lane& lane : trace.lanes) {
    std::optional<std::int64_t> last;
    Ns last_end = 0;
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s) {
      if (trace.kind(SliceId(s)) != Kind::annotation) continue;
      const std::optional<std::int64_t> number = step_number(trace.name(SliceId(s)));
      if (!number) continue;
      const Span between{last_end, trace.slices.begin[s]};
      if (last && between.end > between.begin && (*number <= *last || between.length() >= kLeastApart))
        out.push_back({between, *number <= *last ? kLeastBetween : kLeastApart});
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
  constexpr std::size_t kMost = 16;  // each looks at all slices
  const std::vector<Restart> between = between_restarts(trace);
  if (between.empty() || between.size() > kMost) return {};
  std::vector<Span> out;
  Ns begin = trace.span.begin;
  for (const Restart& restart : between) {
    const Span empty = longest_empty(trace, restart.window);
    if (empty.length() < restart.least_empty) continue;
    out.push_back({begin, empty.begin});
    begin = empty.end;
  }
  if (out.empty()) return out;
  out.push_back({begin, trace.span.end});
  return out;
}

// What is recorded in each of many parts of the trace.
std::vector<bool> recorded_parts(const Trace& trace, std::size_t parts) {
  std::vector<std::int32_t> change(parts + 1, 0);
  const double scale = static_cast<double>(parts) / static_cast<double>(trace.span.length());
  const auto part = [&](Ns t) {
    const double at = static_cast<double>(t - trace.span.begin) * scale;
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(parts - 1)));
  };
  const auto add = [&](Ns begin, Ns end) { ++change[part(begin)], --change[part(end) + 1]; };
  for (std::uint32_t s = 0; s < trace.slice_count(); ++s) add(trace.slices.begin[s], trace.slices.end[s]);
  for (const Instant& i : trace.instants) add(i.time, i.time);
  for (const Counter& counter : trace.counters)
    for (const CounterSample& sample : counter.samples) add(sample.time, sample.time);
  std::vector<bool> out;
  std::int32_t open = 0;
  for (std::size_t i = 0; i < parts; ++i) out.push_back((open += change[i]) > 0);
  return out;
}

// A minute and more in which no lane has anything, longer than what is recorded on one side of it: no profiler was on. A
// program that waits now and then is recorded for longer than it waits.
std::vector<Span> spans_between_minutes(const Trace& trace) {
  constexpr Ns kLeastPause = 60 * kNsPerS;
  constexpr std::size_t kStretches = 4096, kMostPauses = 16;
  if (trace.span.length() < kLeastPause) return {};
  const std::vector<bool> recorded = recorded_parts(trace, kStretches);
  const auto begin_of = [&](std::size_t part) {
    return trace.span.begin +
           static_cast<Ns>(static_cast<double>(trace.span.length()) / kStretches * static_cast<double>(part));
  };
  std::vector<Span> between;
  for (std::size_t i = 0; i < kStretches;) {
    std::size_t end = i;
    while (end < kStretches && !recorded[end]) ++end;
    if (begin_of(end) - begin_of(i) >= kLeastPause / 2) between.push_back({begin_of(i > 0 ? i - 1 : 0), begin_of(end + 1)});
    i = end + 1;
  }
  if (between.empty() || between.size() > kMostPauses) return {};
  std::vector<Span> out{{trace.span.begin, trace.span.end}};
  for (const Span& window : between) {
    const Span empty = longest_empty(trace, window);
    if (empty.length() < kLeastPause) continue;
    out.back().end = empty.begin;
    out.push_back({empty.end, trace.span.end});
  }
  for (std::size_t i = 0; i + 1 < out.size();)
    if (out[i + 1].begin - out[i].end > std::min(out[i].length(), out[i + 1].length())) {
      ++i;
    } else {
      out[i].end = out[i + 1].end;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
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
  const Doubt* const merged = find_doubt(trace.doubts, DoubtKind::several_ranks);
  std::vector<Span> apart = spans_of_profiler(trace, merged != nullptr ? merged->count : 1);
  if (apart.empty() && merged == nullptr) apart = spans_between_restarts(trace);
  if (apart.empty() && merged == nullptr) apart = spans_between_minutes(trace);
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
