// What is wrong with a run, seen in the numbers of all ranks. Every threshold is a share of the ranks' time, so that noise of
// a few microseconds is none.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace {

constexpr double kLeastStraggler = 0.03;           // of the others' time
constexpr double kLeastStep = 0.10;                // of the others' time in that step
constexpr double kSlowLink = 0.6;                  // of the middle group's bandwidth
constexpr std::uint64_t kLargeMessage = 1u << 20;  // bytes; smaller ones are bound by latency
constexpr std::size_t kLeastOfLink = 3;
constexpr double kLeastTransfer = 0.15;
constexpr double kUnequal = 0.10, kUnequalOfWindow = 0.03;
constexpr Ns kLeastAlone = kNsPerMs;

double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

class Finder {
 public:
  explicit Finder(const RunReport& report) : r_(report), ranks_(report.run.ranks) {}

  std::vector<RunFinding> run() {
    if (ranks_.empty()) return {};
    stragglers();
    slow_links();
    not_overlapped();
    unequal_work();
    other_order();
    alone(RunFindingKind::compiles_alone, &RankData::compiling, "compiles",
          "Recompilations come from shapes or values that only this rank sees: look at what it compiles, and mark the "
          "dimension dynamic.");
    alone(RunFindingKind::collects_alone, &RankData::collecting, "collects garbage",
          "Collect on all ranks in the same step: gc.disable() and gc.collect() every so many steps.");
    std::stable_sort(out_.begin(), out_.end(), [](const RunFinding& a, const RunFinding& b) { return a.cost > b.cost; });
    return std::move(out_);
  }

 private:
  // The step that this rank cost most in, or null.
  const LateRank* worst_step(std::uint32_t rank) const {
    const LateRank* worst = nullptr;
    for (const LateRank& l : r_.waits.late)
      if (l.rank == rank && !l.step.empty() && (worst == nullptr || l.lost_alone > worst->lost_alone)) worst = &l;
    return worst;
  }

  // Of all ranks but one: how long their step of that name was.
  Ns step_of_others(const LateRank& late) const {
    Ns sum = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      for (const RankStep& step : ranks_[r].steps)
        if (r != late.rank && step.name == late.step) sum += step.span.length();
    return sum;
  }

