// `gapscope whatif FOLDER`: the ranks of a run replayed together.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/ranks.h"
#include "app/cli/whatif_report.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/ranks/run_path.h"
#include "core/ranks/run_report.h"
#include "core/replay/limits.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRunStepsShown = 20, kReplayedRanksShown = 16, kRunProblemsShown = 5, kRunSumsShown = 16,
                      kPathNameChars = 60;

// What late ranks did is not asked.
class ReplayReader final : public LocalReader {
 public:
  using LocalReader::LocalReader;
  std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override {
    return std::vector<DoingAnswer>(questions.size());
  }
};

struct Answer {
  const RunReport& report;
  const RunReplay& replay;
  bool changed = false;
  const RunPath* path = nullptr;  // asked for
  std::vector<RunPathSum> sums{};
};

std::string steps_of(const RunReplay& replay) {
  std::string out;
  for (std::size_t i = 0; i < std::min(replay.steps.size(), kRunStepsShown); ++i)
    out += fmt::format("  {:<24} {}\n", elide_middle(printable(replay.steps[i].name), 24),
                       before_and_after(replay.steps[i].before, replay.steps[i].after));
  if (replay.steps.size() > kRunStepsShown)
    out += fmt::format("  and {}\n", counted(replay.steps.size() - kRunStepsShown, "more step"));
  return out;
}

// Those that change most where there are many.
std::string ranks_of(const Answer& a) {
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < a.replay.ranks.size(); ++r) order.push_back(r);
  if (order.size() > kReplayedRanksShown) {
    const auto gain = [&](std::size_t r) { return a.replay.ranks[r].before - a.replay.ranks[r].after; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return gain(x) > gain(y); });
    order.resize(kReplayedRanksShown);
  }
  std::string out;
  for (const std::size_t r : order) {
    const ReplayedRank& rank = a.replay.ranks[r];
    out += fmt::format("  rank {:<5} {}; GPU busy for {} before, {} after\n", a.report.run.ranks[r].rank,
                       before_and_after(rank.before, rank.after), format_percent(rank.busy_before),
                       format_percent(rank.busy_after));
  }
  if (order.size() < a.replay.ranks.size())
    out += fmt::format("  and {}\n", counted(a.replay.ranks.size() - order.size(), "more rank"));
  return out;
}

std::string late_words(const Answer& a) {
  if (!a.replay.is_late()) return "then no rank is late by itself\n";
  return fmt::format("then rank {} is late: without it the others would have waited {} less\n",
                     a.report.run.ranks[a.replay.late].rank, format_duration(a.replay.late_cost));
}

std::string gains_of(const RunReport& report) {
  std::string out;
  for (const RunFinding& f : report.findings)
    if (const std::string gain = gain_sentence(report, f); !gain.empty()) out += fmt::format("  {} {}\n", f.text, gain);
  return out.empty() ? "No rank is late by itself, so there is no remedy to replay.\n"
                     : "what each remedy alone would save\n" + out;
}

std::string share_of_run(Ns part, Ns run) {
  return fmt::format("{:>9} {:>7}", format_duration(part),
                     format_percent(run > 0 ? static_cast<double>(part) / static_cast<double>(run) : 0));
}

std::string path_of(const Answer& a) {
  const Ns run = a.path->run.length();
  std::string out = fmt::format("\nbottlenecks, {} in total\n", format_duration(run));
  for (std::size_t i = 0; i < kHeldBy; ++i)
    if (a.path->by[i] > 0)
      out += fmt::format("  {:<22} {}\n", held_by_words(static_cast<HeldBy>(i)), share_of_run(a.path->by[i], run));
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < a.path->by_rank.size(); ++r)
    if (a.path->by_rank[r] > 0) order.push_back(r);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t x, std::uint32_t y) { return a.path->by_rank[x] > a.path->by_rank[y]; });
  out += "by rank\n";
  for (std::size_t i = 0; i < std::min(order.size(), kReplayedRanksShown); ++i)
    out += fmt::format("  rank {:<17} {}\n", a.report.run.ranks[order[i]].rank, share_of_run(a.path->by_rank[order[i]], run));
  out += "by name\n";
  for (std::size_t i = 0; i < std::min(a.sums.size(), kRunSumsShown); ++i) {
    const RunPathSum& s = a.sums[i];
    out += fmt::format("  {}  rank {}: {}{}\n", share_of_run(s.time, run), a.report.run.ranks[s.rank].rank, s.what,
                       s.name.empty() ? "" : ": " + elide_middle(printable(s.name), kPathNameChars));
  }
  if (a.sums.size() > kRunSumsShown) out += fmt::format("  and {} more\n", a.sums.size() - kRunSumsShown);
  return out;
}

std::string text_of_run(const Answer& a) {
  std::string out;
  if (a.changed)
    out = fmt::format("the run of {} {}\n{}each rank\n{}{}", counted(a.replay.ranks.size(), "rank"),
                      before_and_after(a.replay.before, a.replay.after), steps_of(a.replay), ranks_of(a), late_words(a));
  else
    out = gains_of(a.report);
  if (a.path != nullptr) out += path_of(a);
  const std::vector<std::string>& problems = a.report.run.problems;
  if (!problems.empty()) out += "\nwhat to know before trusting this\n";
  for (std::size_t i = 0; i < std::min(problems.size(), kRunProblemsShown); ++i) out += "  " + printable(problems[i]) + '\n';
  std::uint32_t clocks = 0;
  for (const RankData& rank : a.report.run.ranks) clocks += rank.replay->model->clocks_at_once();
  return out + fmt::format(
                   "\n{}\nThe length of a step is that of the slowest rank. Streams count as waiting for each other where work "
                   "began within 10 us of a collective.\n",
                   replay_limits(0, clocks));
}

