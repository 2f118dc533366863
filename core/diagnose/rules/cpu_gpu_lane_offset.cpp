#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Shorter offsets are what a first step takes on the host anyway.
constexpr Ns kLeastOffset = 300 * kNsPerUs;
// Of the offset. Otherwise the offset is mostly the program's own work before its first launch.
constexpr double kLeastRequestShare = 0.25;
// Of the offset: the GPU was still busy with what came before, so nothing came late.
constexpr double kMostEarlierWork = 0.5;

// The steps; without any, the outermost annotations that share the first one's name.
std::vector<SliceId> parts_of(const Facts& facts) {
  if (!facts.steps.empty()) return facts.steps;
  std::vector<SliceId> parts;
  for (const SliceId s : facts.slices_with(kIsAnnotation))
    if ((facts.above(s) & kIsAnnotation) == 0) parts.push_back(s);
  std::stable_sort(parts.begin(), parts.end(),
                   [&](SliceId a, SliceId b) { return facts.trace.begin(a) < facts.trace.begin(b); });
  if (!parts.empty())
    std::erase_if(parts,
                  [&, first = facts.trace.name_id(parts.front())](SliceId s) { return facts.trace.name_id(s) != first; });
  return parts;
}

// First begin of GPU work launched inside a part, and the end of its first launching call.
struct PartStart {
  bool has_work = false;
  Ns gpu_begin = 0, launch_begin = 0, launch_end = 0;
};

std::vector<PartStart> starts_of(const Facts& facts, const std::vector<SliceId>& parts) {
  std::vector<PartStart> out(parts.size());
  for (const GpuOp& op : facts.ops) {
    if (!op.linked()) continue;
    const Ns at = op.launch_span.begin;
    const auto after =
        std::upper_bound(parts.begin(), parts.end(), at, [&](Ns t, SliceId s) { return t < facts.trace.begin(s); });
    if (after == parts.begin() || at > facts.trace.end(*(after - 1))) continue;
    PartStart& start = out[static_cast<std::size_t>(after - 1 - parts.begin())];
    if (!start.has_work || op.launch_span.begin < start.launch_begin)
      start.launch_begin = at, start.launch_end = op.launch_span.end;
    start.gpu_begin = start.has_work ? std::min(start.gpu_begin, op.span.begin) : op.span.begin;
    start.has_work = true;
  }
  return out;
}

Ns requests_within(const Facts& facts, Span offset) {
  std::vector<Span> requests;
  for (const SliceId s : facts.overheads)
    if (facts.trace.name(s) == "Activity Buffer Request") requests.push_back(facts.trace.span_of(s));
  return length_within(span_set(std::move(requests)), offset);
}

Ns later_host_median(const Facts& facts, const std::vector<SliceId>& parts, const std::vector<PartStart>& starts) {
  std::vector<Ns> host;
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (starts[i].has_work) host.push_back(starts[i].launch_end - facts.trace.begin(parts[i]));
  return median_of(std::move(host));
}

std::vector<Finding> check_cpu_gpu_lane_offset(const Facts& facts) {
  const std::vector<SliceId> parts = parts_of(facts);
  if (parts.empty()) return {};
  const std::vector<PartStart> starts = starts_of(facts, parts);
  if (!starts.front().has_work) return {};
  const Span offset{facts.trace.begin(parts.front()), starts.front().gpu_begin};
  if (offset.length() < kLeastOffset) return {};
  const Ns requests = requests_within(facts, offset);
  const double earlier = share_of(length_within(facts.busy, offset), offset.length());
  if (share_of(requests, offset.length()) < kLeastRequestShare || earlier > kMostEarlierWork) return {};
  const Ns later = later_host_median(facts, parts, starts);
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = requests;
  finding.summary =
      fmt::format("The GPU starts {} after {} begins. The profiler's buffer requests take {} of that{}.",
                  format_duration(offset.length()), shown_name(facts.trace.name(parts.front())), format_duration(requests),
                  later > 0 ? fmt::format(". Later {} reach their first launch in {}", facts.steps.empty() ? "ones" : "steps",
                                          format_duration(later))
                            : "");
  finding.evidence = Evidence({{"first", facts.trace.name(parts.front())},
                               {"offset_us", as_us(offset.length())},
                               {"host_to_first_launch_us", as_us(starts.front().launch_end - offset.begin)},
                               {"buffer_request_us", as_us(requests)},
                               {"earlier_gpu_work_share", earlier}});
  if (later > 0) finding.evidence.add("later_steps_host_median_us", as_us(later));
  finding.spans.push_back({facts.trace.lane_id(parts.front()), offset, SliceId{}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule cpu_gpu_lane_offset = {
    .id = "cpu_gpu_lane_offset",
    .rule_class = RuleClass::start_up,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "The GPU lane starts late",
    .meaning =
        "The first GPU work begins long after the first step. Much of that delay is the profiler's buffer allocation, which a "
        "run without a profiler does not have.",
    .remedy =
        "Leave this part out of measurements, and judge later steps. Record with warm-up steps (schedule(wait=1, warmup=1, "
        "active=N)).",
    .check = check_cpu_gpu_lane_offset,
    .other_remedy = "Leave this part out of measurements. Record after a warm-up (--range or --delay of gapscope record).",
};

}  // namespace gapscope
