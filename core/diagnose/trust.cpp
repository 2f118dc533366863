#include "core/diagnose/trust.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/analyze/doubts.h"
#include "core/analyze/gpu/launches.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/verdict.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

// Kernels shorter than kLeastTellingKernel may end before their launch returns in any run, and one or two longer ones behind a
// first launch that loads code; three steps with one product each must do.
constexpr std::uint64_t kLeastKernels = 3;
constexpr std::uint64_t kLeastPercent = 95;
// A piece of unlinked work or two at the begin of a recording says nothing about the rest of it.
constexpr std::uint64_t kLeastUnlinkedPercent = 1;
// One lost event in so many changes no verdict.
constexpr std::uint64_t kLeastLostShare = 100;

std::string shown(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

// Whether a sum of durations or sizes may reach the largest number, where it ends (saturating.h). A duration is counted as
// often as the deepest lane has depths: a kernel's time is in the sums of all operators around it.
bool sums_may_end(const Trace& trace) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Ns time = 0;
  std::int64_t times_counted = 1, bytes = 0;
  for (const Lane& lane : trace.lanes) {
    add_saturating(time, lane.total_dur);
    times_counted = std::max(times_counted, std::int64_t{lane.depth_count});
  }
  for (const MemoryRow& row : trace.memory)
    add_saturating(bytes, row.bytes < 0 ? difference_saturating(0, row.bytes) : row.bytes);
  for (const GpuRow& row : trace.gpu)
    add_saturating(bytes, static_cast<std::int64_t>(std::min(row.bytes, static_cast<std::uint64_t>(kMost))));
  return time > kMost / times_counted || bytes == kMost;
}

// Less of the window than any part that a sentence weighs.
bool explains_enough(const Trust& t) { return t.verdict_stands && t.unexplained > 0 && t.unexplained * 100 < t.window; }

// What the missing launches mean: "the 1.18 ms (0.67 % of the window) ..."
std::string unlinked_sentence(const Trust& t) {
  const bool one = t.unlinked == 1;
  std::string text =
      fmt::format("{} of {} GPU operations ({}) {} no launch in the file: it came before the recording or was not recorded. ",
                  shown(t.unlinked), shown(t.gpu_work),
                  format_percent(static_cast<double>(t.unlinked) / static_cast<double>(t.gpu_work)), one ? "has" : "have");
  if (t.window <= 0 || t.unexplained == 0) return text + "That leaves no idle time unexplained.";
  const double share = static_cast<double>(t.unexplained) / static_cast<double>(t.window);
  return text + fmt::format("The cause of {} of idle time before {} ({} of the window) is unknown{}.",
                            format_duration(t.unexplained), one ? "it" : "them", format_percent(share),
                            t.verdict_stands ? ", which is too little to change the verdict" : "");
}

}  // namespace

bool BlockedLaunches::are_all() const { return kernels >= kLeastKernels && launches.size() * 100 >= kernels * kLeastPercent; }

BlockedLaunches blocked_launches(const Trace& trace, const std::vector<GpuOp>& ops) {
  BlockedLaunches out;
  for (const GpuOp& op : ops) {
    if (!op.linked() || !op.is_kernel() || op.span.length() < kLeastTellingKernel || launches_graph(trace.name(op.launch)))
      continue;
    ++out.kernels;
    if (op.launch_span.end >= op.span.end) out.launches.push_back(op.launch);
  }
  return out;
}