Json steps_json(const std::vector<RunStep>& steps) {
  Json out = Json::array();
  for (const RunStep& s : steps) out.push_back({{"name", s.name}, {"before_ns", s.before}, {"after_ns", s.after}});
  return out;
}

Json path_json_of(const Answer& a) {
  const auto rank = [&](std::uint32_t r) { return a.report.run.ranks[r].rank; };
  Json by = Json::object(), ranks = Json::array(), sums = Json::array(), stretches = Json::array();
  for (std::size_t i = 0; i < kHeldBy; ++i) by[std::string(held_by_key(static_cast<HeldBy>(i)))] = a.path->by[i];
  for (std::uint32_t r = 0; r < a.path->by_rank.size(); ++r) ranks.push_back({{"rank", rank(r)}, {"ns", a.path->by_rank[r]}});
  for (const RunPathSum& s : a.sums)
    sums.push_back({{"rank", rank(s.rank)},
                    {"by", held_by_key(s.by)},
                    {"cause", s.cause ? Json(idle_cause_key(*s.cause)) : Json(nullptr)},
                    {"name", s.name.empty() ? Json(nullptr) : Json(s.name)},
                    {"ns", s.time}});
  for (const RunStretch& s : a.path->path)
    stretches.push_back({{"rank", rank(s.rank)},
                         {"by", held_by_key(s.stretch.by)},
                         {"begin_ns", s.span.begin - a.path->run.begin},
                         {"end_ns", s.span.end - a.path->run.begin}});
  return {{"length_ns", a.path->run.length()}, {"by", by}, {"ranks", ranks}, {"sums", sums}, {"stretches", stretches}};
}

std::string json_of_run(const Answer& a) {
  Json ranks = Json::array();
  for (std::size_t r = 0; r < a.replay.ranks.size(); ++r) {
    const ReplayedRank& rank = a.replay.ranks[r];
    ranks.push_back({{"rank", a.report.run.ranks[r].rank},
                     {"before_ns", rank.before},
                     {"after_ns", rank.after},
                     {"gpu_busy", {{"before", rank.busy_before}, {"after", rank.busy_after}}},
                     {"steps", steps_json(rank.steps)}});
  }
  Json out = {{"before_ns", a.replay.before},
              {"after_ns", a.replay.after},
              {"steps", steps_json(a.replay.steps)},
              {"ranks", std::move(ranks)},
              {"late", nullptr},
              {"problems", a.report.run.problems}};
  if (a.replay.is_late()) out["late"] = {{"rank", a.report.run.ranks[a.replay.late].rank}, {"cost_ns", a.replay.late_cost}};
  if (a.path != nullptr) out["path"] = path_json_of(a);
  if (a.changed) return json_text(out);
  out["findings"] = Json::array();
  for (const RunFinding& f : a.report.findings)
    if (f.gain)
      out["findings"].push_back({{"kind", run_finding_word(f.kind)}, {"rank", f.rank}, {"gain", run_gain_json(a.report, f)}});
  return json_text(out);
}

// Why a change is none of any rank that it is meant for, or empty.
std::string trouble_of(const RunReport& report, const RunChange& change) {
  const auto& ranks = report.run.ranks;
  const auto is_here = [&](std::int64_t rank) {
    return std::any_of(ranks.begin(), ranks.end(), [&](const RankData& r) { return r.rank == rank; });
  };
  for (const std::int64_t rank : change.never_late)
    if (!is_here(rank)) return fmt::format("No trace of rank {} was given.", rank);
  for (std::size_t i = 0; i < change.changes.size(); ++i) {
    if (change.changes[i].rank >= 0 && !is_here(change.changes[i].rank))
      return fmt::format("No trace of rank {} was given.", change.changes[i].rank);
    std::string why;
    bool any = false;
    for (const RankData& r : ranks) {
      const std::string& trouble = r.replay->troubles[i];
      any = any || (trouble.empty() && (change.changes[i].rank < 0 || change.changes[i].rank == r.rank));
      if (!trouble.empty()) why = trouble;
    }
    if (!any) return why;
  }
  return {};
}

}  // namespace

int whatif_run(const WhatIfOptions& options) {
  if (!options.roofline.empty()) return complain(kUsage, "--roofline works for one trace, not for several ranks.");
  const Result<RunChange> change = read_run_change(options.changes);
  if (!change.ok()) return complain(kUsage, change.error().message);
  const RankFiles found = find_rank_files(options.traces);
  ReplayReader reader({.change = *change, .stated = trace_arguments().stated});
  RunReport report = analyze_run(found.files, reader, ClockAlignment::collectives);
  report.run.problems.insert(report.run.problems.begin(), found.problems.begin(), found.problems.end());
  if (!can_replay(report)) {
    for (const std::string& problem : report.run.problems) complain(kBadInput, problem);
    return complain(kBadInput, "A replay of ranks needs the traces of two or more ranks of one run.");
  }
  if (const std::string trouble = trouble_of(report, *change); !trouble.empty()) return complain(kUsage, trouble);
  const RunPath path = options.path ? run_path(report, *change) : RunPath{};
  const RunReplay replay = options.path ? path.replay : replay_run(report, *change);
  Answer answer{report, replay, !change->empty(), options.path ? &path : nullptr};
  if (options.path) answer.sums = run_path_sums(report, path);
  const int printed = print(options.json ? json_of_run(answer) : text_of_run(answer));
  return printed == kOk && !(report.run.all_used && found.problems.empty()) ? kBadInput : printed;
}

}  // namespace gapscope
