#include "core/view/ranks/rank_bands.h"

#include <numeric>

#include <doctest/doctest.h>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "tests/ranks/hand_ranks.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr Ns us = kNsPerUs;

RankRow row_of(const std::vector<Span>& spans) {
  RankRow row;
  Ns busy = 0;
  for (const Span& s : spans) {
    row.slices.push_back({s.begin, busy, static_cast<std::uint32_t>(s.length()), 0});
    busy += s.length();
  }
  if (!spans.empty()) row.slices.push_back({spans.back().end, busy, 0, 0});
  return row;
}

// Two ranks with four all-reduces each, 1 ms apart; rank 1 comes 400 us late to the second one, and its clock is 777 us ahead.
struct LateRun {
  RunReport report;
  BandIndex index;

  LateRun() {
    std::vector<std::vector<Ns>> begins(2, {0, 1000 * us, 2000 * us, 3000 * us});
    begins[1][1] += 400 * us;
    HandRun hand(begins, {0, 777 * us});
    for (RankData& rank : hand.ranks) {
      std::vector<Span> spans;
      for (const RankCollective& c : rank.collectives) spans.push_back(c.span);
      RankRows rows;
      rows.communication = row_of(spans);
      rows.compute = row_of({{500 * us, 750 * us}});
      rows.names = {"a_kernel"};
      rank.rows = std::make_shared<const RankRows>(std::move(rows));
    }
    report = test::report_of(std::move(hand.ranks));
    index = band_index(report);
  }
};

// 100 columns of 40 us.
struct Drawn {
  explicit Drawn(const LateRun& run, std::uint32_t open = 0)
      : grid({{0, 4000 * us}, 0, 0}, 100, 0), scene{run.report, run.index, ShownTime(run.report, open), grid} {}
  PixelGrid grid;
  BandScene scene;
};

int sum(const std::vector<BandColumn>& columns, std::uint8_t BandColumn::*part) {
  return std::accumulate(columns.begin(), columns.end(), 0, [&](int n, const BandColumn& c) { return n + c.*part; });
}

}  // namespace

TEST_CASE("the reach of a run is that of all ranks alongside the open one, in its time, without one that lies elsewhere") {
  LateRun run;
  const Span own = run.report.run.ranks[1].span;
  CHECK(reach_of_run(run.report, 1) == own);
  run.report.run.ranks[0].span.begin -= 300 * us;
  CHECK(reach_of_run(run.report, 1) == Span{own.begin - 300 * us, own.end});
  CHECK(reach_of_run(run.report, 0) == run.report.run.ranks[0].span);
  run.report.run.ranks[0].span.begin -= 300'000 * us;
  CHECK(reach_of_run(run.report, 1) == Span{own.begin - own.length(), own.end});
  run.report.clocks.ranks[0].add += 3600 * kNsPerS;
  CHECK(reach_of_run(run.report, 1) == own);
}

TEST_CASE("a band distinguishes waiting from transferring, and computing from idling") {
  const LateRun run;
  const Drawn drawn(run);
  std::vector<BandColumn> waiting, late;
  paint_band(drawn.scene, 0, waiting);
  paint_band(drawn.scene, 1, late);
  REQUIRE(waiting.size() == 100);
  CHECK(waiting[30] == BandColumn{0, 0, 0, kWholeColumn});
  CHECK(sum(waiting, &BandColumn::waiting) == 10 * kWholeColumn);  // 400 us
  CHECK(sum(late, &BandColumn::waiting) == 0);
  CHECK(sum(late, &BandColumn::transfer) == doctest::Approx(5.0 * kWholeColumn).epsilon(0.05));  // 4 times 50 us
  CHECK(waiting[15] == BandColumn{kWholeColumn, 0, 0, 0});
  CHECK(waiting[12].compute == kWholeColumn / 2);  // from the middle of the column on
  CHECK(waiting[20] == BandColumn{});
}

