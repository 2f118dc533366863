// Events whose time was lost: profilers write 0 for it, or -1. They are left out: where they belong is unknown.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/doubts/doubts.h"
#include "core/load/doubts/leave_out.h"

namespace gapscope {
namespace {

// A recording may begin at 0. Then the rest follows sooner than it is long, or than this. Many slices that all begin and end
// at 0 do not begin it.
constexpr Ns kLeastAway = 10 * kNsPerMs;
// Times of a single slice with a length, at just 0, are of the file's first event where the rest is this near: Proton, XLA and
// ONNX Runtime count from there, and may compile before the second. Times of day are days from 0.
constexpr Ns kNear = 10 * 60 * 60 * kNsPerS;
// From this share of the GPU's work, or of all slices, on the rest does not represent the run.
constexpr double kMuchWork = 0.01, kMuch = 0.05;
constexpr std::uint64_t kMany = 10;

struct AtZero {
  std::uint64_t slices = 0, work = 0;   // with ts 0 or -1
  std::uint64_t all = 0, all_work = 0;  // slices, GPU work
  bool negative = false;                // some with -1
  Ns zero_end = 0;                      // the last end of those at 0
  Ns rest_begin = std::numeric_limits<Ns>::max(), rest_end = std::numeric_limits<Ns>::min();
};

AtZero look(const RowStore& rows) {
  AtZero out;
  rows.slices.each([&](const StoredSlice& s, std::size_t) {
    const bool is_work = is_gpu_work(rows.categories[s.category].kind);
    const Ns end = end_of(s, *rows.side);
    ++out.all;
    out.all_work += is_work ? 1 : 0;
    if (no_time(s.begin)) {
      ++out.slices;
      out.negative |= s.begin < 0;
      out.work += is_work ? 1 : 0;
      // The GPU's side of an annotation reaches around its work, from what has no time to what has one.
      if (rows.categories[s.category].kind != Kind::gpu_annotation) out.zero_end = std::max(out.zero_end, end);
    } else {
      out.rest_begin = std::min(out.rest_begin, s.begin);
      out.rest_end = std::max(out.rest_end, end);
    }
  });
  return out;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void add_missing_times(RowStore& rows, LoadReport& report, std::vector<Doubt>& out) {
  const std::uint64_t unread = rows.report.count(ImportIssue::no_timestamp);
  std::uint64_t at_zero = 0, work = 0, all_work = 0;
  bool negative = false;
  double part = share(unread, rows.events);
  if (rows.at_zero > 0) {
    const AtZero found = look(rows);
    const bool any_rest = found.slices < found.all;
    const Ns away = any_rest ? found.rest_begin - found.zero_end : 0;
    const bool are_empty = found.slices >= kMany && found.zero_end <= 0;
    const bool is_first = found.slices == 1 && !found.negative && found.zero_end > 0 && found.rest_begin < kNear;
    if (any_rest && found.rest_begin > 0 && !is_first &&
        (are_empty || away > std::max(kLeastAway, found.rest_end - found.rest_begin))) {
      at_zero = found.slices, work = found.work, all_work = found.all_work, negative = found.negative;
      part += share(at_zero, found.all);
      leave_out(rows, [](std::uint32_t, Ns time) { return no_time(time); });
      report.add(ImportIssue::time_zero, kNoOffset, {}, at_zero);
    }
  }
  if (at_zero == 0 && unread == 0) return;
  const std::uint64_t count = at_zero + unread;
  const bool forbids = share(work, all_work) >= kMuchWork || (count >= kMany && part >= kMuch);
  std::string said = fmt::format("{} {} no time{}: left out", format_count(static_cast<std::int64_t>(count)),
                                 count == 1 ? "event has" : "events have",
                                 at_zero == 0 ? ""
                                 : negative   ? " (ts 0 or -1)"
                                              : " (ts 0)");
  said += work > 0 ? fmt::format(", {} of {} GPU operations among them.", format_count(static_cast<std::int64_t>(work)),
                                 format_count(static_cast<std::int64_t>(all_work)))
                   : std::string(".");
  out.push_back({DoubtKind::missing_times, count, "busy and idle time, counts, steps", std::move(said), true, forbids,
                 "Record again with a newer version of the profiler."});
}

}  // namespace gapscope
