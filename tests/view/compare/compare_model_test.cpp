#include "core/view/compare/compare_model.h"

#include <doctest/doctest.h>

#include "tests/support/tiny_traces.h"
#include "tests/support/two_traces.h"

using namespace gapscope;

namespace {

struct Two {
  std::shared_ptr<const Document> a = test::document_from_text(test::kBefore), b = test::document_from_text(test::kAfter);
  std::shared_ptr<const ComparisonAnswer> answer = answer_comparison(*a, *b, {});
};

std::vector<std::string> names_in(const CompareState& state) {
  std::vector<std::string> names;
  for (const std::uint32_t row : state.arranged.rows) {
    const OperatorNode& node = state.answer->comparison.operators[row];
    names.push_back(both_names(node.name_a, node.name_b));
  }
  return names;
}

}  // namespace

TEST_CASE("the answer says where the compared steps begin, in each trace's own time") {
  const Two two;
  REQUIRE(two.answer);
  CHECK(two.answer->error.empty());
  CHECK(two.answer->alignment() == Alignment{1'000'000, 77'777'123});
  CHECK(two.answer->step_b.length() == 600'000);
}

TEST_CASE("the same work is found in the other trace, both ways, and what only one has is not") {
  const Two two;
  const SliceMatches& matches = two.answer->matches;
  for (const char* name : {"aten::mm", "my_gemm"}) {
    const SliceId a = test::slice_named(*two.a, name), b = test::slice_named(*two.b, name);
    CHECK_MESSAGE(matches.of(TraceSide::a, a) == b, name);
    CHECK_MESSAGE(matches.of(TraceSide::b, b) == a, name);
  }
  CHECK_FALSE(matches.of(TraceSide::a, test::slice_named(*two.a, "aten::add")));
  CHECK_FALSE(matches.of(TraceSide::b, test::slice_named(*two.b, "warm_up")));
  CHECK_FALSE(matches.of(TraceSide::a, SliceId{}));
}

TEST_CASE("operators are sorted by what changed most, whichever way, or stand as they were called") {
  const Two two;
  CompareState state;
  state.answer = two.answer;
  state.table = CompareTable::operators;
  arrange_comparison(state);
  const std::vector<std::string> by_change = names_in(state);
  REQUIRE(by_change.size() >= 3);
  CHECK(by_change[0] == "aten::mm");    // -200 µs
  CHECK(by_change[1] == "aten::add");   // -100 µs
  CHECK(by_change[2] == "aten::relu");  // +50 µs
  state.operator_look.filter = "RELU";
  arrange_comparison(state);
  CHECK(names_in(state) == std::vector<std::string>{"aten::relu"});
  state.operator_look.filter.clear();
  state.operator_look.order = CompareState::kAsCalled;
  arrange_comparison(state);
  CHECK(std::is_sorted(state.arranged.rows.begin(), state.arranged.rows.end()));
  CHECK(names_in(state).front() == "aten::mm");
}

TEST_CASE("a step that one trace lacks is a sentence") {
  const Two two;
  const auto answer = answer_comparison(*two.a, *two.b, {StepPick::number, 77, ""});
  REQUIRE(answer);
  CHECK(answer->error.ends_with('.'));
  CHECK(answer->alignment() == Alignment{two.a->trace.span.begin, two.b->trace.span.begin});
}

TEST_CASE("a cancelled comparison is none") {
  const Two two;
  const std::atomic<bool> cancel{true};
  CHECK(answer_comparison(*two.a, *two.b, {}, &cancel) == nullptr);
}

TEST_CASE("steps to choose from are those that both have") {
  const Two two;
  CHECK(common_steps(*two.a, *two.b) == std::vector<std::int64_t>{2});
  const auto other = test::document_from_text(test::kOneLaunch);  // has step 1 only
  other->analyze();
  CHECK(common_steps(*two.a, *other).empty());
  CHECK(options_text({StepPick::number, 2, ""}) == "step 2");
}

TEST_CASE("differences have signs, and the scale is full at twice and at half") {
  CHECK(figure_delta_text(StepFigure::cpu, -200'000) == "-200 µs");
  CHECK(figure_delta_text(StepFigure::cpu, 1'500) == "+1.50 µs");
  CHECK(figure_delta_text(StepFigure::cpu, 0) == "0");
  CHECK(figure_delta_text(StepFigure::kernels, -12'000) == "-12,000");
  CHECK(change_of(100, 200) == doctest::Approx(1));
  CHECK(change_of(200, 100) == doctest::Approx(-1));
  CHECK(change_of(100, 1000) == doctest::Approx(1));
  CHECK(change_of(5, 5) == 0);
  CHECK(change_of(0, 5) == 1);
  CHECK(change_of(5, 0) == -1);
  CHECK(both_names("a", "") == "a");
  CHECK(both_names("a", "a") == "a");
}

TEST_CASE("the tables are saved with exact numbers") {
  const Two two;
  CompareState state;
  state.answer = two.answer;
  const Comparison& c = two.answer->comparison;
  CHECK(comparison_csv(c, CompareTable::steps, {}).find("\ncpu_ns,900000,600000,-300000,") != std::string::npos);
  state.table = CompareTable::operators;
  arrange_comparison(state);
  CHECK(comparison_csv(c, CompareTable::operators, state.arranged.rows)
            .find("aten::mm,matched,400000,200000,-200000,200000,100000,-100000") != std::string::npos);
  state.table = CompareTable::kernels;
  arrange_comparison(state);
  CHECK(comparison_csv(c, CompareTable::kernels, state.arranged.rows).find("my_gemm,my_gemm,1,1,200000,100000,-100000") !=
        std::string::npos);
}

TEST_CASE("a difference has its sign in the table, and an operator is below what called it") {
  const Two two;
  const auto table = comparison_rows(two.answer->comparison, CompareTable::operators, /*as_called=*/true);
  const auto cell = [&](std::string_view id, const char* name) {
    std::size_t row = 0, column = 0;
    while (plain(table->value(row, 0), Quantity::text) != name) ++row;
    while (table->head(column).id != id) ++column;
    return table->text(row, column).text;
  };
  CHECK(cell("cpu_delta", "aten::mm") == "-200 µs");
  CHECK(cell("cpu_delta", "aten::relu") == "+50.0 µs");
  CHECK(cell("name", "aten::mm") == "aten::mm");
  CHECK(cell("name", "my_gemm") == "    my_gemm");  // below the call that launched it
}
