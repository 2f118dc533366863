#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/load/key_orders.h"
#include "core/load/structural_index.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

const std::string kUsual =
    R"({"ph": "X", "cat": "cpu_op", "name": "usual", "pid": 1, "tid": 2, "ts": 1.000, "dur": 2.000, "args": {"External id": 5}})";

// What is in the trace of `event` alone, and of it after events that made its order of keys the usual one.
struct Both {
  std::shared_ptr<const Trace> alone, after_usual;
};
Both both(const std::string& event) {
  return {load_text(events(event)), load_text(events(kUsual + ",\n" + kUsual + ",\n" + event))};
}

void check_same(const std::string& event) {
  CAPTURE(event);
  const auto [alone, after] = both(event);
  REQUIRE(after->slice_count() == alone->slice_count() + 2);
  REQUIRE(alone->slice_count() == 1);
  for (std::size_t s = 0; s < after->slice_count(); ++s) {
    const SliceId id(s);
    if (after->slices.offset[s] < events(kUsual + ",\n" + kUsual).size() - 2) continue;
    CHECK(after->name(id) == alone->name(SliceId(0u)));
    CHECK(after->category_name(id) == alone->category_name(SliceId(0u)));
    CHECK(after->span_of(id) == alone->span_of(SliceId(0u)));
    CHECK(after->lane(id).key == alone->lanes[0].key);
    CHECK(after->slices.external_id[s] == alone->slices.external_id[0]);
  }
  for (const ImportIssueEntry& entry : alone->report.entries()) CHECK(after->report.count(entry.kind) == entry.count);
}

}  // namespace

TEST_CASE("an event whose keys come in the usual order says what it says alone") {
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 77}})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": "1", "tid": "two words", "ts": 10.5, "dur": "2", "args": {}})");
  check_same(
      "{\"ph\": \"X\" , \"cat\": \"cpu_op\" , \"name\": \"b\" , \"pid\": 1 , \"tid\": 2 , \"ts\": 10\n, \"dur\": 2\t, "
      "\"args\": {\"External id\": 7 } }");
  check_same(
      R"({"ph" : "X", "cat" : "cpu_op", "name" : "b", "pid" : 1, "tid" : 2, "ts" : 10, "dur" : 2, "args" : {"External id" : 9}})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b\"c\\d\u0041", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": ["no", "text"], "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": {"a": 1}, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})");
  check_same(R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": 5})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}, "name": "later"})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}, "args": {"External id": 10}})");
  check_same(R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2})");
  check_same(
      R"({"ph": "X", "cat": "python_function", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"Python id": [1, {"a": "}"}], "b": {}}})");
  check_same(
      R"({"ph": "X", "cat": "python_function", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"Python id": 1, "b": 2}})");
  check_same(
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "tid": 2, "pid": 1, "dur": 2, "ts": 10, "args": {"External id": 9}})");
}

TEST_CASE("damage in an event with the usual keys costs that event, or its repair is counted, as when it comes first") {
  const std::vector<std::string> damaged = {
      R"({"ph": "X", "cat": "cpu_op" "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op", "name": "b"junk, "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op"; "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op": "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op", "name": [, "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op", "name": :, "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op", "name": , "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9}})",
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id" 9}})",
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"External id": 9} "x": 1})",
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"a": "\q"}})",
      R"({"ph": "X", "cat": "cpu_op", "name": "b\q", "pid": 1, "tid": 2, "ts": 10, "dur": 2, "args": {"a": 1}})",
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": NaN, "dur": 2, "args": {"External id": NaN}})",
  };
  for (const std::string& event : damaged) {
    CAPTURE(event);
    const std::string sound = R"(,{"ph": "X", "cat": "cpu_op", "name": "after", "pid": 1, "tid": 3, "ts": 50, "dur": 2})";
    const auto first = load_text(events(event + sound));
    const auto later = load_text(events(kUsual + ",\n" + kUsual + ",\n" + event + sound));
    CHECK(later->slice_count() == first->slice_count() + 2);
    CHECK(later->figures.events == first->figures.events + 2);
    CHECK_FALSE(first->report.empty());
    for (const ImportIssueEntry& entry : first->report.entries()) CHECK(later->report.count(entry.kind) == entry.count);
  }
}

