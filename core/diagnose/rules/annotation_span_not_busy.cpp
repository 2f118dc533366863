#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A third of the span is empty; smaller differences are the pauses between any two kernels.
constexpr double kLeastIdleSpanRatio = 1.5;

// What runs on one stream, with sums so that the work inside a span is a subtraction.
class BusyTime {
 public:
  void add(Span span) { append(set_, span); }
  void sum_up() {
    before_.assign(1, 0);
    for (const Span span : set_) before_.push_back(before_.back() + span.length());
  }
  Ns within(Span span) const { return until(span.end) - until(span.begin); }

 private:
  Ns until(Ns t) const {
    const auto after = std::lower_bound(set_.begin(), set_.end(), t, [](Span s, Ns time) { return s.end <= time; });
    return before_[static_cast<std::size_t>(after - set_.begin())] +
           (after == set_.end() ? 0 : std::max<Ns>(0, t - after->begin));
  }
  SpanSet set_;
  std::vector<Ns> before_;
};

struct Sums {
  std::size_t spans = 0;
  Ns span = 0, busy = 0;
  std::vector<SliceId> empty;  // annotations that are mostly so
};

Sums sums_of(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<BusyTime> busy(trace.lanes.size());
  for (const GpuOp& op : facts.ops) busy[trace.lane_id(op.slice).index()].add(op.span);
  for (BusyTime& lane : busy) lane.sum_up();
  Sums sums;
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
    const Lane& lane = trace.lanes[l];
    if (lane.kind != LaneKind::gpu_stream) continue;
    for (std::size_t i = lane.first_slice; i < lane.first_slice + lane.slice_count; ++i) {
      const SliceId s(i);
      if (trace.kind(s) != Kind::gpu_annotation) continue;
      ++sums.spans;
      if (trace.name(s).starts_with("ProfilerStep#")) continue;  // a step is meant to hold its pauses
      const Ns inside = busy[l].within(trace.span_of(s));
      add_saturating(sums.span, trace.duration(s));
      sums.busy += inside;
      if (static_cast<double>(trace.duration(s)) >= kLeastIdleSpanRatio * static_cast<double>(inside)) sums.empty.push_back(s);
    }
  }
  return sums;
}

std::vector<Finding> check_annotation_span_not_busy(const Facts& facts) {
  Sums sums = sums_of(facts);
  if (sums.busy == 0) return {};
  const double ratio = static_cast<double>(sums.span) / static_cast<double>(sums.busy);
  if (ratio < kLeastIdleSpanRatio) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary =
      fmt::format("Annotations on GPU lanes span {}, but the GPU was busy for only {} of that, {}.", format_duration(sums.span),
                  format_duration(sums.busy), format_share(share_of(sums.busy, sums.span)));
  if (facts.gpu_sum > 0)
    finding.summary += fmt::format(" The profiler table lists them with {} of the CUDA time.",
                                   format_share(static_cast<double>(sums.span) / static_cast<double>(facts.gpu_sum)));
  finding.evidence =
      Evidence({{"spans", sums.spans}, {"span_us", as_us(sums.span)}, {"busy_us", as_us(sums.busy)}, {"ratio", ratio}});
  mark_slices(finding, facts.trace, sums.empty);
  return {std::move(finding)};
}

}  // namespace

extern const Rule annotation_span_not_busy = {
    .id = "annotation_span_not_busy",
    .rule_class = RuleClass::table_trap,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork,
    .title = "Annotations on the GPU lane are longer than the work in them",
    .meaning =
        "The copy of an annotation on a GPU lane spans from its first to its last kernel, with the idle time between them. The "
        "table counts all of that as CUDA time, so shares above 100 % appear.",
    .remedy = "Use the GPU's busy time inside the span instead. Do not add rows of annotations to rows of kernels.",
    .check = check_annotation_span_not_busy,
};

}  // namespace gapscope
