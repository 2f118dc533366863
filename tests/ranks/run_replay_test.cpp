// Ranks replayed together: recordings keep their times without a change, a planted delay disappears from both ranks, and random
// runs are held against the program that made them, run again with the change.
#include "core/ranks/run_replay.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/ranks/read_rank.h"
#include "tests/ranks/hand_ranks.h"
#include "tests/ranks/replayable_ranks.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

void check_same(const RunReport& report) {
  REQUIRE(can_replay(report));
  const RunReplay same = replay_run(report);
  CHECK(same.before == same.after);
  for (const ReplayedRank& rank : same.ranks) {
    CHECK(rank.before == rank.after);
    for (const RunStep& step : rank.steps) CHECK(step.before == step.after);
  }
}

// A program of some ranks that calls one all-reduce after another and waits for each.
struct Program {
  struct Round {
    Ns pause = 0, work = 0;  // of the host, before its kernels
    std::vector<Ns> kernels;
  };
  std::vector<std::vector<Round>> ranks;
  std::vector<std::int64_t> elements;  // floats, by round
  std::vector<Ns> transfers;

  static constexpr Ns kStarts = 6'000, kCall = 4'000, kReturns = 3'000;

  struct Times {
    std::vector<std::string> events;  // by rank
    Ns begin = 0, end = 0;
  };

  explicit Program(std::mt19937& random) {
    const auto any = [&](Ns from, Ns to) { return std::uniform_int_distribution<Ns>(from, to)(random); };
    const auto rounds = static_cast<std::size_t>(any(1, 8));
    ranks.resize(static_cast<std::size_t>(any(2, 4)));
    for (auto& rank : ranks)
      for (std::size_t i = 0; i < rounds; ++i) {
        rank.push_back({any(0, 2) == 0 ? any(50'000, 900'000) : 0, any(5'000, 300'000), {}});
        for (Ns k = any(0, 5); k > 0; --k) rank.back().kernels.push_back(any(1'000, 8'000));
      }
    ranks[0][0].pause = any(50'000, 900'000);  // one there is
    for (std::size_t i = 0; i < rounds; ++i) {
      elements.push_back(any(1 << 20, 1 << 24));
      transfers.push_back(any(100'000, 400'000));
    }
  }

  static std::string us(Ns t) { return fmt::format("{}.{:03}", t / 1000, t % 1000); }

  Times run(Ns with_pause_of_rank_0 = 1, int never_late = -1) const {
    Times out;
    std::vector<Ns> host(ranks.size(), 1'000'000), queue(ranks.size(), 0), free(ranks.size(), 0);
    out.events.resize(ranks.size());
    int correlation = 1;
    const auto put = [&](std::size_t r, const std::string& text) {
      out.events[r] += (out.events[r].empty() ? "" : ",") + text;
    };
    const auto launch = [&](std::size_t r) {
      put(r, slice("cudaLaunchKernel", us(host[r]), us(kCall), fmt::format(R"(, "args": {{"correlation": {}}})", ++correlation),
                   "cuda_runtime"));
    };
    for (std::size_t r = 0; r < ranks.size(); ++r) {  // the run begins here, whatever comes then
      launch(r);
      queue[r] = host[r] + kStarts + 1'000;
      put(r, slice("first", us(queue[r] - 1'000), "1",
                   fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", correlation), "kernel", "7"));
      host[r] += 10'000;
    }
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      std::vector<Ns> comes;
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const Round& round = ranks[r][i];
        if (round.pause > 0) put(r, slice("pause", us(host[r]), us(round.pause), "", "user_annotation", "2"));
        host[r] += (r == 0 ? round.pause * with_pause_of_rank_0 : round.pause);
        host[r] += round.work;
        for (const Ns length : round.kernels) {
          launch(r);
          const Ns begin = std::max(queue[r], host[r] + kStarts);
          put(r,
              slice("gemm", us(begin), us(length),
                    fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", correlation), "kernel", "7"));
          queue[r] = begin + length;
          host[r] += 10'000;
        }
        comes.push_back(std::max(free[r], host[r] + kStarts));
      }
      Ns latest = 0;
      for (std::size_t r = 0; r < ranks.size(); ++r)
        if (static_cast<int>(r) != never_late) latest = std::max(latest, comes[r]);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (const Ns late = comes[r] - latest; late > 0) comes[r] -= late, host[r] -= late;
        launch(r);
        const Ns end = latest + transfers[i];
        put(r, slice("ncclDevKernel_AllReduce", us(comes[r]), us(end - comes[r]),
                     fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 17, "Collective name": "allreduce",
                         "dtype": "Float", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {},
                         "Process Group Name": "0", "Process Group Ranks": "[all]"}})",
                                 correlation, elements[i], elements[i], ranks.size()),
                     "kernel", "17"));
        free[r] = end;
        host[r] += 5'000;
        put(r, slice("cudaDeviceSynchronize", us(host[r]), us(end + kReturns - host[r]), "", "cuda_runtime"));
        host[r] = end + kReturns;
      }
    }
    out.begin = 1'000'000;
    out.end = *std::max_element(host.begin(), host.end());
    return out;
  }
};

