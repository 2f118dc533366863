#include "core/view/search/result_list.h"

#include <doctest/doctest.h>

#include "core/base/table/output.h"
#include "core/view/search/search_query.h"
#include "tests/support/table_columns.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Listed {
  std::shared_ptr<const Document> doc = document_from_text(kOneLaunch);
  ListState state;
  explicit Listed(const std::vector<std::string>& names) {
    std::vector<SliceId> slices;
    for (const std::string& name : names) slices.push_back(slice_named(*doc, name));
    state.of = std::make_shared<const ResultList>(list_of_slices(doc->trace, "some", slices));
  }
  std::vector<std::string> arranged(const std::optional<Span>& range = {}) {
    arrange_list(doc->trace, state, range);
    std::vector<std::string> names;
    for (const std::uint32_t row : state.arranged.rows) names.push_back(name_text(doc->trace, state.of->places[row]));
    return names;
  }
  PlaceRows table() const { return place_rows(doc->trace, state.of->places); }
  void order_by(const char* id, bool descending) { state.look.order = test::by(table(), id, descending); }
  std::string csv() const { return csv_of(table(), state.arranged.rows); }
  std::string total(const char* id) const {
    return total_of(table(), state.arranged.rows, test::column_of(table(), id), "places").text;
  }
};

}  // namespace

TEST_CASE("a list is in order of begin, and of any column that is asked for") {
  Listed l({"first", "aten::add", "second"});
  CHECK(l.arranged() == std::vector<std::string>{"aten::add", "first", "second"});
  l.order_by("duration", true);
  CHECK(l.arranged() == std::vector<std::string>{"aten::add", "second", "first"});
  l.order_by("name", true);
  CHECK(l.arranged() == std::vector<std::string>{"second", "first", "aten::add"});
  l.order_by("lane", false);
  CHECK(l.arranged().size() == 3);
  CHECK(l.total("duration") == "42.5 µs");
  std::uint64_t counted = 0;
  for (const std::uint64_t n : l.state.arranged.histogram.counts) counted += n;
  CHECK(counted == 3);
}

TEST_CASE("a list obeys the selected time and the filter, which looks at names and lanes") {
  Listed l({"first", "aten::add", "second"});
  const Ns first = l.doc->trace.begin(slice_named(*l.doc, "first"));
  CHECK(l.arranged(Span{first, first + 1}) == std::vector<std::string>{"first"});
  l.state.look.filter = "ADD";
  CHECK(l.arranged() == std::vector<std::string>{"aten::add"});
  l.state.look.filter = "stream 7";
  CHECK(l.arranged() == std::vector<std::string>{"first", "second"});
  CHECK(row_of(l.state, slice_named(*l.doc, "second")) == 1);
  CHECK(row_of(l.state, slice_named(*l.doc, "aten::add")) == -1);
  CHECK(row_of(l.state, {}) == -1);
}

TEST_CASE("a list is written as CSV to the nanosecond, names in quotes where they need them") {
  Listed l({"first", "_ZN2at6native13reduce_kernelILi512EfEEvT0_"});
  l.arranged();
  const std::string csv = l.csv();
  CHECK(csv.starts_with("name,lane,begin_ns,duration_ns\n\"reduce_kernel<512, fp32>\","));
  CHECK(csv.find(",40250,2000\n") != std::string::npos);
  CHECK(csv.find("first,") != std::string::npos);
}

TEST_CASE("a stretch without a slice is a place, too") {
  Listed l({"first"});
  const LaneId lane = l.doc->trace.lane_id(slice_named(*l.doc, "first"));
  l.state.of = std::make_shared<const ResultList>(ResultList{"gaps", {{{}, lane, {1, 5}}, {{}, {}, {2, 3}}}});
  CHECK(l.arranged() == std::vector<std::string>{"gap", "gap"});
  l.order_by("name", false);
  CHECK(l.arranged().size() == 2);
  CHECK(l.csv().find("gap,,") != std::string::npos);
}

TEST_CASE("the pattern of a name finds this name and no other") {
  const std::string name = "void k<4, (a|b)[c]>(int*, f::{lambda()#1}) + $x^2?.\\";
  const Result<SearchQuery> query = parse_query(pattern_of_name(name), true);
  REQUIRE(query);
  CHECK(name_matches(*query, name));
  CHECK_FALSE(name_matches(*query, name + "x"));
  CHECK_FALSE(name_matches(*query, "x" + name));
}
