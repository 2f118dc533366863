#include "core/view/search/result_list.h"

#include <algorithm>
#include <memory>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

CellValue begin(const PlaceContext& of, const ListPlace& place) { return place.span.begin - of.words->trace().span.begin; }

CellText name_cell(const PlaceContext& of, const ListPlace& place) {
  const std::string name(of.words->name(place));
  return {name, name, 0, !place.slice};
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;

using TableColumn = ColumnOf<ListPlace, PlaceContext>;
constexpr TableColumn kColumns[] = {
    TableColumn(
        "name", "Name", "Of the slice; a gap is a stretch of a lane without one.", text,
        [](const PlaceContext& of, const ListPlace& place) -> CellValue { return of.words->name(place); }, {.in = kShown},
        name_cell),
    TableColumn("lane", "Lane", "Process and thread, or GPU and stream.", text,
                [](const PlaceContext& of, const ListPlace& place) -> CellValue {
                  return place.lane ? CellValue(of.words->lane(place.lane)) : CellValue();
                },
                {.in = kShown, .chars = 34, .quiet = true}),
    TableColumn("begin", "Begin", "From the start of the trace.", ns, begin,
                {.in = kShown, .chars = 12, .sorted = true, .ascends = true, .quiet = true}),
    TableColumn("duration", "Duration", "From begin to end.", ns,
                [](const PlaceContext&, const ListPlace& place) -> CellValue { return place.span.length(); },
                {.in = kShown, .chars = 12, .sum = true}),
};

}  // namespace

ListPlace place_of(const Trace& trace, SliceId slice) { return {slice, trace.lane_id(slice), trace.span_of(slice)}; }

ResultList list_of_slices(const Trace& trace, std::string title, const std::vector<SliceId>& slices) {
  ResultList list{std::move(title), {}};
  list.places.reserve(slices.size());
  for (const SliceId slice : slices) list.places.push_back(place_of(trace, slice));
  return list;
}

std::string_view PlaceWords::name(const ListPlace& place) {
  constexpr std::uint32_t kGapKey = ~std::uint32_t{0};
  const auto [at, fresh] = names_.try_emplace(place.slice ? trace_.name_id(place.slice).value : kGapKey);
  if (fresh) at->second = name_text(trace_, place);
  return at->second;
}
std::string_view PlaceWords::lane(LaneId lane) {
  const auto [at, fresh] = lanes_.try_emplace(lane.value);
  if (fresh) at->second = lane_text(trace_, lane);
  return at->second;
}

PlaceRows place_rows(const Trace& trace, const std::vector<ListPlace>& places) {
  return table_of(kColumns, {std::make_shared<PlaceWords>(trace)}, places);
}

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
  if (made.of == state.of && made.look == state.look && made.range == range) return;
  const std::vector<ListPlace>& all = state.of->places;
  made = {state.of, state.look, range, arrange(place_rows(trace, all), state.look), {}, {}, -1};
  if (range) std::erase_if(made.rows, [&](std::uint32_t row) { return !range->contains(all[row].span.begin); });
  std::vector<Ns> durations;
  for (const std::uint32_t row : made.rows) durations.push_back(all[row].span.length());
  made.histogram = duration_histogram(durations);
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

std::string pattern_of_name(std::string_view name) {
  std::string pattern = "^";
  for (const char c : name) {
    if (std::string_view(R"(\^$.|?*+()[]{})").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + '$';
}

}  // namespace gapscope
