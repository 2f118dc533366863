#include "core/diagnose/device_time.h"

#include <span>
#include <utility>
#include <vector>

#include "core/analyze/account/gap_pieces.h"

namespace gapscope {

namespace {

// A stretch of kernels that is inside a copy costs nothing: the copy would take as long without.
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

DeviceTime::DeviceTime(const Facts& facts) : device_(*facts.session.account().busiest()), idle_(*facts.gap_pieces()) {
  const SpanSet kernels = unite(device_.compute, device_.exposed_communication);
  kernels_ = without_those_inside(kernels, copies_of(facts, device_.device));
  work_ = unite(kernels, device_.exposed_copies);
}

SpanSet DeviceTime::of(const Claim& claim, const SpanSet& covers) const {
  const auto within = [&](const SpanSet& time) { return claim.inside ? intersect(time, covers) : time; };
  switch (claim.time) {
    case ClaimedTime::communication: return within(device_.exposed_communication);
    case ClaimedTime::copies: return within(device_.exposed_copies);
    case ClaimedTime::kernels: return within(kernels_);
    case ClaimedTime::work: return within(work_);
    case ClaimedTime::idle: return within(idle_of(claim.causes));
  }
  return {};
}

SpanSet DeviceTime::idle_of(CauseSet causes) const {
  SpanSet out;
  idle_.each_gap([&](std::size_t, std::span<const HostPiece> pieces) {
    for (const HostPiece& piece : pieces) {
      if ((causes >> index_of(piece.cause) & 1u) == 0) continue;
      if (!out.empty() && out.back().end == piece.span.begin)  // they come in time order, and none is empty
        out.back().end = piece.span.end;
      else
        out.push_back(piece.span);
    }
  });
  return out;
}

}  // namespace gapscope
