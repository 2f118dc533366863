#include "core/view/search/slice_search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

constexpr unsigned kDigitBits = 11;  // 2,048 counters stay in a core's first cache
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::size_t kBetweenLooks = 1 << 16;  // slices between two looks at `cancel`

struct Finder {
  const Trace& trace;
  const SearchQuery& query;
  const std::atomic<bool>* cancel;
  std::vector<bool> categories = wanted_categories();
  std::vector<bool> lanes = wanted_lanes();
  std::vector<std::uint8_t> found = std::vector<std::uint8_t>(trace.slice_count(), 0);
  std::size_t count = 0;

  bool cancelled() const { return cancel != nullptr && *cancel; }

  std::vector<bool> wanted_categories() const {
    std::vector<bool> wanted(trace.categories.size(), query.categories.empty());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string_view name = trace.strings[trace.categories[i].name];
      for (const std::string& c : query.categories)
        wanted[i] = wanted[i] || (c.size() == name.size() && contains_ignore_case(name, c));
    }
    return wanted;
  }

  std::vector<bool> wanted_lanes() const {
    std::vector<bool> wanted;
    for (const Lane& lane : trace.lanes)
      wanted.push_back(holds_all(trace.processes[lane.process.index()].title + '\n' + lane.title, query.lanes));
    return wanted;
  }

  bool passes_filters(SliceId s) const {
    if (!query.categories.empty() && !categories[trace.slices.category[s.index()]]) return false;
    if (!query.any_duration && (trace.duration(s) < query.least || trace.duration(s) > query.most)) return false;
    return query.lanes.empty() || lanes[trace.lane_id(s).index()];
  }

  void look_at(SliceId s) {
    if (!passes_filters(s)) return;
    found[s.index()] = 1;
    ++count;
  }
};

void look_by_name(Finder& finder, const NameIndex& names) {
  for (const StringId name : names.used_names()) {
    if (finder.cancelled()) return;
    if (!name_matches(finder.query, finder.trace.strings[name])) continue;
    for (const SliceId s : names.slices_named(name)) finder.look_at(s);
  }
}

void look_at_all(Finder& finder) {
  for (std::size_t i = 0; i < finder.trace.slice_count(); ++i) {
    if (i % kBetweenLooks == 0 && finder.cancelled()) return;
    finder.look_at(SliceId(i));
  }
}

struct Key {
  std::uint64_t since = 0;  // ns after the first of them
  SliceId slice;
};

std::vector<Key> keys_of(const Finder& finder) {
  std::vector<Key> keys;
  keys.reserve(finder.count);
  Ns first = 0;
  for (std::size_t i = 0; i < finder.found.size(); ++i) {
    if (finder.found[i] == 0) continue;
    const Ns begin = finder.trace.slices.begin[i];
    first = keys.empty() ? begin : std::min(first, begin);
    keys.push_back({static_cast<std::uint64_t>(begin), SliceId(i)});
  }
  for (Key& key : keys) key.since -= static_cast<std::uint64_t>(first);
  return keys;
}

// By one digit; equal ones keep their order.
void sort_by_digit(const std::vector<Key>& keys, unsigned shift, std::vector<Key>& out) {
  const auto digit = [shift](const Key& key) { return static_cast<std::size_t>(key.since >> shift) & (kDigits - 1); };
  std::array<std::uint32_t, kDigits + 1> next{};
  for (const Key& key : keys) ++next[digit(key) + 1];
  for (std::size_t d = 1; d < next.size(); ++d) next[d] += next[d - 1];
  for (const Key& key : keys) out[next[digit(key)]++] = key;
}

// In order of begin; the keys come in order of id, and so equal begins stay in it.
void sort_by_time(std::vector<Key>& keys, const Finder& finder) {
  std::uint64_t longest = 0;
  for (const Key& key : keys) longest = std::max(longest, key.since);
  std::vector<Key> sorted(keys.size());
  for (unsigned shift = 0; shift < 64 && longest >> shift != 0 && !finder.cancelled(); shift += kDigitBits) {
    sort_by_digit(keys, shift, sorted);
    keys.swap(sorted);
  }
}

void find_hits(Finder& finder, const NameIndex& names, SearchAnswer& answer) {
  if (finder.query.words.empty() && finder.query.patterns.empty())
    look_at_all(finder);
  else
    look_by_name(finder, names);
  answer.is_hit = SliceBits(finder.trace.slice_count());
  if (finder.count == 0 || finder.cancelled()) return answer.is_hit.count();
  std::vector<Key> keys = keys_of(finder);
  for (const Key& key : keys) answer.is_hit.set(key.slice);
  answer.is_hit.count();
  sort_by_time(keys, finder);
  answer.hits.reserve(keys.size());
  for (const Key& key : keys) answer.hits.push_back(key.slice);
  answer.walk = answer.hits;
  std::stable_partition(answer.walk.begin(), answer.walk.end(),
                        [&](SliceId s) { return finder.trace.kind(s) != Kind::python; });
}

// By words and patterns, or by lane: alone.
void find_lanes(const Finder& finder, SearchAnswer& answer) {
  const SearchQuery& query = finder.query;
  if (query.words.empty() && query.patterns.empty() && query.lanes.empty()) return;
  for (std::size_t i = 0; i < finder.trace.lanes.size(); ++i) {
    if (finder.lanes[i] && name_matches(query, finder.trace.lanes[i].title)) answer.lanes.push_back(LaneId(i));
  }
}

}  // namespace

SearchAnswer find_slices(const Trace& trace, const NameIndex& names, const SearchQuestion& question,
                         const std::atomic<bool>* cancel) {
  SearchAnswer answer;
  answer.question = question;
  const Result<SearchQuery> query = parse_query(question.text, question.regex);
  if (!query) {
    answer.error = query.error().message;
  } else if (!query->empty()) {
    Finder finder{trace, *query, cancel};
    find_hits(finder, names, answer);
    find_lanes(finder, answer);
  }
  return answer;
}

// For a trace without an index of its own.
SearchAnswer find_slices(const Trace& trace, const SearchQuestion& question, const std::atomic<bool>* cancel) {
  return find_slices(trace, NameIndex(trace), question, cancel);
}

std::shared_ptr<const SearchAnswer> answer(const Document& document, const SearchQuestion& question,
                                           const std::atomic<bool>* cancel) {
  auto found = std::make_shared<const SearchAnswer>(find_slices(document.trace, document.names, question, cancel));
  return cancel && *cancel ? nullptr : found;
}

}  // namespace gapscope
