// Each finding about a run: what fires it, and a twin that just does not.
#include <doctest/doctest.h>

#include "tests/ranks/hand_ranks.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::size_t kCount = 20;

// All come alike, a millisecond from one to the next, and compute in between.
std::vector<std::vector<Ns>> even_begins(std::size_t ranks) {
  std::vector<std::vector<Ns>> begins(ranks);
  for (auto& of_rank : begins)
    for (std::size_t i = 0; i < kCount; ++i) of_rank.push_back(static_cast<Ns>(i) * kNsPerMs);
  return begins;
}
std::vector<RankData> even_run(std::size_t ranks) { return HandRun(even_begins(ranks), std::vector<Ns>(ranks, 0)).ranks; }

const RunFinding* finding(const RunReport& report, RunFindingKind kind) {
  for (const RunFinding& f : report.findings)
    if (f.kind == kind) return &f;
  return nullptr;
}

// Rank 1 late by that much, once.
RunReport late_by(Ns late) {
  auto begins = even_begins(3);
  begins[1][10] += late;
  return report_of(HandRun(begins, {0, 0, 0}).ranks);
}

// Three pairs of ranks that move 4 MB each in their own time, and an all-reduce of all of them.
RunReport links_of(const std::vector<Ns>& transfers) {
  std::vector<RankData> ranks = even_run(2 * transfers.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::size_t first = r - r % 2;
    ranks[r].whats.push_back(
        shared_what(all_reduce_of("[" + std::to_string(first) + ", " + std::to_string(first + 1) + "]", 2)));
    for (std::size_t i = 1; i < 5; ++i) {
      RankCollective& c = ranks[r].collectives[i];
      c.what = 1;
      c.span.end = c.span.begin + transfers[r / 2];
    }
  }
  return report_of(std::move(ranks));
}

// How all-reduces of 20 in 19 ms, with nothing alongside them, take `each`.
RunReport transfers_of(Ns each) {
  HandRun hand(even_begins(2), {0, 0});
  for (RankData& rank : hand.ranks) {
    SpanSet exposed;
    for (RankCollective& c : rank.collectives) {
      c.span.end = c.span.begin + each;
      append(exposed, c.span);
    }
    rank.exposed_communication = PackedSpans(exposed);
    rank.account.exposed_communication = length(exposed);
  }
  return report_of(hand.ranks);
}

RunReport work_of(const std::vector<Ns>& work) {
  std::vector<RankData> ranks = even_run(work.size());
  for (std::size_t r = 0; r < work.size(); ++r) ranks[r].compute_work = work[r];
  return report_of(std::move(ranks));
}

std::shared_ptr<const CollectiveWhat> another(CollectiveWhat what, CollectiveType type, const char* name) {
  what.type = type;
  what.name = name;
  return shared_what(std::move(what));
}

// All-reduce, all-gather and reduce-scatter in turn; those of `swapped` call the 10th and 11th the other way round.
RunReport order_of(const std::vector<std::size_t>& swapped) {
  std::vector<RankData> ranks = even_run(2);
  for (RankData& rank : ranks) {
    rank.whats.push_back(another(*rank.whats[0], CollectiveType::all_gather, "allgather"));
    rank.whats.push_back(another(*rank.whats[0], CollectiveType::reduce_scatter, "reduce_scatter"));
    for (std::uint32_t i = 0; i < kCount; ++i) rank.collectives[i].what = i % 3;
  }
  for (const std::size_t r : swapped) std::swap(ranks[r].collectives[10].what, ranks[r].collectives[11].what);
  return report_of(std::move(ranks));
}

RunReport doing_alone(HostEvents RankData::*what, const std::vector<Ns>& times) {
  std::vector<RankData> ranks = even_run(times.size());
  for (std::size_t r = 0; r < times.size(); ++r)
    if (times[r] > 0) ranks[r].*what = {1, times[r], "torch/_dynamo/convert_frame.py(1): _compile"};
  return report_of(std::move(ranks));
}

}  // namespace

TEST_CASE("straggler: a rank that costs the others 3 % of their time") {
  const RunReport report = late_by(800 * kNsPerUs);
  const RunFinding* f = finding(report, RunFindingKind::straggler);
  REQUIRE(f != nullptr);
  CHECK(f->rank == 1);
  CHECK(f->cost == 2 * 800 * kNsPerUs);
  CHECK(f->text.starts_with("Rank 1 comes late: without it the others would have waited 1.6"));
  CHECK(finding(late_by(450 * kNsPerUs), RunFindingKind::straggler) == nullptr);
}