RunReport report_on(const Program::Times& times, const std::vector<std::string>& list) {
  std::vector<RankData> ranks;
  for (std::size_t r = 0; r < times.events.size(); ++r) {
    const FullRank full = full_rank(load_text(events(times.events[r])));
    RankData data = reduce_rank(full);
    data.rank = static_cast<std::int64_t>(r);
    data.file = fmt::format("rank{}.json", r);
    data.has_base = true;
    data.replay = rank_replay(full, data, *read_run_change(list));
    ranks.push_back(std::move(data));
  }
  return report_of(std::move(ranks));
}

}  // namespace

TEST_CASE("without a change every recorded rank keeps its length and its steps") {
  for (const char* name : {"ddp", "ddp_delayed", "fsdp", "tp", "pp"}) {
    CAPTURE(name);
    check_same(replayable(name));
  }
}

TEST_CASE("without the delay of one rank its step is as long as its neighbours, on both") {
  const RunReplay without = replay_run(replayable("ddp_delayed", {"on 1", "remove planted_delay"}));
  REQUIRE(without.ranks.size() == 2);
  CHECK(without.share() > 0.25);
  for (const ReplayedRank& rank : without.ranks) {
    REQUIRE(rank.steps.size() == 5);
    Ns shortest = rank.steps[0].before, longest = 0;
    for (const std::size_t s : {0u, 1u, 3u, 4u}) {
      shortest = std::min(shortest, rank.steps[s].after);
      longest = std::max(longest, rank.steps[s].after);
    }
    CHECK(rank.steps[2].after >= shortest * 95 / 100);
    CHECK(rank.steps[2].after <= longest * 105 / 100);
  }
  CHECK(without.is_late());
}

TEST_CASE("the straggler's finding says what the run would be were it never late, and who is late then") {
  const RunReport report = replayable("ddp_delayed");
  REQUIRE(!report.findings.empty());
  REQUIRE(report.findings[0].gain);
  CHECK(gain_change(report.findings[0]) == "--rank 1");
  CHECK(report.findings[0].gain->gain() > 18 * kNsPerMs);  // the planted delay alone
  CHECK(gain_sentence(report, report.findings[0]).find(" Next bottleneck: rank 0.") != std::string::npos);
}

