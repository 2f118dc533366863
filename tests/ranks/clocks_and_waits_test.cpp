// One axis for all ranks, and who waits for whom on it.
#include <random>

#include <doctest/doctest.h>

#include "core/ranks/choose_run.h"
#include "core/ranks/run_report.h"
#include "tests/ranks/hand_ranks.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Ranks that come within a few microseconds; rank 2 late by `late` in the 10th collective.
HandRun run_of(std::size_t ranks, Ns late, const std::vector<Ns>& clocks) {
  std::mt19937 random(3);
  std::vector<std::vector<Ns>> begins(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < 40; ++i)
      begins[r].push_back(static_cast<Ns>(i) * kNsPerMs + (i > 10 ? late : 0) + static_cast<Ns>(random() % 3000) +
                          (r == 2 && i == 10 ? late : 0));
  return HandRun(begins, clocks);
}

struct Judged {
  std::vector<RankData> ranks;
  Matches matches;
  Clocks clocks;
  Waits waits;
};
Judged judge(std::vector<RankData> ranks, ClockAlignment alignment = ClockAlignment::collectives) {
  Judged j;
  j.ranks = std::move(ranks);
  j.matches = match_collectives(j.ranks);
  j.clocks = align_clocks(j.ranks, j.matches, alignment);
  j.waits = count_waits(j.ranks, j.matches, j.clocks);
  return j;
}

}  // namespace

TEST_CASE("clocks that are off are found to the nanosecond, and change nothing else") {
  const std::vector<Ns> off = {0, 777 * kNsPerUs, -5 * kNsPerS, 3};
  const Judged even = judge(run_of(4, 5 * kNsPerMs, {0, 0, 0, 0}).ranks);
  const Judged odd = judge(run_of(4, 5 * kNsPerMs, off).ranks);
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK(even.clocks.ranks[r].offset == 0);
    CHECK(odd.clocks.ranks[r].offset == off[r]);
    CHECK(odd.clocks.ranks[r].residual == 0);
    CHECK(odd.waits.ranks[r].total_wait == even.waits.ranks[r].total_wait);
    CHECK(odd.waits.ranks[r].times_last == even.waits.ranks[r].times_last);
    CHECK(odd.waits.lost[r] == even.waits.lost[r]);
  }
  CHECK(odd.clocks.trustworthy());
  CHECK(odd.clocks.impossible == 0);
  CHECK(judge(run_of(4, 0, off).ranks, ClockAlignment::base).clocks.impossible > 0);
  CHECK(!judge(run_of(4, 0, off).ranks, ClockAlignment::base).clocks.trustworthy());
}

TEST_CASE("exposed communication is transfer, waiting for a rank, or neither is known; nothing twice") {
  HandRun hand = run_of(4, 5 * kNsPerMs, {0, 0, 0, 0});
  SpanSet exposed = hand.ranks[1].exposed_communication.unpacked();
  exposed.push_back({hand.ranks[1].window.end + 10, hand.ranks[1].window.end + 110});  // of a kernel without a name
  hand.ranks[1].exposed_communication = PackedSpans(exposed);
  const Judged j = judge(hand.ranks);
  for (std::size_t r = 0; r < 4; ++r) {
    const RankNumbers& n = j.waits.ranks[r];
    CHECK(n.transfer + n.waiting_total() + n.unsplit == length(j.ranks[r].exposed_communication.unpacked()));
    CHECK(n.unsplit == (r == 1 ? 100 : 0));
    CHECK(n.transfer == 40 * hand.transfer);
    if (r != 2) {
      REQUIRE(!n.waiting.empty());
      CHECK(n.waiting[0].rank == 2);
      CHECK(n.waiting[0].time >= 5 * kNsPerMs - 3000);
    }
  }
  REQUIRE(j.waits.late.size() == 1);
  CHECK(j.waits.late[0].rank == 2);
  CHECK(j.waits.late[0].lost_alone >= 3 * (5 * kNsPerMs - 3000));
  Ns waited = 0;
  for (const RankNumbers& n : j.waits.ranks)
    for (const WaitingFor& w : n.waiting)
      if (w.rank == 2) waited += w.time;
  CHECK(j.waits.late[0].exposed == waited);
}

TEST_CASE("waits that compute hides are reported as such") {
  HandRun hand = run_of(4, 5 * kNsPerMs, {0, 0, 0, 0});
  for (RankData& rank : hand.ranks) rank.exposed_communication = {};
  const RunReport report = report_of(hand.ranks);
  CHECK(report.waits.late[0].exposed == 0);
  CHECK(first_sentence(report).starts_with("Rank 2 is late: collectives of the other 3 ranks wait "));
  CHECK(first_sentence(report).find(" for it, all of it concurrent with compute.") != std::string::npos);
}

