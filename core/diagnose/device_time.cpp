#include "core/diagnose/device_time.h"

#include <span>
#include <utility>
#include <vector>

#include "core/analyze/account/gap_pieces.h"

namespace gapscope {

namespace {

// A stretch of kernels that lies inside a copy costs nothing: the copy would take as long without.
SpanSet without_those_inside(SpanSet kernels, const SpanSet& copies) {
  std::erase_if(kernels, [&](const Span& k) { return length_within(copies, k) == k.length(); });
  return kernels;
}

SpanSet copies_of(const Facts& facts, std::int32_t device) {
  SpanSet out;
  for (const GpuOp& op : facts.ops)
    if (op.device == device && op.gpu_class == GpuClass::copy) append(out, op.span);
  return out;
}

}  // namespace

SpanSet covered_by(const Finding& finding) {
  if (!finding.covers.empty()) return finding.covers;
  std::vector<Span> spans;
  for (const FindingSpan& at : finding.spans) spans.push_back(at.span);
  return span_set(std::move(spans));
}

DeviceTime::DeviceTime(const Facts& facts) : device_(*facts.analysis.account().busiest()) {
  facts.gap_pieces()->each_gap([&](std::size_t, std::span<const HostPiece> pieces) {
    for (const HostPiece& piece : pieces) {
      const bool goes_on = !idle_.empty() && idle_.back().cause == piece.cause && idle_.back().span.end == piece.span.begin;
      if (goes_on)
        idle_.back().span.end = piece.span.end;
      else
        idle_.push_back({piece.span, piece.cause});
    }
  });
  const SpanSet kernels = unite(device_.compute, device_.exposed_communication);
  kernels_ = without_those_inside(kernels, copies_of(facts, device_.device));
  work_ = unite(kernels, device_.exposed_copies);
}

SpanSet DeviceTime::of(const Claim& claim, const SpanSet& covers) const {
  SpanSet time;
  if (claim.time == ClaimedTime::communication) time = device_.exposed_communication;
  if (claim.time == ClaimedTime::copies) time = device_.exposed_copies;
  if (claim.time == ClaimedTime::kernels) time = kernels_;
  if (claim.time == ClaimedTime::work) time = work_;
  if (claim.time == ClaimedTime::idle)
    for (const IdleTime& idle : idle_) {
      if ((claim.causes >> index_of(idle.cause) & 1u) == 0) continue;
      if (!time.empty() && time.back().end == idle.span.begin)  // they are disjoint, and none is empty
        time.back().end = idle.span.end;
      else
        time.push_back(idle.span);
    }
  return claim.inside ? intersect(time, covers) : time;
}

}  // namespace gapscope
