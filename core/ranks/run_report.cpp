#include "core/ranks/run_report.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "core/base/failure.h"
#include "core/base/parallel.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr Ns kFarClocks = 10 * kNsPerS;  // further apart no clocks of one cluster are
constexpr std::size_t kRanksAsked = 16;  // read again to see what they were doing
constexpr Ns kOneHost = 100 * kNsPerUs;  // clocks of one host agree far better

// Where a recording begins on its own clock, and how far that is from the middle one's.
Ns begin_of(const RankData& r) { return r.base + r.span.begin; }
std::vector<bool> far_from_most(const std::vector<RankData>& ranks) {
  std::vector<Ns> begins;
  for (const RankData& r : ranks) begins.push_back(begin_of(r));
  std::nth_element(begins.begin(), begins.begin() + static_cast<std::ptrdiff_t>((begins.size() - 1) / 2), begins.end());
  const Ns middle = begins[(begins.size() - 1) / 2];
  std::vector<bool> far;
  for (const RankData& r : ranks) far.push_back(begin_of(r) > middle + kFarClocks || r.base + r.span.end < middle - kFarClocks);
  return far;
}

// Those that do not fit the others, neither in time nor in their collectives; true where any was left out.
bool leave_out_foreign(RunReport& report) {
  std::vector<RankData>& ranks = report.run.ranks;
  if (ranks.size() < 2) return false;
  const std::vector<bool> far = far_from_most(ranks);
  std::vector<RankData> chosen;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankClock& clock = report.clocks.ranks[r];
    if (!far[r] || !ranks[r].has_base || (clock.compared && clock.residual <= report.clocks.shortest_latency)) {
      chosen.push_back(std::move(ranks[r]));
      continue;
    }
    report.run.all_used = false;
    report.run.problems.push_back(fmt::format(
        "Rank {} is of another recording ({}): it was made {} from the others, and its collectives do not fit theirs. It is "
        "left out.",
        ranks[r].rank, printable(ranks[r].file),
        format_duration(
            std::abs(begin_of(ranks[r]) - begin_of(chosen.empty() ? ranks[(r + 1) % ranks.size()] : chosen.front())))));
  }
  const bool any = chosen.size() < ranks.size();
  ranks = std::move(chosen);
  return any;
}

// Order and names alone prove nothing: where the ends of what was matched so do not agree, those are not the same collectives.
bool leave_out_by_order(RunReport& report) {
  std::vector<RankData>& ranks = report.run.ranks;
  const bool any = std::any_of(ranks.begin(), ranks.end(), [](const RankData& r) { return r.by_order; });
  if (!any || (report.clocks.compared > 0 && report.clocks.trustworthy())) return false;
  for (RankData& r : ranks) {
    if (!r.by_order) continue;
    r.by_order = false;
    r.unnamed = r.collectives.size();
    for (const RankCollective& c : r.collectives) r.unnamed_time += c.span.length();
    r.collectives.clear();
    r.whats.clear();
    r.file_order.clear();
  }
  return true;
}

void report_by_order(RunReport& report) {
  std::vector<std::int64_t> ranks;
  std::size_t count = 0;
  for (const RankData& r : report.run.ranks)
    if (r.by_order) ranks.push_back(r.rank), count += r.collectives.size();
  if (!ranks.empty())
    report.run.problems.push_back(fmt::format(
        "The {} collectives of {} {} state neither group nor size: they are matched by their order, names and grids, and their "
        "ends agree to {}.",
        format_count(static_cast<std::int64_t>(count)), ranks.size() == 1 ? "rank" : "ranks", list_of(ranks),
        format_duration(report.clocks.worst_residual)));
}

void report_shared_gpus(RunReport& report) {
  std::map<std::int32_t, std::vector<std::size_t>> on_device;
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r)
    if (report.run.ranks[r].device >= 0) on_device[report.run.ranks[r].device].push_back(r);
  for (const auto& [device, ranks] : on_device) {
    if (ranks.size() < 2 || report.run.world_size > static_cast<std::int64_t>(report.run.ranks[ranks[0]].host_gpus)) continue;
    std::vector<std::int64_t> together;
    for (const std::size_t r : ranks)
      if (report.clocks.ranks[r].compared &&
          std::abs(report.clocks.ranks[r].offset - report.clocks.ranks[ranks[0]].offset) < kOneHost)
        together.push_back(report.run.ranks[r].rank);
    if (together.size() < 2) continue;
    report.run.problems.push_back(
        fmt::format("Ranks {} all worked on GPU {} and their clocks agree as on one host: they share it, so each one's idle "
                    "time holds work of the others.",
                    list_of(together), device));
  }
}

