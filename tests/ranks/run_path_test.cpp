// What holds several ranks back: the path is as long as the run, and goes to the rank that the others waited for.
#include "core/ranks/run_path.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/ranks/rank_replay.h"
#include "core/ranks/read_rank.h"
#include "core/ranks/run_report.h"
#include "tests/ranks/hand_ranks.h"
#include "tests/ranks/replayable_ranks.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

void check_adds_up(const RunReport& report, const RunPath& path) {
  CHECK(path.run.length() == path.replay.after);
  Ns at = path.run.begin, by = 0, by_rank = 0, sums = 0;
  for (const RunStretch& s : path.path) {
    CHECK(s.span.begin == at);
    at = s.span.end;
  }
  CHECK(at == path.run.end);
  for (const Ns t : path.by) by += t;
  for (const Ns t : path.by_rank) by_rank += t;
  for (const RunPathSum& s : run_path_sums(report, path)) sums += s.time;
  CHECK(by == path.replay.after);
  CHECK(by_rank == path.replay.after);
  CHECK(sums == path.replay.after);
}

}  // namespace

TEST_CASE("the path over all ranks is as long as the run, as it is and with changes") {
  for (const char* name : {"ddp", "ddp_delayed", "fsdp", "tp", "pp"}) {
    CAPTURE(name);
    const RunReport report = replayable(name);
    check_adds_up(report, run_path(report));
    RunChange change;
    change.never_late = {1};
    change.link = 20;
    check_adds_up(report, run_path(report, change));
    const RunReport faster = replayable(name, {"host 0.3", "gpu 4"});
    check_adds_up(faster, run_path(faster));
  }
}

TEST_CASE("the path goes through what the others waited for, and not when that is gone") {
  const auto delay_of = [](const RunReport& report, std::uint32_t& rank) {
    for (const RunPathSum& s : run_path_sums(report, run_path(report)))
      if (s.name == "planted_delay") return rank = s.rank, s.time;
    return Ns{0};
  };
  std::uint32_t rank = 0;
  CHECK(delay_of(replayable("ddp_delayed"), rank) > 20 * kNsPerMs);
  CHECK(rank == 1);
  CHECK(delay_of(replayable("ddp_delayed", {"on 1", "remove planted_delay"}), rank) == 0);
}

TEST_CASE("of a file that is gone no name is known, and it still adds up") {
  RunReport report = replayable("ddp");
  const RunPath path = run_path(report);
  for (RankData& r : report.run.ranks) r.file = "/nowhere/rank.json";
  Ns sums = 0;
  for (const RunPathSum& s : run_path_sums(report, path)) {
    CHECK(s.name.empty());
    sums += s.time;
  }
  CHECK(sums == path.replay.after);
}

TEST_CASE("a path can be stopped") {
  const std::atomic<bool> stop = true;
  CHECK(run_path(replayable("ddp"), {}, &stop).cancelled);
}

TEST_CASE("from a collective that waited the path goes to the rank that came last") {
  // Rank 1 comes to an all-reduce at 2106, rank 0 1000 us before; it ends on both at 2306, and rank 0 works until 2906 (us).
  std::vector<RankData> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    const auto launch = [](int at, int id) {
      return slice("cudaLaunchKernel", std::to_string(at), "4", fmt::format(R"(, "args": {{"correlation": {}}})", id),
                   "cuda_runtime");
    };
    const auto kernel = [](int at, int length, int id) {
      return slice("gemm", std::to_string(at), std::to_string(length),
                   fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", id), "kernel", "7");
    };
    const int comes = 1100 + 1000 * rank, lasts = 1200 - 1000 * rank;
    const std::string all_reduce =
        slice("ncclDevKernel_AllReduce", std::to_string(comes + 6), std::to_string(lasts),
              R"(, "args": {"correlation": 2, "device": 0, "stream": 17, "Collective name": "allreduce", "dtype": "Float",
                 "In msg nelems": 1048576, "Out msg nelems": 1048576, "Group size": 2, "Process Group Name": "0",
                 "Process Group Ranks": "[0, 1]"})",
              "kernel", "17");
    const std::string wait =
        slice("cudaDeviceSynchronize", std::to_string(comes + 10), std::to_string(lasts), "", "cuda_runtime");
    const FullRank full =
        full_rank(load_text(events(launch(1000, 1) + "," + kernel(1006, 10, 1) + "," + launch(comes, 2) + "," + all_reduce +
                                   "," + wait + "," + launch(2400, 3) + "," + kernel(2406, 500 - 450 * rank, 3))));
    RankData data = reduce_rank(full);
    data.rank = rank;
    data.file = fmt::format("rank{}.json", rank);
    data.has_base = true;
    data.replay = rank_replay(full, data, {});
    ranks.push_back(std::move(data));
  }
  const RunReport report = report_of(std::move(ranks));
  const RunPath path = run_path(report);
  check_adds_up(report, path);
  CHECK(path.by[static_cast<std::size_t>(HeldBy::collective)] == 200'000);
  REQUIRE(path.by_rank.size() == 2);
  CHECK(path.by_rank[1] == 1'106'000);  // from the begin of the run to its coming
  CHECK(path.by_rank[0] == 800'000);
}
