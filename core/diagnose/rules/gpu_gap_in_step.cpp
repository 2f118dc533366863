#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/base/tuple_hash.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Shorter holes are usual between launches of a busy host.
constexpr Ns kLeastGap = 100 * kNsPerUs;
// Half of the hole is the profiler's own work.
constexpr double kLeastCovered = 0.5;
// One-off: the pair follows closely in the other steps, and no second step has a hole like it.
constexpr std::size_t kLeastSteps = 3;
constexpr std::size_t kMostInAStep = 2;
constexpr double kLeastOverMedian = 5;
constexpr double kLeastOverSecond = 3;

struct Gap {
  std::size_t prev = 0, next = 0;  // positions in facts.ops
  Span span;
};

// Of a gap: device, stream, and the names of what is before and after it.
using PairKey = std::tuple<std::int32_t, std::int32_t, StringId, StringId>;
using Pairs = std::unordered_map<PairKey, std::vector<Gap>, TupleHash>;

PairKey key_of(const Facts& facts, const Gap& gap) {
  const GpuOp& next = facts.ops[gap.next];
  return {next.device, next.stream, facts.trace.name_id(facts.ops[gap.prev].slice), facts.trace.name_id(next.slice)};
}

// Calls `use` for every two pieces of work that follow each other on a stream and were launched in one step.
template <class Use>
void each_pair(const Facts& facts, const std::vector<StreamOps>& streams, Use use) {
  for (const StreamOps& stream : streams)
    for (std::size_t i = 1; i < stream.ops.size(); ++i) {
      const std::size_t prev = stream.ops[i - 1], next = stream.ops[i];
      if (facts.gpu[prev].step < 0 || facts.gpu[prev].step != facts.gpu[next].step) continue;
      use(Gap{prev, next, {facts.ops[prev].span.end, std::max(facts.ops[prev].span.end, facts.ops[next].span.begin)}});
    }
}

// Only pairs with at least one wide gap are worth keeping.
Pairs wide_pairs(const Facts& facts) {
  Pairs pairs;
  const std::vector<StreamOps> streams = streams_of(facts.ops);
  each_pair(facts, streams, [&](const Gap& gap) {
    if (gap.span.length() >= kLeastGap) pairs.try_emplace(key_of(facts, gap));
  });
  if (pairs.empty()) return pairs;
  each_pair(facts, streams, [&](const Gap& gap) {
    if (const auto at = pairs.find(key_of(facts, gap)); at != pairs.end()) at->second.push_back(gap);
  });
  return pairs;
}

struct OneOff {
  Gap gap;
  Ns median = 0;
  double ratio() const { return static_cast<double>(gap.span.length()) / static_cast<double>(std::max<Ns>(1, median)); }
};

bool seldom_enough(const Facts& facts, const std::vector<Gap>& gaps) {
  std::vector<std::int32_t> steps;
  for (const Gap& gap : gaps) steps.push_back(facts.gpu[gap.next].step);
  std::sort(steps.begin(), steps.end());
  std::size_t distinct = 0, run = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    run = i > 0 && steps[i] == steps[i - 1] ? run + 1 : 1;
    if (run == 1) ++distinct;
    if (run > kMostInAStep) return false;
  }
  return distinct >= kLeastSteps;
}

std::vector<OneOff> one_offs(const Facts& facts) {
  std::vector<OneOff> out;
  for (const auto& [key, gaps] : wide_pairs(facts)) {
    if (!seldom_enough(facts, gaps)) continue;
    std::vector<Ns> lengths;
    for (const Gap& gap : gaps) lengths.push_back(gap.span.length());
    const auto largest = std::max_element(lengths.begin(), lengths.end());
    const Gap& gap = gaps[static_cast<std::size_t>(largest - lengths.begin())];
    const auto length = static_cast<double>(*largest);
    const Ns median = median_of(lengths);
    *largest = 0;
    const Ns second = *std::max_element(lengths.begin(), lengths.end());
    if (length < static_cast<double>(kLeastGap) || length < kLeastOverMedian * static_cast<double>(median)) continue;
    if (length < kLeastOverSecond * static_cast<double>(second)) continue;
    out.push_back({gap, median});
  }
  std::sort(out.begin(), out.end(), [](const OneOff& a, const OneOff& b) {
    const auto key = [](const Gap& gap) { return std::tuple(-gap.span.length(), gap.span.begin, gap.next); };
    return key(a.gap) < key(b.gap);
  });
  return out;
}

bool fills_buffers(std::string_view overhead) {
  return overhead == "Activity Buffer Request" || overhead == "Buffer Flush" || overhead == "Command Buffer Full";
}

// Holes between any GPU work that are mostly the profiler's buffers.
struct ProfilerGaps {
  std::vector<Span> gaps;
  Ns buffers = 0;  // inside them
};
ProfilerGaps profiler_gaps(const Facts& facts) {
  SpanSet buffers;
  for (const SliceId s : facts.overheads)
    if (fills_buffers(facts.trace.name(s))) append(buffers, facts.trace.span_of(s));
  ProfilerGaps out;
  if (buffers.empty()) return out;
  for (std::size_t i = 1; i < facts.busy.size(); ++i) {
    const Span gap = {facts.busy[i - 1].end, facts.busy[i].begin};
    if (gap.length() < kLeastGap) continue;
    const Ns covered = length_within(buffers, gap);
    if (static_cast<double>(covered) < kLeastCovered * static_cast<double>(gap.length())) continue;
    out.gaps.push_back(gap);
    out.buffers += covered;
  }
  return out;
}

