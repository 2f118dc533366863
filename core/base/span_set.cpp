#include "core/base/span_set.h"

#include <algorithm>
#include <iterator>

#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

// The first span of the set that ends after `t`.
SpanSet::const_iterator first_after(const SpanSet& set, Ns t) {
  return std::upper_bound(set.begin(), set.end(), t, [](Ns time, Span s) { return time < s.end; });
}

// As append(), for the loops of this file: a call a span takes as long as what it does.
inline void add(SpanSet& set, Span span) {
  if (span.empty()) return;
  if (!set.empty() && span.begin <= set.back().end) {
    set.back().end = std::max(set.back().end, span.end);
  } else {
    set.push_back(span);
  }
}

}  // namespace

void append(SpanSet& set, Span span) { add(set, span); }

SpanSet span_set(std::vector<Span> spans) {
  std::vector<Span> other;
  radix_sort(spans, other, [](Span s) { return ordered_bits(s.begin); });
  SpanSet set;
  for (const Span s : spans) add(set, s);
  return set;
}

SpanSet unite(const SpanSet& a, const SpanSet& b) {
  SpanSet out;
  out.reserve(std::max(a.size(), b.size()));
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    const bool from_a = j == b.end() || (i != a.end() && i->begin <= j->begin);
    add(out, from_a ? *i++ : *j++);
  }
  return out;
}

SpanSet unite(std::vector<SpanSet> sets) {
  if (sets.empty()) return {};
  for (; sets.size() > 1; sets.resize((sets.size() + 1) / 2)) {
    for (std::size_t i = 0; i < sets.size() / 2; ++i) sets[i] = unite(sets[2 * i], sets[2 * i + 1]);
    if (sets.size() % 2 == 1) sets[sets.size() / 2] = std::move(sets.back());
  }
  return std::move(sets[0]);
}

SpanSet intersect(const SpanSet& a, const SpanSet& b) {
  SpanSet out;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    add(out, intersect(*i, *j));
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

SpanSet subtract(const SpanSet& a, const SpanSet& b) {
  SpanSet out;
  auto j = b.begin();
  for (Span rest : a) {
    while (j != b.end() && j->end <= rest.begin) ++j;
    for (auto k = j; k != b.end() && k->begin < rest.end && !rest.empty(); ++k) {
      add(out, {rest.begin, k->begin});
      rest.begin = k->end;
      j = k;
    }
    add(out, rest);
  }
  return out;
}

SpanSet clip(const SpanSet& set, Span to) {
  SpanSet out;
  for (auto i = first_after(set, to.begin); i != set.end() && i->begin < to.end; ++i) add(out, intersect(*i, to));
  return out;
}

Ns length(const SpanSet& set) {
  Ns sum = 0;
  for (const Span s : set) sum += s.length();
  return sum;
}

bool contains(const SpanSet& set, Ns t) {
  const auto at = first_after(set, t);
  return at != set.end() && at->begin <= t;
}

Ns length_within(const SpanSet& set, Span to) {
  Ns sum = 0;
  for (auto i = first_after(set, to.begin); i != set.end() && i->begin < to.end; ++i) sum += intersect(*i, to).length();
  return sum;
}

}  // namespace gapscope
