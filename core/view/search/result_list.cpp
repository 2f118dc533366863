#include "core/view/search/result_list.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// clang-format off
constexpr std::array<ListColumnText, static_cast<std::size_t>(ListColumn::count_)> kTexts = {{
    {"Name", "Of the slice; a gap is a stretch of a lane without one."},
    {"Lane", "Process and thread, or GPU and stream."},
    {"Begin", "From the start of the trace."},
    {"Duration", "From begin to end."},
}};
// clang-format on

// Made once a name and lane, not once a row: lists may have millions of rows.
class Words {
 public:
  explicit Words(const Trace& trace) : trace_(trace) {}
  const std::string& name(const ListPlace& place) {
    const std::uint32_t key = place.slice ? trace_.name_id(place.slice).value : kGapKey;
    const auto [at, fresh] = names_.try_emplace(key);
    if (fresh) at->second = name_text(trace_, place);
    return at->second;
  }
  const std::string& lane(LaneId lane) {
    const auto [at, fresh] = lanes_.try_emplace(lane.value);
    if (fresh) at->second = lane ? lane_text(trace_, lane) : "";
    return at->second;
  }

 private:
  static constexpr std::uint32_t kGapKey = ~std::uint32_t{0};
  const Trace& trace_;
  std::map<std::uint32_t, std::string> names_, lanes_;
};

}  // namespace

ListPlace place_of(const Trace& trace, SliceId slice) { return {slice, trace.lane_id(slice), trace.span_of(slice)}; }

ResultList list_of_slices(const Trace& trace, std::string title, const std::vector<SliceId>& slices) {
  ResultList list{std::move(title), {}};
  list.places.reserve(slices.size());
  for (const SliceId slice : slices) list.places.push_back(place_of(trace, slice));
  return list;
}

ListColumnText column_text(ListColumn column) { return kTexts[static_cast<std::size_t>(column)]; }

std::string lane_text(const Trace& trace, LaneId lane) {
  const Lane& of = trace.lane(lane);
  const std::string& process = trace.processes[of.process.index()].title;
  return printable(process.empty() ? of.title : process + " / " + of.title);
}

std::string name_text(const Trace& trace, const ListPlace& place) {
  return place.slice ? printable(shown_name(trace, place.slice)) : "gap";
}

void arrange_list(const Trace& trace, ListState& state, const std::optional<Span>& range) {
  ListState::Arranged& made = state.arranged;
  if (made.of == state.of && made.filter == state.filter && made.order == state.order && made.range == range) return;
  made = {state.of, state.filter, state.order, range, {}, {}, 0, {}, -1};
  Words words(trace);
  const std::vector<ListPlace>& all = state.of->places;
  std::vector<Ns> durations;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (range && !range->contains(all[i].span.begin)) continue;
    if (!made.filter.empty() && !contains_ignore_case(words.name(all[i]), made.filter) &&
        !contains_ignore_case(words.lane(all[i].lane), made.filter))
      continue;
    made.rows.push_back(i);
    durations.push_back(all[i].span.length());
    made.total += durations.back();
  }
  made.histogram = duration_histogram(durations);
  const auto sort = [&](const auto& less) {
    std::stable_sort(made.rows.begin(), made.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return made.order.descending ? less(all[b], all[a]) : less(all[a], all[b]);
    });
  };
  switch (made.order.column) {
    case ListColumn::name: return sort([&](const ListPlace& a, const ListPlace& b) { return words.name(a) < words.name(b); });
    case ListColumn::lane: return sort([](const ListPlace& a, const ListPlace& b) { return a.lane < b.lane; });
    case ListColumn::duration:
      return sort([](const ListPlace& a, const ListPlace& b) { return a.span.length() < b.span.length(); });
    default: return sort([](const ListPlace& a, const ListPlace& b) { return a.span.begin < b.span.begin; });
  }
}

std::int64_t row_of(ListState& state, SliceId selection) {
  ListState::Arranged& made = state.arranged;
  if (made.selection == selection) return made.selected;
  made.selection = selection;
  const auto found = std::find_if(made.rows.begin(), made.rows.end(),
                                  [&](std::uint32_t row) { return made.of->places[row].slice == selection; });
  made.selected = !selection || found == made.rows.end() ? -1 : found - made.rows.begin();
  return made.selected;
}

std::string list_csv(const Trace& trace, const ListState& state) {
  std::string text = "name,lane,begin_ns,duration_ns\n";
  Words words(trace);
  for (const std::uint32_t row : state.arranged.rows) {
    const ListPlace& place = state.arranged.of->places[row];
    text += csv_cell(words.name(place)) + ',' + csv_cell(words.lane(place.lane)) + ',' +
            std::to_string(place.span.begin - trace.span.begin) + ',' + std::to_string(place.span.length()) + '\n';
  }
  return text;
}

std::string pattern_of_name(std::string_view name) {
  std::string pattern = "^";
  for (const char c : name) {
    if (std::string_view(R"(\^$.|?*+()[]{})").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + '$';
}

}  // namespace gapscope