EvidenceList overheads_in(const Facts& facts, Span gap) {
  EvidenceList names;
  for (const SliceId s : facts.overheads) {
    if (facts.trace.begin(s) >= gap.end) break;
    if (facts.trace.span_of(s).overlaps(gap)) names.emplace_back(facts.trace.name(s));
  }
  return names;
}

Ns overhead_in(const Facts& facts, Span gap) {
  SpanSet overheads;  // in time order
  for (const SliceId s : facts.overheads) append(overheads, facts.trace.span_of(s));
  return length_within(overheads, gap);
}

void tell_one_off(const Facts& facts, const OneOff& found, std::size_t count, Finding& finding) {
  const GpuOp& prev = facts.ops[found.gap.prev];
  const GpuOp& next = facts.ops[found.gap.next];
  const std::string_view step = facts.trace.name(facts.steps[static_cast<std::size_t>(facts.gpu[found.gap.next].step)]);
  const bool host_late = next.launch_span.begin > prev.span.end;
  EvidenceList overheads = overheads_in(facts, found.gap.span);
  finding.summary = fmt::format("In {} stream {} was idle for {} between {} and {}. The median pause there is {}.",
                                shown_name(step), next.stream, format_duration(found.gap.span.length()),
                                shown_kernel(facts.name(prev)), shown_kernel(facts.name(next)), format_duration(found.median));
  if (host_late)
    finding.summary +=
        fmt::format(" The launch came {} after the stream ran empty.", format_duration(next.launch_span.begin - prev.span.end));
  finding.advice =
      advice_of(host_late ? "Look at what the host did in the pause. If it happens only once, leave it out of averages."
                          : "Look at what the stream waited for. If it happens only once, leave it out of averages.");
  if (const Ns busy = length_within(facts.busy, found.gap.span); busy > 0)
    finding.summary += fmt::format(" Other streams were busy for {} of it.", format_duration(busy));
  if (const Ns overhead = overhead_in(facts, found.gap.span); overhead > 0)
    finding.summary += fmt::format(" The profiler or the driver took {} of it.", format_duration(overhead));
  if (count > 1) finding.summary += fmt::format(" There are {} such pauses. This is the longest.", shown_count(count));
  finding.evidence = Evidence({{"gap_us", as_us(found.gap.span.length())},
                               {"median_us", as_us(found.median)},
                               {"ratio", found.ratio()},
                               {"step", step},
                               {"prev", facts.name(prev)},
                               {"next", facts.name(next)},
                               {"host_late", host_late}});
  if (!overheads.empty()) finding.evidence.add("overhead_in_gap", std::move(overheads));
}

void tell_profiler_gap(const Facts& facts, const ProfilerGaps& found, Finding& finding) {
  const std::vector<Span>& gaps = found.gaps;
  const Span widest = *std::max_element(gaps.begin(), gaps.end(), [](Span a, Span b) { return a.length() < b.length(); });
  finding.summary =
      gaps.size() == 1 ? fmt::format("The GPU was idle for {}. The profiler handled its buffers for {} of that.",
                                     format_duration(widest.length()), format_duration(found.buffers))
                       : fmt::format("The GPU was idle {}, {} at most, while the profiler handled its buffers for {} in total.",
                                     often(gaps.size()), format_duration(widest.length()), format_duration(found.buffers));
  finding.evidence =
      Evidence({{"gap_us", as_us(widest.length())}, {"n", gaps.size()}, {"overhead_in_gap", overheads_in(facts, widest)}});
}

std::vector<Finding> check_gpu_gap_in_step(const Facts& facts) {
  const std::vector<OneOff> single = one_offs(facts);
  const ProfilerGaps by_profiler = profiler_gaps(facts);
  if (single.empty() && by_profiler.gaps.empty()) return {};
  Finding finding;
  finding.severity = Severity::notable;
  std::vector<FindingSpan> spans;
  for (const OneOff& found : single) {
    add_saturating(finding.cost, found.gap.span.length() - found.median);
    spans.push_back({facts.trace.lane_id(facts.ops[found.gap.next].slice), found.gap.span, SliceId{}});
  }
  finding.cost += by_profiler.buffers;
  for (const Span gap : by_profiler.gaps) spans.push_back({LaneId{}, gap, SliceId{}});
  if (single.empty()) {
    finding.severity = Severity::informational;  // the program has nothing to mend
    tell_profiler_gap(facts, by_profiler, finding);
    finding.advice = advice_of("The program needs no change. Leave these pauses out of averages.");
  } else {
    tell_one_off(facts, single.front(), single.size(), finding);
  }
  mark_gaps(finding, std::move(spans));
  return {std::move(finding)};
}

}  // namespace

extern const Rule gpu_gap_in_step = {
    .id = "gpu_gap_in_step",
    .rule_class = RuleClass::mixed,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork,
    .title = "A long pause that other steps do not have",
    .meaning =
        "In one step a stream is idle between two operations that follow each other closely in the other steps, or the GPU is "
        "idle while the profiler handles its buffers. The summary has the measurements.",
    .remedy =
        "Look at the cause in the summary. Ignore the pause if the profiler caused it or if it happens once. If the host was "
        "late, look at what it did then.",
    .check = check_gpu_gap_in_step,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 120},
    .gives = {Cure::idle},
};

}  // namespace gapscope