  void stragglers() {
    const Ns windows = r_.windows();
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const Ns lost = r_.waits.lost_alone[r];
      const Ns others = windows - ranks_[r].account.window;
      const LateRank* step = worst_step(r);
      const bool in_a_step = step != nullptr && share(step->lost_alone, step_of_others(*step)) >= kLeastStep &&
                             share(lost, others) >= kLeastStraggler / 3;
      if (share(lost, others) < kLeastStraggler && !in_a_step) continue;
      RunFinding f{RunFindingKind::straggler, {}, lost, ranks_[r].rank, {}, step ? step->step : ""};
      const bool pair = ranks_.size() == 2;
      f.text = fmt::format(
          "Rank {} comes late: without it {} would have waited {} less, {} of {} time, concurrent with compute or not",
          ranks_[r].rank, pair ? fmt::format("rank {}", ranks_[1 - r].rank) : "the others", format_duration(lost),
          format_percent(share(lost, others)), pair ? "its" : "their");
      f.text += step ? fmt::format("; {} of that in {}.", format_duration(step->lost_alone), printable(step->step)) : ".";
      f.remedy.never_late = {f.rank};
      out_.push_back(std::move(f));
    }
  }

  // The bandwidths of the links that carry messages of one type and size, and whose they are.
  struct Link {
    std::string ranks;
    std::vector<double> bandwidths;
    Ns time = 0;
    double median = 0;
  };

  std::string ranks_of(const Matched& m) const {
    std::vector<std::int64_t> numbers;
    for (const Member& member : r_.matches.of(m)) numbers.push_back(ranks_[member.rank].rank);
    return list_of(numbers);
  }

  void slow_links() {
    std::map<std::string, std::map<std::string, Link>> alike;
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i) {
      const Matched& m = r_.matches.all[i];
      const Member& first = r_.matches.of(m).front();
      const CollectiveWhat& w = ranks_[first.rank].what(first.at);
      const CollectiveNumbers& n = r_.waits.collectives[i];
      if (!(waits_for_all(w.type) || is_point_to_point(w.type)) || w.full_bytes() < kLargeMessage || n.latency <= 0) continue;
      const std::string type = is_point_to_point(w.type) ? "send and receive" : std::string(collective_type_words(w.type));
      const std::string ranks = ranks_of(m);
      Link& link = alike[fmt::format("{} of {}\n{}", type, format_bytes(w.full_bytes()), w.group_size)][ranks];
      link.ranks = ranks;
      link.bandwidths.push_back(static_cast<double>(w.full_bytes()) / static_cast<double>(n.latency));
      link.time += n.latency;
    }
    for (auto& [what, links] : alike) slow_among(what.substr(0, what.find('\n')), links);
  }

  void slow_among(const std::string& what, std::map<std::string, Link>& links) {
    std::vector<double> medians;
    for (auto& [ranks, link] : links) {
      std::nth_element(link.bandwidths.begin(),
                       link.bandwidths.begin() + static_cast<std::ptrdiff_t>(link.bandwidths.size() / 2),
                       link.bandwidths.end());
      link.median = link.bandwidths[link.bandwidths.size() / 2];
      medians.push_back(link.median);
    }
    if (medians.size() < 2) return;
    std::sort(medians.begin(), medians.end());
    const double middle = medians[medians.size() / 2];  // of two the faster
    for (const auto& [ranks, link] : links) {
      if (link.bandwidths.size() < kLeastOfLink || link.median >= kSlowLink * middle || reported_links_.contains(ranks))
        continue;
      reported_links_.insert(ranks);
      RunFinding f{RunFindingKind::slow_link,
                   {},
                   static_cast<Ns>(static_cast<double>(link.time) * (1 - link.median / middle)),
                   -1,
                   ranks,
                   {}};
      f.text = fmt::format("The link between ranks {} is slow: {} moves {} GB/s, in the {} other {} the median is {} GB/s.",
                           ranks, what, format_significant(link.median), medians.size() - 1,
                           medians.size() == 2 ? "group" : "groups", format_significant(middle));
      out_.push_back(std::move(f));
    }
  }

  void not_overlapped() {
    Ns transfer = 0, communication = 0, exposed = 0;
    for (const RankNumbers& n : r_.waits.ranks) transfer += n.transfer, communication += n.communication, exposed += n.exposed;
    if (share(transfer, r_.windows()) < kLeastTransfer) return;
    RunFinding f{RunFindingKind::not_overlapped, {}, transfer, -1, {}, {}};
    f.text = fmt::format(
        "Communication is not overlapped: {} of the ranks' time goes into transfers with no concurrent compute, and {} "
        "of all communication is hidden "
        "behind compute. Start it earlier, in larger pieces.",
        format_percent(share(transfer, r_.windows())), format_percent(share(communication - exposed, communication)));
    out_.push_back(std::move(f));
  }

  // Each rank's kernels as they would run undisturbed, a step.
  void unequal_work() {
    std::vector<std::pair<Ns, std::uint32_t>> work;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].device >= 0) work.emplace_back(ranks_[r].compute_work / steps_of(r), r);
    if (work.size() < 2) return;
    std::sort(work.begin(), work.end());
    const Ns middle = work[(work.size() - 1) / 2].first;
    const auto [most, rank] = work.back();
    const Ns more = (most - middle) * steps_of(rank);
    if (static_cast<double>(most - middle) < kUnequal * static_cast<double>(middle) ||
        share(more, ranks_[rank].account.window) < kUnequalOfWindow)
      return;
    RunFinding f{RunFindingKind::unequal_work, {}, more, ranks_[rank].rank, {}, {}};
    f.text = fmt::format("Work is unequal: undisturbed, the kernels of rank {} take {}{}, those of the {} {}.",
                         ranks_[rank].rank, format_duration(most), steps_of(rank) > 1 ? " a step" : "",
                         ranks_.size() == 2 ? "other" : "middle rank", format_duration(middle));
    out_.push_back(std::move(f));
  }
  Ns steps_of(std::uint32_t r) const { return static_cast<Ns>(std::max<std::size_t>(1, ranks_[r].steps.size())); }

  void other_order() {
    if (r_.matches.troubles.empty()) return;
    const OrderTrouble& t = r_.matches.troubles.front();
    const auto name = [&](std::uint32_t rank, std::uint32_t at) { return printable(ranks_[rank].what(at).name); };
    RunFinding f{RunFindingKind::other_order, {}, 0, ranks_[t.rank_b].rank, {}, {}};
    f.text = fmt::format(
        "Rank {} calls {} where rank {} calls {}, {} in one group: ranks that disagree on the next collective can hang. {} of "
        "ranks {} this.",
        ranks_[t.rank_b].rank, name(t.rank_b, t.at_b), ranks_[t.rank_a].rank, name(t.rank_a, t.at_a),
        t.same_set ? "the same few in another order" : "another collective", counted(r_.matches.troubles.size(), "pair"),
        r_.matches.troubles.size() == 1 ? "does" : "do");
    out_.push_back(std::move(f));
  }

  // What most other ranks do not do at all.
  void alone(RunFindingKind kind, HostEvents RankData::*events, std::string_view does, std::string_view advice) {
    if (ranks_.size() < 2) return;
    std::vector<std::uint32_t> doing;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      if ((ranks_[r].*events).time >= kLeastAlone) doing.push_back(r);
    if (doing.empty() || doing.size() * 4 > std::max<std::size_t>(4, ranks_.size()) || doing.size() == ranks_.size()) return;
    for (const std::uint32_t r : doing) {
      const HostEvents& e = ranks_[r].*events;
      RunFinding f{kind, {}, e.time, ranks_[r].rank, {}, {}};
      f.text = fmt::format("Rank {} alone {}: {} in {} ({}). {}", ranks_[r].rank, does, format_duration(e.time),
                           e.count == 1 ? "one stretch" : fmt::format("{} stretches", e.count),
                           elide_middle(printable(e.first), 60), advice);
      out_.push_back(std::move(f));
    }
  }

  const RunReport& r_;
  const std::vector<RankData>& ranks_;
  std::set<std::string> reported_links_;
  std::vector<RunFinding> out_;
};

}  // namespace

