#include "core/base/span_sums.h"

#include <algorithm>

namespace gapscope {

SpanSums::SpanSums(const SpanSet& set) : set_(&set) {
  sums_.reserve(set.size());
  Ns sum = 0;
  for (const Span s : set) {
    sums_.push_back(sum);
    sum += s.length();
  }
}

Ns SpanSums::before(Ns t) const {
  const auto next = std::lower_bound(set_->begin(), set_->end(), t, [](Span s, Ns time) { return s.begin < time; });
  if (next == set_->begin()) return 0;
  const Span last = *(next - 1);
  return sums_[static_cast<std::size_t>(next - set_->begin()) - 1] + std::min(t, last.end) - last.begin;
}

Ns SpanSums::within(Span to) const { return to.empty() ? 0 : before(to.end) - before(to.begin); }

}  // namespace gapscope
