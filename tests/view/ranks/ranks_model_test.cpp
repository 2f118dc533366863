#include "core/view/ranks/ranks_model.h"

#include <doctest/doctest.h>

#include <atomic>

#include "core/view/document.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;

namespace {

RanksQuestion pair(const std::string& name) {
  const auto folder = test::recordings_folder() / "ranks";
  return {{(folder / (name + "_rank0.json.gz")).string(), (folder / (name + "_rank1.json.gz")).string()}};
}

std::shared_ptr<const RanksAnswer> read(const RanksQuestion& question) {
  const auto document = test::document_from_text(test::kOneLaunch);
  return answer(*document, question, nullptr);
}

}  // namespace

TEST_CASE("the rank that slept makes the other one wait in the step in which it slept, and the cell says what it was in") {
  const auto run = read(pair("ddp_delayed"));
  REQUIRE(run);
  REQUIRE(run->report.run.ranks.size() == 2);
  const RankMatrix& matrix = run->matrix;
  const auto at = std::find(matrix.steps.begin(), matrix.steps.end(), "ProfilerStep#5");
  REQUIRE(at != matrix.steps.end());
  const auto step = static_cast<std::size_t>(at - matrix.steps.begin());
  CHECK(matrix.at(1, step).lost > 15'000'000);
  CHECK(most_of(matrix, RankFigure::lost) == matrix.at(1, step).lost);
  CHECK(cell_text(*run, 1, step).find("planted_delay") != std::string::npos);
  CHECK(order_of_ranks(run->report, true).front() == 1);
  CHECK(order_of_ranks(run->report, false).front() == 0);
  CHECK_FALSE(run->sentence.empty());
}

TEST_CASE("next to one of its ranks a run says who is late and what the run would be without that") {
  RanksState state;
  const RanksQuestion question = pair("ddp_delayed");
  CHECK(run_sentence(state, question.paths[0]).empty());
  state.last = read(question);
  const std::string text = run_sentence(state, question.paths[0]);
  CHECK(text.starts_with("Rank 1 is late: "));
  CHECK(text.find(" If rank 1 were on time: 64.3 ms -> 37.0 ms (-42.5 %). Next bottleneck: rank 0.") != std::string::npos);
  CHECK(run_sentence(state, question.paths[1]) == text);
  CHECK(run_sentence(state, "of_another_run.json").empty());
}

TEST_CASE("steps stand in the order of time, each cell with the times of its rank's own file") {
  const auto run = read(pair("ddp"));
  REQUIRE(run);
  const RankMatrix& matrix = run->matrix;
  REQUIRE(matrix.steps.size() > 2);
  for (std::size_t r = 0; r < run->report.run.ranks.size(); ++r) {
    Ns last = run->report.run.ranks[r].span.begin;
    for (std::size_t s = 0; s < matrix.steps.size(); ++s) {
      const RankMatrix::Cell& cell = matrix.at(r, s);
      if (!cell.there) continue;
      CHECK(cell.span.begin >= last);
      CHECK(cell.time == cell.span.length());
      CHECK(cell.exposed_communication <= cell.time);
      last = cell.span.begin;
    }
  }
}

TEST_CASE("a cancelled reading gives no answer, and one of nothing says so") {
  const auto document = test::document_from_text(test::kOneLaunch);
  const std::atomic<bool> cancel{true};
  CHECK_FALSE(answer(*document, pair("ddp"), &cancel));
  const auto nothing = read({{"/no such folder"}});
  REQUIRE(nothing);
  CHECK(nothing->report.run.ranks.empty());
  CHECK(nothing->sentence.empty());
  CHECK_FALSE(nothing->report.run.problems.empty());
}
