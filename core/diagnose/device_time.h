#pragma once
// The busiest device's time, by what it is: what findings claim, and what is gone when a cause is.
#include "core/analyze/account/time_account.h"
#include "core/base/span_set.h"
#include "core/diagnose/rule.h"

namespace gapscope {

class GapPieces;

inline Claim claim_of(const Rule& rule) { return rule.claim.value_or(Claim{}); }
// All places of a finding together.
SpanSet covered_by(const Finding& finding);

class DeviceTime {
 public:
  // Of facts whose account has a device; refers to them.
  explicit DeviceTime(const Facts& facts);

  Ns window() const { return device_.window.length(); }
  // What a claim is about, while `covers` last where it says so.
  SpanSet of(const Claim& claim, const SpanSet& covers) const;

 private:
  SpanSet idle_of(CauseSet causes) const;

  const DeviceAccount& device_;
  const GapPieces& idle_;
  SpanSet kernels_, work_;
};

}  // namespace gapscope