TEST_CASE("nothing of an event is found in the next that does not say it") {
  const std::string full =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1.000, "dur": 2.000, "args": {"registers per thread": 90, "grid": [4, 1, 1],
    "block": [128, 1, 1], "bytes": 77, "stream": 7, "Sequence number": 5, "Input Dims": [[1]], "External id": 3}})";
  const std::string bare =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 9, "ts": 5.000, "dur": 2.000, "args": {"Sequence number": 9}})";
  const std::string op =
      R"({"ph": "X", "cat": "cpu_op", "name": "o", "pid": 1, "tid": 1, "ts": 7.000, "dur": 2.000, "args": {"Collective name": "all_reduce"}})";
  const auto t = load_text(events(full + "," + bare + "," + op));
  REQUIRE(t->gpu.size() == 2);
  CHECK(t->gpu[0].registers == 90);
  CHECK(t->gpu[0].bytes == 77);
  CHECK(t->gpu[1].registers == 0);
  CHECK(t->gpu[1].bytes == 0);
  CHECK(t->gpu[1].stream == 9);  // by its lane
  CHECK_FALSE(t->gpu[1].has_launch_config());
  REQUIRE(t->ops.size() == 1);
  CHECK(t->ops[0].sequence == -1);
  CHECK_FALSE(t->ops[0].input_dims.valid());
  for (std::size_t s = 0; s < t->slice_count(); ++s)
    CHECK(t->slices.external_id[s] == (t->slices.offset[s] < events(full).size() - 4 ? 3 : 0));
}

TEST_CASE("an event that continues where another ends has another shape") {
  // The ends of arrows are their beginnings and one key more.
  const auto shape_of = [](const std::vector<std::string>& keys) {
    KeyOrder shape;
    for (const std::string& key : keys) {
      const std::string text = "\"" + key + "\":";
      shape.words[shape.members] = word_of(text);
      shape.masks[shape.members] = text.size() == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * text.size())) - 1;
      ++shape.members;
    }
    return shape;
  };
  KeyOrders shapes;
  shapes.learn(shape_of({"ph", "id"}));
  shapes.learn(shape_of({"ph", "id", "bp"}));
  const auto members_of = [&](const std::string& text) {
    StructuralIndex index;
    REQUIRE(index.index(text.data(), text.size()) == IndexState::ok);
    const auto at = index.positions();
    const KeyOrder* const shape = shapes.find(text.data(), text.data() + text.size(), at.data() + 1, at.data() + at.size());
    return shape == nullptr ? 0 : shape->members;
  };
  for (int i = 0; i < 3; ++i) {
    CHECK(members_of("{\"ph\": 1, \"id\": 2}          ") == 2);
    CHECK(members_of("{\"ph\": 1, \"id\": 2, \"bp\": 3}          ") == 3);
    CHECK(members_of("{\"ph\": 1, \"id\": 2, \"zz\": 3}          ") == 0);
  }
}

TEST_CASE("more orders of keys than are remembered are all understood") {
  const std::vector<std::string> members = {R"("ph": "X")", R"("name": "n")", R"("pid": 1)", R"("tid": 1)", R"("dur": 1)"};
  std::string all;
  int events_made = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < members.size(); ++j) {
        std::vector<std::string> order = members;
        std::swap(order[i], order[j]);
        all += all.empty() ? "{" : ",{";
        for (const std::string& member : order) all += member + ", ";
        all += "\"ts\": " + std::to_string(10 * ++events_made) + "}";
      }
    }
  }
  const auto t = load_text(events(all));
  CHECK(t->slice_count() == static_cast<std::size_t>(events_made));
  CHECK(t->report.empty());
  CHECK(t->span == Span{10'000, (10 * events_made + 1) * kNsPerUs});
}
