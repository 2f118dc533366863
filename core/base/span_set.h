#pragma once
// Sets of times: sorted, disjoint, non-empty spans that do not touch. Every function but span_set() takes and gives such
// sets and is linear in their sizes; zero-length spans vanish, since they cover no time.
#include <vector>

#include "core/base/time.h"

namespace gapscope {

using SpanSet = std::vector<Span>;

// The union of spans in any order. Linear when they come sorted by begin.
SpanSet span_set(std::vector<Span> spans);

SpanSet unite(const SpanSet& a, const SpanSet& b);
// The union of many sets, by pairs.
SpanSet unite(std::vector<SpanSet> sets);
SpanSet intersect(const SpanSet& a, const SpanSet& b);
// What of `a` is not in `b`.
SpanSet subtract(const SpanSet& a, const SpanSet& b);
// O(log n) and the size of the result.
SpanSet clip(const SpanSet& set, Span to);

Ns length(const SpanSet& set);
// length(clip(set, to)) without building it.
Ns length_within(const SpanSet& set, Span to);
// Whether a time is in it. O(log n).
bool contains(const SpanSet& set, Ns t);

// Adds a span whose begin is not before that of any span added so far.
void append(SpanSet& set, Span span);

}  // namespace gapscope
