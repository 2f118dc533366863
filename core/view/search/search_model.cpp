#include "core/view/search/search_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>

#include "core/base/text.h"

namespace gapscope {
namespace {

bool is_python(const Trace& trace, SliceId slice) { return trace.kind(slice) == Kind::python; }

// On the way through the hits.
std::tuple<bool, Ns, SliceId> place(const Trace& trace, SliceId slice) {
  return {is_python(trace, slice), trace.begin(slice), slice};
}

constexpr std::size_t kMostSummed = 200'000;  // hits, each frame: a millisecond
constexpr const char* kHowRegex = " The button .* takes it as a regular expression.";

// Words that hold what only such an expression does.
bool looks_like_regex(const SearchQuestion& typed) {
  constexpr std::array<std::string_view, 6> kSigns = {".*", ".+", "\\", "|", "^", "$"};
  return !typed.regex && !typed.text.starts_with('/') && std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return typed.text.find(sign) != typed.text.npos;
  });
}

// Of the hits, without those that lie in another one of their lane.
Ns time_of_hits(const Trace& trace, const std::vector<SliceId>& hits) {
  std::vector<Ns> until(trace.lanes.size(), std::numeric_limits<Ns>::lowest());
  Ns sum = 0;
  for (const SliceId hit : hits) {
    Ns& end = until[trace.lane_id(hit).index()];
    if (trace.end(hit) <= end) continue;
    sum += trace.end(hit) - std::max(end, trace.begin(hit));
    end = trace.end(hit);
  }
  return sum;
}

}  // namespace

void SliceBits::count() {
  for (std::size_t i = 0; i < words_.size(); ++i)
    before_[i + 1] = before_[i] + static_cast<std::uint32_t>(std::popcount(words_[i]));
}

std::size_t SliceBits::rank(std::size_t slice) const {
  const std::size_t word = std::min(slice / 64, words_.size());
  if (word == words_.size()) return before_.empty() ? 0 : before_[word];
  const std::uint64_t below = (std::uint64_t{1} << (slice % 64)) - 1;
  return before_[word] + static_cast<std::size_t>(std::popcount(words_[word] & below));
}

std::size_t hit_position(const Trace& trace, const SearchAnswer& answer, SliceId slice) {
  if (!slice || !answer.is_hit.has(slice)) return 0;
  const auto at = std::partition_point(answer.walk.begin(), answer.walk.end(),
                                       [&](SliceId h) { return place(trace, h) < place(trace, slice); });
  return static_cast<std::size_t>(at - answer.walk.begin()) + 1;
}

SliceId step_hit(const Trace& trace, const SearchAnswer& answer, SliceId from, Ns now, int step) {
  const std::vector<SliceId>& hits = answer.walk;
  if (hits.empty()) return {};
  const bool among_python = is_python(trace, hits.front()) || (from && is_python(trace, from) && is_python(trace, hits.back()));
  const std::tuple here{among_python, from ? trace.begin(from) : now, from ? from : SliceId(0)};
  const auto at = std::partition_point(hits.begin(), hits.end(), [&](SliceId h) { return place(trace, h) < here; });
  auto i = static_cast<std::size_t>(at - hits.begin());
  if (step < 0) return hits[(i == 0 ? hits.size() : i) - 1];
  if (i < hits.size() && hits[i] == from) ++i;
  return hits[i % hits.size()];
}

bool holds_hit(const Trace& trace, const SearchAnswer& answer, SliceId slice, Span span) {
  if (answer.is_hit.has(slice)) return true;
  const Row& row = trace.row(slice);
  const auto first = trace.slices.begin.begin() + row.first;
  const auto last = first + row.count;
  const auto from = std::lower_bound(first, last, span.begin);
  const auto to = std::lower_bound(from, last, span.end);
  const auto id = [&](auto at) { return static_cast<std::size_t>(at - trace.slices.begin.begin()); };
  return answer.is_hit.any(id(from), id(to));
}

std::string search_summary(const Trace& trace, const SearchAnswer& answer) {
  if (!answer.error.empty()) return answer.error;
  if (answer.hits.empty()) {
    return "No slice matches " + answer.question.text + "; " + format_count(static_cast<std::int64_t>(trace.slice_count())) +
           " were looked at." + (looks_like_regex(answer.question) ? kHowRegex : "");
  }
  const std::string count = format_count(static_cast<std::int64_t>(answer.hits.size()));
  const std::string sum = answer.hits.size() > kMostSummed ? "" : ", " + format_duration(time_of_hits(trace, answer.hits));
  return count + (answer.hits.size() == 1 ? " slice" : " slices") + sum;
}

}  // namespace gapscope