void report_unmatched(RunReport& report) {
  std::uint64_t without = 0, all = 0;
  std::vector<std::int64_t> ranks;
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r) {
    all += report.run.ranks[r].collectives.size();
    without += report.matches.unmatched[r];
    if (report.matches.unmatched[r] > 0) ranks.push_back(report.run.ranks[r].rank);
  }
  if (without == 0 || report.run.ranks.size() < 2) return;
  report.run.problems.push_back(fmt::format(
      "{} of {} collectives have no partner in another rank: those of {} {}.", format_count(static_cast<std::int64_t>(without)),
      format_count(static_cast<std::int64_t>(all)), ranks.size() == 1 ? "rank" : "ranks", list_of(ranks)));
}

void report_clocks(RunReport& report) {
  const Clocks& clocks = report.clocks;
  if (report.run.ranks.size() < 2) return;
  if (clocks.compared == 0) {
    if (!report.matches.all.empty())
      report.run.problems.push_back(
          "The ranks' clocks could not be compared: no collective of all ranks (all-reduce, all-gather, reduce-scatter, "
          "all-to-all) is in two of the recordings.");
    return;
  }
  std::vector<std::int64_t> alone;
  for (std::size_t r = 0; r < clocks.ranks.size(); ++r)
    if (!clocks.ranks[r].compared) alone.push_back(report.run.ranks[r].rank);
  if (!alone.empty())
    report.run.problems.push_back(
        fmt::format("The clock of {} {} could not be compared with the others': it is used as its file states it.",
                    alone.size() == 1 ? "rank" : "ranks", list_of(alone)));
  if (clocks.trustworthy()) return;
  if (clocks.worst_residual > clocks.shortest_latency)
    report.run.problems.push_back(fmt::format(
        "Do not trust the waits: the ends of collectives agree only within {}, and the shortest collective takes {}.",
        format_duration(clocks.worst_residual), format_duration(clocks.shortest_latency)));
  else
    report.run.problems.push_back(
        fmt::format("Do not trust the waits: in {} of {} collectives a rank comes after another has left, by up to {}.",
                    format_count(static_cast<std::int64_t>(clocks.impossible)),
                    format_count(static_cast<std::int64_t>(clocks.compared)), format_duration(clocks.worst_impossible)));
}

// The ranks that cost most are read again; a step whose late rank is not among them has no answer.
void ask_late_ranks(RunReport& report, RankReader& reader) {
  const std::vector<LateRank>& late = report.waits.late;
  report.doing.resize(late.size());
  std::map<std::uint32_t, Ns> cost;
  for (const LateRank& l : late) cost[l.rank] += l.lost;
  std::vector<std::pair<Ns, std::uint32_t>> order;
  for (const auto& [rank, lost] : cost) order.emplace_back(-lost, rank);
  std::sort(order.begin(), order.end());
  if (order.size() > kRanksAsked) order.resize(kRanksAsked);
  std::vector<DoingQuestion> questions;
  std::vector<std::size_t> of_question;
  for (const auto& [lost, rank] : order)
    for (std::size_t i = 0; i < late.size(); ++i)
      if (late[i].rank == rank) questions.push_back({report.run.ranks[rank].file, late[i].meanwhile}), of_question.push_back(i);
  std::vector<DoingAnswer> answers = reader.answer(questions);
  for (std::size_t q = 0; q < questions.size(); ++q) report.doing[of_question[q]] = std::move(answers[q]);
}

}  // namespace

Ns RunReport::windows() const {
  Ns sum = 0;
  for (const RankData& r : run.ranks) sum += r.account.window;
  return sum;
}

Ns RunReport::waited_for(std::uint32_t rank) const {
  Ns sum = 0;
  for (const RankNumbers& n : waits.ranks)
    for (const WaitingFor& w : n.waiting)
      if (w.rank == rank) sum += w.time;
  return sum;
}