TEST_CASE("slow link: below six tenths of the middle bandwidth") {
  const Ns us = kNsPerUs;
  const RunReport report = links_of({100 * us, 170 * us, 100 * us});
  const RunFinding* f = finding(report, RunFindingKind::slow_link);
  REQUIRE(f != nullptr);
  CHECK(f->group == "2 and 3");
  CHECK(f->text.starts_with("The link between ranks 2 and 3 is slow: all-reduce of 4"));
  CHECK(finding(links_of({100 * us, 160 * us, 100 * us}), RunFindingKind::slow_link) == nullptr);
}

TEST_CASE("communication not overlapped: 15 % of the ranks' time in transfers with nothing alongside them") {
  const RunReport report = transfers_of(160 * kNsPerUs);
  const RunFinding* f = finding(report, RunFindingKind::not_overlapped);
  REQUIRE(f != nullptr);
  CHECK(f->cost == 2 * 20 * 160 * kNsPerUs);
  CHECK(f->text.find("of all communication is hidden") != std::string::npos);
  CHECK(finding(transfers_of(130 * kNsPerUs), RunFindingKind::not_overlapped) == nullptr);
}

TEST_CASE("unequal work: a tenth more than the middle rank") {
  const Ns ms = kNsPerMs;
  const RunReport report = work_of({10 * ms, 10 * ms, 11 * ms + 1, 10 * ms});
  const RunFinding* f = finding(report, RunFindingKind::unequal_work);
  REQUIRE(f != nullptr);
  CHECK(f->rank == 2);
  CHECK(f->text.find("the kernels of rank 2 take 11") != std::string::npos);
  CHECK(finding(work_of({10 * ms, 10 * ms, 11 * ms - 100'000, 10 * ms}), RunFindingKind::unequal_work) == nullptr);
}

TEST_CASE("another order of collectives is reported, and not where all swap alike") {
  const RunReport report = order_of({1});
  const RunFinding* f = finding(report, RunFindingKind::other_order);
  REQUIRE(f != nullptr);
  CHECK(f->text.starts_with("Rank 1 calls "));
  CHECK(f->text.find("can hang") != std::string::npos);
  CHECK(finding(order_of({0, 1}), RunFindingKind::other_order) == nullptr);
}

TEST_CASE(
    "two collectives that alternate and change places on one rank are another order, and that is what is reported first") {
  std::vector<std::vector<Ns>> begins = even_begins(2);
  for (auto& of_rank : begins)
    for (std::size_t i = 0; i < kCount; ++i)
      of_rank[i] += static_cast<Ns>(i * i * 13 % 31) * 10 * kNsPerUs;  // as uneven as in life
  std::vector<RankData> ranks = HandRun(begins, {0, 5 * kNsPerMs}).ranks;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    ranks[r].whats.push_back(another(*ranks[r].whats[0], CollectiveType::all_gather, "allgather"));
    for (std::uint32_t i = 0; i < kCount; ++i) ranks[r].collectives[i].what = (i + r) % 2;
  }
  const RunReport report = report_of(std::move(ranks));
  const RunFinding* f = finding(report, RunFindingKind::other_order);
  REQUIRE(f != nullptr);
  CHECK(f->text.starts_with("Rank 1 calls allgather where rank 0 calls allreduce, the same few in another order"));
  CHECK(first_sentence(report) == f->text);
}

TEST_CASE("a rank that compiles or collects garbage alone for a millisecond, and not where many do") {
  for (const auto& pair : {std::pair(RunFindingKind::compiles_alone, &RankData::compiling),
                           {RunFindingKind::collects_alone, &RankData::collecting}}) {
    const RunFindingKind kind = pair.first;
    const auto what = pair.second;
    CAPTURE(std::string(run_finding_word(kind)));
    const RunReport report = doing_alone(what, {0, 0, kNsPerMs, 0});
    const RunFinding* f = finding(report, kind);
    REQUIRE(f != nullptr);
    CHECK(f->rank == 2);
    CHECK(f->text.starts_with("Rank 2 alone "));
    CHECK(finding(doing_alone(what, {0, 0, kNsPerMs - 1, 0}), kind) == nullptr);
    CHECK(finding(doing_alone(what, {0, kNsPerMs, kNsPerMs, 0}), kind) == nullptr);
  }
}
