// Collectives that state nothing, and files whose names say no rank.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/ranks/hand_ranks.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr const char* kKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// As read from recordings that know the kernels alone.
std::vector<RankData> without_names(std::vector<RankData> ranks) {
  for (RankData& r : ranks) {
    CollectiveWhat what = collective_of_kernel(kKernel, "24,1,1");
    what.group = "stream 1";
    r.whats = {shared_what(std::move(what))};
    r.by_order = true;
  }
  return ranks;
}

// Rank 1 is 300 us late at every fourth.
std::vector<std::vector<Ns>> begins_of_two(int count) {
  std::vector<std::vector<Ns>> begins(2);
  Ns at = 0;
  for (int i = 0; i < count; ++i) {
    at += (900 + 37 * (i * i % 11)) * kNsPerUs;
    begins[0].push_back(at);
    begins[1].push_back(at + (i % 4 == 3 ? 300 : 0) * kNsPerUs);
    at = begins[1].back();
  }
  return begins;
}

bool has_problem(const RunReport& report, std::string_view part) {
  return std::any_of(report.run.problems.begin(), report.run.problems.end(),
                     [&](const std::string& problem) { return problem.find(part) != problem.npos; });
}

std::vector<RankData> of_files(const std::vector<std::string>& names) {
  std::vector<RankData> ranks = HandRun(begins_of_two(12), {0, 0}).ranks;
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].rank = -1, ranks[r].file = names[r];
  return ranks;
}

}  // namespace

TEST_CASE("what a communication kernel's name says") {
  const CollectiveWhat reduce = collective_of_kernel(kKernel, "24,1,1");
  CHECK(reduce.type == CollectiveType::all_reduce);
  CHECK(reduce.dtype == "Float");
  CHECK(reduce.kernel == "ncclDevKernel_AllReduce_Sum_f32_RING_LL 24,1,1");
  CHECK(collective_of_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", "1").type == CollectiveType::reduce_scatter);
  CHECK(collective_of_kernel("ncclDevKernel_AllGather_RING_LL(x)", "1").type == CollectiveType::all_gather);
  CHECK(collective_of_kernel("void cross_device_reduce_1stage<__half>(x)", "1").type == CollectiveType::all_reduce);
  CHECK(collective_of_kernel("ncclDevKernel_SendRecv(x)", "1").type == CollectiveType::other);
}

TEST_CASE("collectives that state nothing are matched by order where their ends agree, and the late rank is found") {
  const RunReport report = report_of(without_names(HandRun(begins_of_two(24), {0, 5'000'000}).ranks));
  CHECK(report.matches.all.size() == 24);
  CHECK(report.clocks.trustworthy());
  CHECK(report.clocks.ranks[1].offset == 5'000'000);
  CHECK(first_sentence(report).starts_with("Rank 1 is late"));
  CHECK(
      has_problem(report, "The 48 collectives of ranks 0 and 1 state neither group nor size: they are matched by their order"));
}

TEST_CASE("where the ends do not agree, order alone matches nothing") {
  std::vector<RankData> ranks = without_names(HandRun(begins_of_two(24), {0, 0}).ranks);
  for (std::size_t i = 0; i < ranks[1].collectives.size(); ++i)
    ranks[1].collectives[i].span.end += static_cast<Ns>(i * 7919 % 977) * kNsPerUs;
  const RunReport report = report_of(std::move(ranks));
  CHECK(report.matches.all.empty());
  CHECK(has_problem(report, "Rank 0: none of its 24 communication kernels names its collective"));
  CHECK(!has_problem(report, "matched by their order"));
}

TEST_CASE("kernels of another grid are another collective") {
  std::vector<RankData> ranks = without_names(HandRun(begins_of_two(24), {0, 0}).ranks);
  CollectiveWhat other = collective_of_kernel(kKernel, "1,1,1");
  other.group = "stream 1";
  ranks[1].whats = {shared_what(std::move(other))};
  CHECK(report_of(std::move(ranks)).matches.all.empty());
}

TEST_CASE("the one number in which names differ is the rank where what is inside agrees") {
  for (const auto& names : {std::vector<std::string>{"trace_0.json", "trace_1.json"},
                            std::vector<std::string>{"/a/b2_profile_0.json.gz", "/a/b2_profile_1.json.gz"},
                            std::vector<std::string>{"worker_4.1.json", "worker_4.2.json"}}) {
    const Run run = choose_run(of_files(names), {});
    CHECK(run.ranks.size() == 2);
    CHECK(run.problems.empty());
  }
  CHECK(choose_run(of_files({"trace_0.json", "other_1.json"}), {}).ranks.empty());
  CHECK(choose_run(of_files({"t_0_0.json", "t_1_1.json"}), {}).ranks.empty());  // which of the two?
  std::vector<RankData> apart = of_files({"trace_0.json", "trace_1.json"});
  apart[1].base += 100 * kNsPerS;
  CHECK(choose_run(std::move(apart), {}).ranks.empty());
  std::vector<RankData> unlike = of_files({"trace_0.json", "trace_1.json"});
  unlike[1].collectives.resize(3);
  CHECK(choose_run(std::move(unlike), {}).ranks.empty());
}
