// Ranks that are missing, foreign, double, alike in what they should not be: a sentence each, and the others are used.
#include <doctest/doctest.h>

#include "tests/ranks/hand_ranks.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::vector<RankData> run_of(std::size_t ranks, std::size_t collectives = 10) {
  std::vector<std::vector<Ns>> begins(ranks);
  for (auto& of_rank : begins)
    for (std::size_t i = 0; i < collectives; ++i) of_rank.push_back(static_cast<Ns>(i) * kNsPerMs);
  return HandRun(begins, std::vector<Ns>(ranks, 0)).ranks;
}

std::string problems_of(const RunReport& report) {
  std::string all;
  for (const std::string& sentence : report.run.problems) all += sentence + '\n';
  return all;
}
bool tells(const RunReport& report, const std::string& part) { return problems_of(report).find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a whole run has no problem") {
  const RunReport report = report_of(run_of(4));
  CHECK(report.run.all_used);
  CHECK(problems_of(report).empty());
}

TEST_CASE("a rank that is cut off is used as far as it goes") {
  std::vector<RankData> ranks = run_of(3);
  ranks[1].cut_off = true;
  ranks[1].collectives.resize(6);
  const RunReport report = report_of(std::move(ranks));
  CHECK(report.run.ranks.size() == 3);
  CHECK(!report.run.all_used);
  CHECK(tells(report, "The file of rank 1 is cut off (rank1.json)"));
}

TEST_CASE("a rank of another recording is left out: by its time, and by its clock that nothing joins") {
  std::vector<RankData> ranks = run_of(4);
  ranks[3].base += 3600 * kNsPerS;
  for (std::size_t i = 0; i < ranks[3].collectives.size(); ++i) {
    Span& span = ranks[3].collectives[i].span;
    span.end += 37 * (span.begin / 1000) + static_cast<Ns>(i) * 333;
  }
  const RunReport report = report_of(std::move(ranks));
  CHECK(report.run.ranks.size() == 3);
  CHECK(!report.run.all_used);
  CHECK(tells(report, "Rank 3 is of another recording"));
}

TEST_CASE("a clock that is an hour off is no other recording: its collectives fit") {
  std::vector<RankData> ranks = run_of(4);
  ranks[3].base += 3600 * kNsPerS;
  const RunReport report = report_of(std::move(ranks));
  CHECK(report.run.ranks.size() == 4);
  CHECK(report.clocks.ranks[3].offset == 3600 * kNsPerS);
}

TEST_CASE("communication kernels that do not say what they are") {
  std::vector<RankData> ranks = run_of(2);
  ranks[1].collectives.clear();
  ranks[1].unnamed = 12;
  ranks[1].unnamed_example = "vllm::cross_device_reduce_1stage<2>";
  const RunReport report = report_of(std::move(ranks));
  CHECK(report.run.ranks.size() == 2);
  CHECK(tells(report, "Rank 1: none of its 12 communication kernels names its collective"));
  CHECK(tells(report, "cross_device_reduce"));
  CHECK(first_sentence(report).starts_with("No collective of the 2 ranks could be matched"));
}

TEST_CASE("ranks that share a GPU of one host are reported, those of many hosts with the same number are not") {
  std::vector<RankData> shared = run_of(2);
  for (RankData& r : shared) r.host_gpus = 8;
  CHECK(tells(report_of(std::move(shared)), "Ranks 0 and 1 all worked on GPU 0 and their clocks agree as on one host"));
  std::vector<RankData> hosts = run_of(2);
  for (RankData& r : hosts) r.host_gpus = 1;
  CHECK(!tells(report_of(std::move(hosts)), "all worked on GPU"));
}

TEST_CASE("one rank alone") {
  const RunReport report = report_of({run_of(4).front()});
  CHECK(!report.run.all_used);
  CHECK(tells(report, "Of 4 ranks 3 are missing: 1, 2 and 3."));
  CHECK(first_sentence(report).starts_with("Only rank 0 of 4 is here"));
}

TEST_CASE("a file that cannot be opened is reported, and the others are used") {
  const RunReport report = report_of(run_of(3), {"rank3.json cannot be opened: No such file or directory."});
  CHECK(report.run.ranks.size() == 3);
  CHECK(!report.run.all_used);
  CHECK(tells(report, "rank3.json cannot be opened"));
  CHECK(report.doing.size() == report.waits.late.size());
}

TEST_CASE("nothing at all") {
  const RunReport report = report_of({}, {"a.json is not a JSON trace."});
  CHECK(report.run.ranks.empty());
  CHECK(!report.run.all_used);
  CHECK(first_sentence(report) == "No rank could be read.");
}

TEST_CASE("10,000 files of one run") {
  RankData one = run_of(1, 8).front();
  one.world_size = 10'000;
  one.whats[0] = shared_what(all_reduce_of("[0, 1, 2, ...]", 10'000));  // as PyTorch cuts it
  std::vector<RankData> ranks(10'000, one);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].rank = static_cast<std::int64_t>(r);
    ranks[r].file = "rank" + std::to_string(r) + ".json";
  }
  const RunReport report = report_of(std::move(ranks));
  CHECK(report.run.ranks.size() == 10'000);
  CHECK(report.run.all_used);
  CHECK(report.matches.all.size() == 8);
}
