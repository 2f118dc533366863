#include "core/diagnose/conditions/launched_in.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/span_set.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"

namespace gapscope {

LaunchedWork work_launched_in(const Facts& facts, const std::vector<SliceId>& slices) {
  std::vector<Span> spans;
  for (const SliceId s : slices) spans.push_back(facts.trace.span_of(s));
  const SpanSet inside = span_set(std::move(spans));
  LaunchedWork out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !contains(inside, op.launch_span.begin)) continue;
    out.slices.push_back(op.slice);
    add_saturating(out.time, op.span.length());
  }
  return out;
}

std::string SparedTime::words() const {
  return fmt::format("{} of the GPU time ({}) and {} on the host", format_share(gpu_share), format_duration(gpu),
                     format_duration(host));
}

Evidence SparedTime::evidence(EvidenceMap counts) const {
  Evidence out(std::move(counts));
  out.add("gpu_us", as_us(gpu));
  out.add("share", gpu_share);
  out.add("host_us", as_us(host));
  return out;
}

SparedTime mark_spared(const Facts& facts, Finding& finding, std::vector<FindingSpan> places) {
  std::vector<Span> spans, work;
  for (const FindingSpan& place : places) spans.push_back(place.span);
  finding.spared = span_set(std::move(spans));
  SparedTime out;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && contains(finding.spared, op.launch_span.begin)) {
      work.push_back(op.span);
      add_saturating(out.gpu, op.span.length());
    }
  out.host = length(finding.spared);
  out.gpu_share = share_of(out.gpu, facts.gpu_sum);
  out.share = std::max(out.gpu_share, share_of(out.host, facts.window_length));
  finding.cost = sum_saturating(out.gpu, out.host);
  mark_gaps(finding, std::move(places));
  finding.covers = unite(finding.spared, span_set(std::move(work)));
  return out;
}

}  // namespace gapscope
