#include "core/diagnose/conditions/launched_in.h"

#include <utility>

#include "core/base/saturating.h"
#include "core/base/span_set.h"

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

}  // namespace gapscope