std::vector<ReadFile> LocalReader::read(const std::vector<std::string>& files) {
  std::vector<ReadFile> out(files.size());
  const int at_once = std::min(options_.at_once, hardware_threads());
  const int threads = std::max(1, hardware_threads() / at_once);
  read_.resize(static_cast<std::size_t>(at_once));
  std::atomic<std::size_t> next{0};
  run_workers(at_once, [&](int worker) {
    FullRank& full = read_[static_cast<std::size_t>(worker)];
    for (std::size_t i = next++; i < files.size(); i = next++) {
      full = {};
      try {
        Result<FullRank> opened = open_rank(files[i], threads, options_.stated);
        if (!opened.ok()) {
          out[i].error = opened.error().message;
          continue;
        }
        full = std::move(*opened);
        out[i].data = reduce_rank(full);
        out[i].data.replay = rank_replay(full, out[i].data, options_.change);
        whats_.share(out[i].data);
        if (options_.row_slices > 0) out[i].data.rows = std::make_shared<const RankRows>(rank_rows(full, options_.row_slices));
      } catch (...) {
        full = {};
        out[i].error = current_failure("read", files[i]).message;
      }
    }
  });
  return out;
}

std::vector<DoingAnswer> LocalReader::answer(const std::vector<DoingQuestion>& questions) {
  std::vector<DoingAnswer> out(questions.size());
  std::map<std::string, std::vector<std::size_t>> of_file;
  for (std::size_t q = 0; q < questions.size(); ++q) of_file[questions[q].file].push_back(q);
  const auto answer_all = [&](const FullRank& full, const std::vector<std::size_t>& asked) {
    for (const std::size_t q : asked) out[q] = doing_in(full, questions[q].spans);
  };
  for (const FullRank& full : read_)
    if (const auto at = full.session ? of_file.find(full.session->trace().path) : of_file.end(); at != of_file.end()) {
      answer_all(full, at->second);
      of_file.erase(at);
    }
  if (of_file.empty()) return out;
  read_.clear();
  std::vector<const std::pair<const std::string, std::vector<std::size_t>>*> files;
  for (const auto& file : of_file) files.push_back(&file);
  const int at_once = std::min({options_.at_once, hardware_threads(), static_cast<int>(files.size())});
  const int threads = std::max(1, hardware_threads() / at_once);
  std::atomic<std::size_t> next{0};
  run_workers(at_once, [&](int) {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      try {
        const Result<FullRank> full = open_rank(files[i]->first, threads, options_.stated);
        if (full.ok()) answer_all(*full, files[i]->second);
      } catch (...) {
        for (const std::size_t q : files[i]->second) out[q] = {};  // no answer, as of a file that is gone
      }
    }
  });
  return out;
}

namespace {

constexpr std::size_t kMostMerged = 512;  // each is a pass over the file

// Several ranks that were merged into one file are read one by one, where it is the only file. Of several files each is a rank.
std::vector<ReadFile> read_ranks(const std::vector<std::string>& files, RankReader& reader) {
  std::vector<ReadFile> out = reader.read(files);
  if (out.size() != 1 || !out.front().error.empty()) return out;
  if (const std::size_t ranks = out.front().data.holds_ranks.size(); ranks == 0 || ranks > kMostMerged) return out;
  const RankData merged = std::move(out.front().data);
  std::vector<std::string> each;
  for (const std::int32_t rank : merged.holds_ranks) each.push_back(rank_path(merged.file, rank));
  out = reader.read(each);
  for (ReadFile& file : out)
    file.data.world_size = std::max(merged.world_size, static_cast<std::int64_t>(merged.holds_ranks.size()));
  return out;
}

}  // namespace

RunReport analyze_run(const std::vector<std::string>& files, RankReader& reader, ClockAlignment alignment) {
  std::vector<RankData> ranks;
  std::vector<std::string> errors;
  WhatPool whats;
  for (ReadFile& file : read_ranks(files, reader)) {
    if (!file.error.empty()) {
      errors.push_back(std::move(file.error));
      continue;
    }
    whats.share(file.data);  // of ranks that came from several readers
    ranks.push_back(std::move(file.data));
  }
  RunReport report;
  report.run = choose_run(std::move(ranks), errors);
  do {
    report.matches = match_collectives(report.run.ranks);
    report.clocks = align_clocks(report.run.ranks, report.matches, alignment);
  } while (leave_out_foreign(report) || leave_out_by_order(report));
  judge_ranks(report.run);
  report_by_order(report);
  report.waits = count_waits(report.run.ranks, report.matches, report.clocks);
  report_unmatched(report);
  report_clocks(report);
  report_shared_gpus(report);
  ask_late_ranks(report, reader);
  report.findings = find_in_run(report);
  for (RunFinding& f : report.findings)
    if (!f.remedy.empty() && can_replay(report)) f.gain = replay_run(report, f.remedy);
  return report;
}

}  // namespace gapscope