TEST_CASE("where no call of the others waited for the late rank, that is why mending it gives nothing") {
  // Each calls one all-reduce, rank 1 1 ms later; the hosts of both continue for 3 ms, and only `waits` of rank 0 is in the
  // file.
  const auto sentence_of = [](bool waits) {
    Program::Times times;
    for (int rank = 0; rank < 2; ++rank) {
      const auto launch = [](int at, int id) {
        return slice("cudaLaunchKernel", std::to_string(at), "4", fmt::format(R"(, "args": {{"correlation": {}}})", id),
                     "cuda_runtime");
      };
      const auto kernel = [](int at, int length, int id) {
        return slice("gemm", std::to_string(at), std::to_string(length),
                     fmt::format(R"(, "args": {{"correlation": {}, "device": 0, "stream": 7}})", id), "kernel", "7");
      };
      const int comes = 1100 + 1000 * rank;
      times.events.push_back(
          launch(1000, 1) + "," + kernel(1006, 10, 1) + "," + launch(comes, 2) + "," +
          slice("ncclDevKernel_AllReduce", std::to_string(comes + 6), std::to_string(1200 - 1000 * rank),
                R"(, "args": {"correlation": 2, "device": 0, "stream": 17, "Collective name": "allreduce", "dtype": "Float",
                   "In msg nelems": 1048576, "Out msg nelems": 1048576, "Group size": 2, "Process Group Name": "0",
                   "Process Group Ranks": "[0, 1]"})",
                "kernel", "17") +
          "," +
          (waits ? slice("cudaDeviceSynchronize", std::to_string(comes + 10), std::to_string(1200 - 1000 * rank), "",
                         "cuda_runtime") +
                       ","
                 : std::string()) +
          launch(2400, 3) + "," + kernel(2406, 50, 3));
    }
    RunReport report = report_on(times, {});
    REQUIRE(!report.findings.empty());
    RunFinding& late = report.findings.front();
    REQUIRE(late.rank == 1);
    if (!late.gain) late.gain = replay_run(report, late.remedy);
    return gain_sentence(report, late);
  };
  CHECK(sentence_of(false) ==
        "If rank 1 were on time, the run would take as long: no recorded call of another rank waited for it.");
  CHECK(sentence_of(true).starts_with("If rank 1 were on time: "));
}

TEST_CASE("random runs replayed with a change are as long as the program that made them, run again") {
  std::mt19937 random(20261123);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const Program program(random);
    const Program::Times recorded = program.run();
    check_same(report_on(recorded, {}));
    const Ns before = recorded.end - recorded.begin;

    const RunReplay without = replay_run(report_on(recorded, {"on 0", "remove pause"}));
    const Program::Times again = program.run(0);
    CHECK(std::abs(before - without.gain() - (again.end - again.begin)) <= 10);

    for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank) {
      CAPTURE(rank);
      RunChange change;
      change.never_late = {rank};
      const RunReplay never = replay_run(report_on(recorded, {}), change);
      const Program::Times prompt = program.run(1, rank);
      CHECK(std::abs(before - never.gain() - (prompt.end - prompt.begin)) <= 10);
    }

    Program linked = program;
    const Ns shortest = *std::min_element(linked.transfers.begin(), linked.transfers.end());
    const double n = static_cast<double>(program.ranks.size());
    for (std::size_t c = 0; c < linked.transfers.size(); ++c)
      linked.transfers[c] = std::max(
          shortest, static_cast<Ns>(static_cast<double>(linked.elements[c]) * 4 * 2 * (n - 1) / n / (1u << 30) / 200 * 1e9));
    RunChange link;
    link.link = 200;
    const RunReplay over = replay_run(report_on(recorded, {}), link);
    const Program::Times moved = linked.run();
    CHECK(std::abs(before - over.gain() - (moved.end - moved.begin)) <= 20);
  }
}

TEST_CASE("a list of changes of ranks that cannot be read says why") {
  for (const char* text :
       {"rank x", "rank -1", "rank", "on", "on 1.5", "link", "link 0", "link nan", "link -3", "link 1e-300", "link 1e7"})
    CHECK_MESSAGE(!read_run_change({text}).ok(), text);
  CHECK_FALSE(read_run_change({"gpu 0.5", "on 3"}).ok());
  CHECK_FALSE(read_run_change({"on 2", "gpu 0.5", "on 3", "rank 3"}).ok());
  const RunChange change = *read_run_change({"gpu 0.5", "on 3", "remove a b", "rank 2", "link 100"});
  REQUIRE(change.changes.size() == 2);
  CHECK(change.changes[0].rank == -1);
  CHECK(change.changes[1].rank == 3);
  CHECK(change.changes[1].text == "remove a b");
  CHECK(change.never_late == std::vector<std::int64_t>{2});
  CHECK(change.link == 100);
}
