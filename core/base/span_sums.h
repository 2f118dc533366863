#pragma once
// How much of a set of times is in each of many spans, in O(log n) a span, also where every span holds much of the set.
#include <vector>

#include "core/base/span_set.h"

namespace gapscope {

class SpanSums {
 public:
  // Refers to the set.
  explicit SpanSums(const SpanSet& set);
  // As length_within() has it.
  Ns within(Span to) const;

 private:
  Ns before(Ns t) const;  // what of the set is before `t`

  const SpanSet* set_;
  std::vector<Ns> sums_;  // by span: the length of all before it
};

}  // namespace gapscope
