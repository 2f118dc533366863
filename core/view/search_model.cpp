#include "core/view/search_model.h"

#include <algorithm>
#include <bit>

#include "core/base/text.h"

namespace gapscope {
namespace {

enum class Known : std::uint8_t { not_yet, no, yes };

struct Finder {
  const Trace& trace;
  const SearchQuery& query;
  const std::atomic<bool>* cancel;
  std::vector<Known> names = std::vector<Known>(trace.strings.size(), Known::not_yet);
  std::vector<bool> categories = wanted_categories();

  bool cancelled() const { return cancel != nullptr && *cancel; }

  std::vector<bool> wanted_categories() const {
    std::vector<bool> wanted(trace.categories.size(), query.categories.empty());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string_view name = trace.strings[trace.categories[i].name];
      for (const std::string& c : query.categories) wanted[i] = wanted[i] || (c.size() == name.size() && contains_ignore_case(name, c));
    }
    return wanted;
  }

  bool wants_lane(const Lane& lane) const {
    return holds_all(trace.processes[lane.process.index()].title + '\n' + lane.title, query.lanes);
  }

  bool wants_name(StringId name) {
    Known& known = names[name.index()];
    if (known == Known::not_yet) known = !cancelled() && name_matches(query, trace.strings[name]) ? Known::yes : Known::no;
    return known == Known::yes;
  }

  bool wants(std::size_t i) {
    if (!categories[trace.slices.category[i]]) return false;
    if (!query.any_duration) {
      const Ns duration = trace.slices.end[i] - trace.slices.begin[i];
      if (duration < query.least || duration > query.most) return false;
    }
    return wants_name(trace.slices.name[i]);
  }
};

// The ends of the ordered stretches in `hits` are `ends`; makes one of all of them.
void merge(const Trace& trace, std::vector<SliceId>& hits, std::vector<std::size_t> ends, const Finder& finder) {
  const std::vector<Ns>& begin = trace.slices.begin;
  const auto earlier = [&](SliceId a, SliceId b) {
    const Ns x = begin[a.index()], y = begin[b.index()];
    return x != y ? x < y : a < b;
  };
  std::vector<SliceId> merged(ends.size() > 1 ? hits.size() : 0);
  while (ends.size() > 1 && !finder.cancelled()) {
    std::vector<std::size_t> next;
    std::size_t from = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t middle = ends[i], to = i + 1 < ends.size() ? ends[i + 1] : middle;
      const auto at = [&](std::size_t n) { return hits.begin() + static_cast<std::ptrdiff_t>(n); };
      std::merge(at(from), at(middle), at(middle), at(to), merged.begin() + static_cast<std::ptrdiff_t>(from), earlier);
      next.push_back(to);
      from = to;
    }
    hits.swap(merged);
    ends = std::move(next);
  }
}

void find_hits(Finder& finder, SearchAnswer& answer) {
  const Trace& trace = finder.trace;
  std::vector<std::size_t> ends;
  for (const Row& row : trace.rows) {
    if (finder.cancelled()) return;
    if (!finder.wants_lane(trace.lane(row.lane))) continue;
    for (std::size_t i = row.first; i < row.first + row.count; ++i) {
      if (finder.wants(i)) answer.hits.push_back(SliceId(i));
    }
    if (answer.hits.size() > (ends.empty() ? 0 : ends.back())) ends.push_back(answer.hits.size());
  }
  answer.is_hit = SliceBits(trace.slice_count());
  for (const SliceId hit : answer.hits) answer.is_hit.set(hit);
  answer.is_hit.count();
  merge(trace, answer.hits, std::move(ends), finder);
}

// By words and patterns, or by lane: alone.
void find_lanes(const Finder& finder, SearchAnswer& answer) {
  const SearchQuery& query = finder.query;
  if (query.words.empty() && query.patterns.empty() && query.lanes.empty()) return;
  for (std::size_t i = 0; i < finder.trace.lanes.size(); ++i) {
    const Lane& lane = finder.trace.lanes[i];
    if (finder.wants_lane(lane) && name_matches(query, lane.title)) answer.lanes.push_back(LaneId(i));
  }
}

std::pair<Ns, SliceId> place(const Trace& trace, SliceId slice) { return {trace.begin(slice), slice}; }

}  // namespace

void SliceBits::count() {
  for (std::size_t i = 0; i < words_.size(); ++i) before_[i + 1] = before_[i] + static_cast<std::uint32_t>(std::popcount(words_[i]));
}

std::size_t SliceBits::rank(std::size_t slice) const {
  const std::size_t word = std::min(slice / 64, words_.size());
  if (word == words_.size()) return before_.empty() ? 0 : before_[word];
  const std::uint64_t below = (std::uint64_t{1} << (slice % 64)) - 1;
  return before_[word] + static_cast<std::size_t>(std::popcount(words_[word] & below));
}

SearchAnswer find_slices(const Trace& trace, const SearchQuestion& question, const std::atomic<bool>* cancel) {
  SearchAnswer answer;
  answer.question = question;
  const Result<SearchQuery> query = parse_query(question.text, question.regex);
  if (!query) {
    answer.error = query.error().message;
  } else if (!query->empty()) {
    Finder finder{trace, *query, cancel};
    find_hits(finder, answer);
    find_lanes(finder, answer);
  }
  return answer;
}

std::size_t hit_position(const Trace& trace, const SearchAnswer& answer, SliceId slice) {
  if (!slice || !answer.is_hit.has(slice)) return 0;
  const auto at = std::partition_point(answer.hits.begin(), answer.hits.end(),
                                       [&](SliceId h) { return place(trace, h) < place(trace, slice); });
  return static_cast<std::size_t>(at - answer.hits.begin()) + 1;
}

SliceId step_hit(const Trace& trace, const SearchAnswer& answer, SliceId from, Ns now, int step) {
  const std::vector<SliceId>& hits = answer.hits;
  if (hits.empty()) return {};
  const std::pair<Ns, SliceId> here = from ? place(trace, from) : std::pair(now, SliceId(0));
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
    return "No slice matches " + answer.question.text + "; " + format_count(static_cast<std::int64_t>(trace.slice_count())) + " were looked at.";
  }
  return format_count(static_cast<std::int64_t>(answer.hits.size())) + (answer.hits.size() == 1 ? " slice" : " slices");
}

}  // namespace gapscope