std::string_view run_finding_word(RunFindingKind kind) {
  constexpr std::array<std::string_view, 7> kWords = {"straggler",   "slow_link",      "not_overlapped", "unequal_work",
                                                      "other_order", "compiles_alone", "collects_alone"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string gain_change(const RunFinding& finding) {
  return finding.remedy.never_late.empty() ? "" : fmt::format("--rank {}", finding.remedy.never_late.front());
}

namespace {

constexpr double kLeastWaited = 0.01;  // of what the others' GPUs waited

// Whether calls of other ranks' hosts waited for the late rank: only then do these come sooner without it.
bool have_waited(const RunReport& report, const RunFinding& finding) {
  Ns less = 0;
  for (std::size_t r = 0; r < finding.gain->ranks.size(); ++r)
    if (report.run.ranks[r].rank != finding.rank) add_saturating(less, finding.gain->ranks[r].waits_less);
  return static_cast<double>(less) >= kLeastWaited * static_cast<double>(finding.cost);
}

}  // namespace

std::string gain_sentence(const RunReport& report, const RunFinding& finding) {
  if (!finding.gain || finding.gain->before <= 0 || finding.remedy.never_late.empty()) return {};
  const RunReplay& g = *finding.gain;
  if (g.gain() * 1000 < g.before)
    return fmt::format("If rank {} were on time, the run would take as long{}.", finding.rank,
                       have_waited(report, finding) ? "" : ": no recorded call of another rank waited for it");
  std::string out = fmt::format("If rank {} were on time: {} -> {} (-{}).", finding.rank, format_duration(g.before),
                                format_duration(g.after), format_percent(g.share()));
  if (g.is_late() && report.run.ranks[g.late].rank != finding.rank)
    out += fmt::format(" Next bottleneck: rank {}.", report.run.ranks[g.late].rank);
  return out;
}

std::vector<RunFinding> find_in_run(const RunReport& report) { return Finder(report).run(); }

}  // namespace gapscope