TEST_CASE("clocks that are off do not show: collectives end in one column, whichever rank is open") {
  const LateRun run;
  CHECK(run.report.clocks.ranks[1].offset == 777 * us);
  for (const std::uint32_t open : {0u, 1u}) {
    const Drawn drawn(run, open);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(drawn.scene.time.of(0, run.report.run.ranks[0].collectives[i].span.end) ==
            drawn.scene.time.of(1, run.report.run.ranks[1].collectives[i].span.end));
    CHECK(drawn.scene.time.in_file(1, drawn.scene.time.of(1, Ns{12345})) == 12345);
  }
}

TEST_CASE("words stand where they fit: who waits for whom, what is transferred, where a rank is late") {
  const LateRun run;
  const Drawn drawn(run);
  const std::vector<BandWords> waiting = band_words(drawn.scene, 0, 5), late = band_words(drawn.scene, 1, 5);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].what == BandWords::What::waiting);
  CHECK(waiting[0].text.find("for rank 1") != std::string::npos);
  CHECK(waiting[0].x0 == 25);
  CHECK(waiting[0].x1 == 35);
  REQUIRE(late.size() == 1);
  CHECK(late[0].what == BandWords::What::late);
  CHECK(late[0].x0 == 25);
  CHECK(late[0].x1 == 35);
  // Of the same stretch, so the time alone would not say which is which.
  CHECK(waiting[0].brief == "waits " + format_duration(400 * us));
  CHECK(late[0].brief == "late " + format_duration(400 * us));
  CHECK(band_words(drawn.scene, 0, 11).empty());
}

TEST_CASE("of collectives that lie close the one that was waited for most is joined") {
  const LateRun run;
  const Drawn drawn(run);
  CHECK(joined_collectives(drawn.scene, 1).size() == 4);
  const std::vector<std::uint32_t> one = joined_collectives(drawn.scene, 1000);
  REQUIRE(one.size() == 1);
  CHECK(run.report.waits.collectives[one[0]].total_wait == 400 * us);
}

TEST_CASE("what is under the pointer is reported with its partner") {
  const LateRun run;
  const Drawn drawn(run);
  const std::optional<BandPlace> wait = band_place(drawn.scene, 0, 1200 * us, true);
  REQUIRE(wait);
  CHECK(wait->matched == 1);
  CHECK(wait->text.find("for rank 1, then transfers for") != std::string::npos);
  const std::optional<BandPlace> late = band_place(drawn.scene, 1, 1420 * us, true);
  REQUIRE(late);
  CHECK(late->text.find("the last to come") != std::string::npos);
  const std::optional<BandPlace> kernel = band_place(drawn.scene, 0, 600 * us, false);
  REQUIRE(kernel);
  CHECK(kernel->text.starts_with("a_kernel"));
  CHECK(!band_place(drawn.scene, 0, 900 * us, true));
}

TEST_CASE("the recorded run in which rank 1 slept says so in its band") {
  const auto document = test::document_from_text(test::kOneLaunch);
  const auto folder = test::recordings_folder() / "ranks";
  const auto run =
      answer(*document,
             RanksQuestion{{(folder / "ddp_delayed_rank0.json.gz").string(), (folder / "ddp_delayed_rank1.json.gz").string()}},
             nullptr);
  REQUIRE(run);
  const PixelGrid grid({run->report.run.ranks[0].span, 0, 0}, 1000, run->report.run.ranks[0].span.begin);
  const BandScene scene{run->report, *run->bands, ShownTime(run->report, 0), grid};
  bool waits = false, slept = false;
  for (const BandWords& w : band_words(scene, 0, 40)) waits = waits || w.text.find("for rank 1") != std::string::npos;
  for (const BandWords& w : band_words(scene, 1, 40)) slept = slept || w.text.find("planted_delay") != std::string::npos;
  CHECK(waits);
  CHECK(slept);
  std::vector<BandColumn> columns;
  paint_band(scene, 0, columns);
  CHECK(sum(columns, &BandColumn::compute) > 0);
  CHECK(sum(columns, &BandColumn::waiting) > 0);
}

TEST_CASE("bands shrink until all are in sight, and no further than can be seen") {
  CHECK(band_height(2, 200, 4, 52) == 52);
  CHECK(band_height(20, 200, 4, 52) == 10);
  CHECK(band_height(1000, 200, 4, 52) == 4);
  CHECK(band_height(0, 200, 4, 52) == 52);
}