TEST_CASE("a clock that drifts is followed by a line") {
  HandRun hand = run_of(2, 0, {0, 0});
  for (RankCollective& c : hand.ranks[1].collectives) {  // gains 1 ms a second
    c.span.begin += c.span.begin / 1000;
    c.span.end += c.span.end / 1000;
  }
  const Judged j = judge(hand.ranks);
  CHECK(j.clocks.ranks[1].drift == doctest::Approx(1e-3).epsilon(0.01));
  CHECK(j.clocks.ranks[1].residual < 100);
  CHECK(j.clocks.impossible == 0);
  CHECK(judge(run_of(2, 0, {0, 0}).ranks).clocks.ranks[1].drift == 0);
}

TEST_CASE("ends that agree no better than the shortest collective is long are not trusted") {
  HandRun hand = run_of(2, 0, {0, 0});
  std::mt19937 random(5);
  for (RankCollective& c : hand.ranks[1].collectives) c.span.end += static_cast<Ns>(random() % 900'000);
  CHECK(!judge(hand.ranks).clocks.trustworthy());
}

TEST_CASE("ranks that no collective joins are reached through others, or stay as their files state") {
  HandRun hand = run_of(4, 0, {0, 1000, 2000, 3000});
  // Groups of {0, 1}, {1, 2}; rank 3 alone.
  for (std::size_t r = 0; r < 4; ++r) {
    hand.ranks[r].whats = {shared_what(all_reduce_of("[0, 1]", 2)), shared_what(all_reduce_of("[1, 2]", 2)),
                           shared_what(all_reduce_of("[3]", 1))};
    for (std::size_t i = 0; i < 40; ++i)
      hand.ranks[r].collectives[i].what = r == 0 ? 0 : r == 2 ? 1 : r == 3 ? 2 : static_cast<std::uint32_t>(i % 2);
  }
  std::erase_if(hand.ranks[0].collectives, [i = 0](const RankCollective&) mutable { return i++ % 2 == 1; });
  std::erase_if(hand.ranks[2].collectives, [i = 0](const RankCollective&) mutable { return i++ % 2 == 0; });
  const Judged j = judge(hand.ranks);
  CHECK(j.clocks.ranks[2].offset == 2000);
  CHECK(j.clocks.ranks[2].compared);
  CHECK(!j.clocks.ranks[3].compared);
  CHECK(j.clocks.ranks[3].offset == 0);
  CHECK(j.matches.unmatched == std::vector<std::uint64_t>{0, 0, 0, 40});
}

TEST_CASE("who is double, foreign, missing or nameless is reported, and the rest is used") {
  std::vector<RankData> files = run_of(4, 0, {0, 0, 0, 0}).ranks;
  files.erase(files.begin() + 1);
  files[1].world_size = 8;    // rank 2
  files.push_back(files[0]);  // rank 0 again
  files.back().file = "rank0_again.json";
  files.push_back(files[0]);
  files.back().file = "trace.json";
  files.back().rank = -1;
  const Run run = choose_run(files, {"x.json cannot be opened."});
  REQUIRE(run.ranks.size() == 2);
  CHECK(run.ranks[0].file == "rank0.json");
  CHECK(run.ranks[1].rank == 3);
  CHECK(!run.all_used);
  CHECK(run.missing == std::vector<std::int64_t>{1, 2});
  CHECK(run.problems.size() == 5);
  std::vector<RankData> mesh = run_of(4, 0, {0, 0, 0, 0}).ranks;
  const char* names[] = {"x-TP-1-DP-1.json", "x-TP-0-DP-1.json", "x-TP-1-DP-0.json", "x-TP-0-DP-0.json"};
  for (std::size_t r = 0; r < 4; ++r) mesh[r].rank = -1, mesh[r].file = names[r];
  const Run named = choose_run(mesh, {});
  REQUIRE(named.ranks.size() == 4);
  CHECK(named.all_used);
  CHECK(named.ranks[1].file == "x-TP-1-DP-0.json");
  CHECK(named.ranks[3].file == "x-TP-1-DP-1.json");
}

TEST_CASE("a late rank is reported, and none where all come alike") {
  const auto stragglers = [](const RunReport& r) {
    return std::count_if(r.findings.begin(), r.findings.end(),
                         [](const RunFinding& f) { return f.kind == RunFindingKind::straggler; });
  };
  const RunReport late = report_of(run_of(8, 20 * kNsPerMs, std::vector<Ns>(8, 0)).ranks);
  CHECK(stragglers(late) == 1);
  CHECK(late.findings[0].rank == 2);
  CHECK(first_sentence(late).starts_with("Rank 2 is late: the other 7 ranks wait 140 ms for it"));
  const RunReport even = report_of(run_of(8, 0, std::vector<Ns>(8, 0)).ranks);
  CHECK(stragglers(even) == 0);
  CHECK(first_sentence(even).starts_with("No rank is late"));
}