namespace {

Trust trust_without_account(const Trace& trace, const std::vector<GpuOp>& ops) {
  Trust trust;
  trust.cut_off = !trace.is_part && trace.report.count(ImportIssue::truncated) > 0;
  for (const ImportIssue lost :
       {ImportIssue::bad_event, ImportIssue::no_timestamp, ImportIssue::not_an_object, ImportIssue::end_without_begin})
    trust.lost_events += trace.report.count(lost);
  trust.doubts = doubts_of(trace, ops);
  if (find_doubt(trust.doubts, DoubtKind::missing_times) != nullptr)
    trust.lost_events -= trace.report.count(ImportIssue::no_timestamp);  // said there
  trust.loses_much = trust.lost_events * kLeastLostShare >= trace.figures.events;
  trust.sums_end = sums_may_end(trace);
  trust.gpu_work = ops.size();
  trust.unlinked =
      static_cast<std::uint64_t>(std::count_if(ops.begin(), ops.end(), [](const GpuOp& op) { return !op.linked(); }));
  const BlockedLaunches blocked = blocked_launches(trace, ops);
  trust.long_kernels = blocked.kernels;
  trust.blocked_kernels = blocked.launches.size();
  const Doubt* const clocks = find_doubt(trust.doubts, DoubtKind::clock_offset);
  trust.launch_blocked = blocked.are_all() && (clocks == nullptr || clocks->mended);
  return trust;
}

void weigh(Trust& trust, const TimeAccount& account) {
  if (const DeviceAccount* device = account.busiest()) {
    trust.window = device->times.window;
    trust.unexplained = device->times.of(IdleCause::unlinked);
    trust.verdict_stands = verdict_stands(device->times, trust.unexplained);
  }
}

// What is put right without a loss, or touches little, is in the lists of doubts, and changes no verdict.
bool is_worth_a_sentence(const Doubt& doubt) {
  if (doubt.kind == DoubtKind::impossible_durations && !doubt.mended) return doubt.forbids_verdict;
  return doubt.kind != DoubtKind::device_waits && doubt.kind != DoubtKind::no_device_ids;
}

}  // namespace

Trust trust_of(const Trace& trace, const std::vector<GpuOp>& ops, const TimeAccount& account) {
  Trust trust = trust_without_account(trace, ops);
  weigh(trust, account);
  return trust;
}

Trust trust_of(const TraceSession& session) {
  Trust trust = trust_without_account(session.trace(), session.ops());
  if (trust.unlinked > 0) weigh(trust, session.account());
  return trust;
}

std::string doubts_text(const std::vector<Doubt>& doubts) {
  std::string out;
  for (const Doubt& doubt : doubts)
    if (is_worth_a_sentence(doubt)) out += (out.empty() ? "" : " ") + doubt.said;
  return out;
}

std::string trust_text(const Trust& trust) {
  std::vector<std::string> sentences;
  if (trust.cut_off)
    sentences.push_back(
        "The file is cut off: it ends in the middle of an event, and the rest is missing. The limit of the run is not judged.");
  if (trust.lost_events == 1 && trust.loses_much)
    sentences.push_back("The file is damaged: 1 event could not be read. All sums are without it.");
  if (trust.lost_events > 1 && trust.loses_much)
    sentences.push_back(
        fmt::format("The file is damaged: {} events could not be read. All sums are without them.", shown(trust.lost_events)));
  if (std::string doubts = doubts_text(trust.doubts); !doubts.empty()) sentences.push_back(std::move(doubts));
  if (trust.sums_end)
    sentences.push_back(
        "The durations or sizes in this file are too large to add up. Sums end at 292 years or 9.2 EB, so totals and shares "
        "may be wrong.");
  if (trust.launch_blocked)
    sentences.push_back(
        fmt::format("Launches blocked until their kernels ended, as with CUDA_LAUNCH_BLOCKING=1: {} {} kernels of {} or more "
                    "ended before their launch returned. The limit of the run without that is not judged.",
                    trust.blocked_kernels == trust.long_kernels ? "all" : shown(trust.blocked_kernels) + " of",
                    shown(trust.long_kernels), format_duration(kLeastTellingKernel)));
  if (trust.unlinked > 0 && trust.unlinked == trust.gpu_work)
    sentences.push_back(fmt::format("No launch of the {} in this file is recorded, so the cause of idle time is unknown.",
                                    trust.gpu_work == 1 ? "1 GPU operation" : shown(trust.gpu_work) + " GPU operations"));
  else if (trust.unlinked > 0 && trust.unlinked * 100 >= trust.gpu_work * kLeastUnlinkedPercent && !explains_enough(trust))
    sentences.push_back(unlinked_sentence(trust));
  std::string out;
  for (const std::string& sentence : sentences) out += (out.empty() ? "" : " ") + sentence;
  return out;
}

}  // namespace gapscope
