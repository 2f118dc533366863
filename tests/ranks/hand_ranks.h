#pragma once
// Ranks written by hand, for tests that need collectives but no files.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ranks/run_report.h"

namespace gapscope::test {

inline CollectiveWhat all_reduce_of(std::string members, std::int64_t size, std::int64_t elements = 1 << 20) {
  CollectiveWhat w;
  w.type = CollectiveType::all_reduce;
  w.name = "allreduce";
  w.dtype = "Float";
  w.group = w.members = std::move(members);
  w.in_elements = w.out_elements = elements;
  w.group_size = size;
  return w;
}

inline std::shared_ptr<const CollectiveWhat> shared_what(CollectiveWhat what) {
  return std::make_shared<const CollectiveWhat>(std::move(what));
}

// `begins` of one all-reduce after another; each ends `transfer` after the latest of all ranks has come. Every microsecond of
// the window that no collective takes is computed.
struct HandRun {
  Ns transfer = 50 * kNsPerUs;
  std::vector<RankData> ranks;

  HandRun(const std::vector<std::vector<Ns>>& begins, const std::vector<Ns>& clocks) {
    std::string members = "[";
    for (std::size_t r = 0; r < begins.size(); ++r) members += (r == 0 ? "" : ", ") + std::to_string(r);
    members += "]";
    for (std::size_t r = 0; r < begins.size(); ++r) {
      RankData rank;
      rank.file = "rank" + std::to_string(r) + ".json";
      rank.rank = static_cast<std::int64_t>(r);
      rank.world_size = static_cast<std::int64_t>(begins.size());
      rank.has_base = true;
      rank.base = 1'000'000'000'000 + clocks[r];
      rank.device = 0;
      rank.devices = 1;
      rank.whats.push_back(shared_what(all_reduce_of(members, rank.world_size)));
      ranks.push_back(rank);
    }
    for (std::size_t i = 0; i < begins[0].size(); ++i) {
      Ns latest = 0;
      for (const auto& of_rank : begins) latest = std::max(latest, of_rank[i]);
      for (std::size_t r = 0; r < begins.size(); ++r)
        ranks[r].collectives.push_back({{begins[r][i], latest + transfer}, 0, kNoStep});
    }
    for (RankData& rank : ranks) {
      rank.span = rank.window = {0, rank.collectives.back().span.end};
      SpanSet exposed;
      for (const RankCollective& c : rank.collectives) append(exposed, c.span);
      rank.exposed_communication = PackedSpans(exposed);
      rank.account.window = rank.window.length();
      rank.account.exposed_communication = length(exposed);
      rank.account.compute = rank.account.window - rank.account.exposed_communication;
    }
  }
};

// The whole report of ranks that were written by hand, as if they had been read; `errors`: of files that could not be.
inline RunReport report_of(std::vector<RankData> ranks, const std::vector<std::string>& errors = {}) {
  struct Given : RankReader {
    std::vector<ReadFile> files;
    std::vector<ReadFile> read(const std::vector<std::string>&) override { return std::move(files); }
    std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override {
      return std::vector<DoingAnswer>(questions.size());
    }
  } reader;
  for (RankData& r : ranks) reader.files.push_back({std::move(r), {}});
  for (const std::string& error : errors) reader.files.push_back({{}, error});
  return analyze_run({}, reader, ClockAlignment::collectives);
}

}  // namespace gapscope::test
