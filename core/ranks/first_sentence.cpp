// What a team lead would forward: who is late, what that costs whom, in which steps, and what the late rank did meanwhile.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace {

constexpr double kMostOfIt = 0.4;      // of the time lost: so much in one step, or in one thing, shows all
constexpr double kWorthNaming = 0.15;  // of the time that the GPU was idle
constexpr std::size_t kCausesShown = 3;
constexpr std::size_t kNameLength = 80;

double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

class Sentence {
 public:
  Sentence(const RunReport& report, std::uint32_t late) : r_(report), ranks_(report.run.ranks), late_(late) {
    for (std::size_t i = 0; i < r_.waits.late.size(); ++i)
      if (r_.waits.late[i].rank == late && waited(i) > 0) steps_.push_back(i);
    std::stable_sort(steps_.begin(), steps_.end(), [&](std::size_t a, std::size_t b) { return waited(a) > waited(b); });
    // One outlier step is what it is about; else all of them are.
    const bool stands_out = steps_.size() > 1 && share(waited(steps_[0]), r_.waited_for(late)) >= kMostOfIt &&
                            waited(steps_[0]) >= 2 * waited(steps_[1]);
    if (stands_out) steps_.resize(1);
  }

  std::string text() const { return who() + in_turns() + when() + "." + meanwhile(); }

 private:
  // With nothing computed meanwhile, as in RunReport::waited_for().
  Ns waited(std::size_t i) const { return r_.waits.late[i].exposed; }
  const std::string& step(std::size_t i) const { return r_.waits.late[i].step; }

  std::string who() const {
    const bool pair = ranks_.size() == 2;
    const Ns wait = r_.waited_for(late_), others = r_.windows() - ranks_[late_].account.window;
    if (wait == 0)
      return fmt::format(
          "Rank {} is late: collectives of {} wait {} for it, all of it concurrent with compute", ranks_[late_].rank,
          pair ? fmt::format("rank {}", ranks_[1 - late_].rank) : fmt::format("the other {} ranks", ranks_.size() - 1),
          format_duration(r_.waits.lost[late_]));
    return fmt::format(
        "Rank {} is late: {} {} for {}, {} of {} time", ranks_[late_].rank,
        pair ? fmt::format("rank {} waits", ranks_[1 - late_].rank) : fmt::format("the other {} ranks wait", ranks_.size() - 1),
        format_duration(wait), only_sends() ? "what it sends" : "it", format_percent(share(wait, others)),
        pair ? fmt::format("rank {}'s", ranks_[1 - late_].rank) : "their");
  }

  // ", and rank 0 waits ...": of another rank that costs about as much. Which of the two is named first means nothing then.
  std::string in_turns() const {
    constexpr double kAlike = 0.75;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const Ns wait = r_.waited_for(r);
      if (r == late_ || wait == 0 || static_cast<double>(wait) < kAlike * static_cast<double>(r_.waited_for(late_))) continue;
      return fmt::format(
          "; rank {} is late as well, the others wait {} for it: they alternate in coming last ({} and {} times)",
          ranks_[r].rank, format_duration(wait), r_.waits.ranks[late_].times_last, r_.waits.ranks[r].times_last);
    }
    return {};
  }

  // All that others wait for it at is the receiving of what it sends: a stage of a pipeline.
  bool only_sends() const {
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i) {
      if (r_.waits.collectives[i].last != late_) continue;
      const Member& first = r_.matches.of(r_.matches.all[i]).front();
      if (waits_for_all(ranks_[first.rank].what(first.at).type)) return false;
    }
    return true;
  }

  std::string when() const {
    if (steps_.empty() || step(steps_[0]).empty()) return {};
    if (steps_.size() == 1)
      return fmt::format(", {} of that in {} alone", format_duration(waited(steps_[0])), printable(step(steps_[0])));
    const bool each = steps_.size() == r_.waits.late.size();
    return fmt::format(", {} to {} in {} {} steps", format_duration(waited(steps_.back())), format_duration(waited(steps_[0])),
                       each ? "each of the" : fmt::format("each of {} of", steps_.size()), r_.waits.late.size());
  }

  // Of the steps that it is about, as far as the rank was asked.
  std::string meanwhile() const {
    AccountTimes times;
    std::map<std::string, Ns> doing;
    for (const std::size_t i : steps_) {
      times += r_.doing[i].account;
      for (const Doing& d : r_.doing[i].doing)
        if (d.name != step(i)) doing[d.name] += d.time;  // that it was in its step says nothing
    }
    if (times.window == 0) return {};
    const auto most =
        std::max_element(doing.begin(), doing.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string whole = format_duration(times.window);
    if (most != doing.end() && share(most->second, times.window) >= kMostOfIt)
      return fmt::format(" Meanwhile it spent {} of {} in {}.", format_duration(most->second), whole,
                         elide_middle(printable(most->first), kNameLength));
    if (share(times.idle_total(), times.window) >= kMostOfIt)
      return fmt::format(" Meanwhile its GPU was idle for {} of {}: {}.", format_duration(times.idle_total()), whole,
                         causes(times));
    return fmt::format(" Meanwhile it computed for {} of {}.", format_duration(times.compute), whole);
  }

  // Only PyTorch records which collective a kernel is, so that ranks that wait for each other are Python's.
  static std::string_view title(std::size_t cause) {
    return idle_cause_title(static_cast<IdleCause>(cause), ProgramKind::python);
  }
  std::string causes(const AccountTimes& times) const {
    std::array<std::size_t, kIdleCauses> order{};
    for (std::size_t c = 0; c < kIdleCauses; ++c) order[c] = c;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times.idle[a] > times.idle[b]; });
    std::string out;
    for (std::size_t i = 0; i < kCausesShown; ++i) {
      const Ns time = times.idle[order[i]];
      if (i > 0 && share(time, times.idle_total()) < kWorthNaming) break;
      out += fmt::format("{}{} {}", i == 0 ? "" : ", ", title(order[i]), format_duration(time));
    }
    return out;
  }

  const RunReport& r_;
  const std::vector<RankData>& ranks_;
  std::uint32_t late_;
  std::vector<std::size_t> steps_;  // positions in Waits::late, the costliest first
};

std::string nobody_is_late(const RunReport& report) {
  const auto slow = std::find_if(report.findings.begin(), report.findings.end(),
                                 [](const RunFinding& f) { return f.kind == RunFindingKind::slow_link; });
  if (slow != report.findings.end()) return slow->text;
  Ns waited = 0;
  for (const RankNumbers& n : report.waits.ranks) waited += n.waiting_total();
  return fmt::format("No rank is late by itself: the {} ranks wait {} of their time for each other.", report.run.ranks.size(),
                     format_percent(share(waited, report.windows())));
}

}  // namespace

std::string first_sentence(const RunReport& report) {
  const std::vector<RankData>& ranks = report.run.ranks;
  const auto found = [&](RunFindingKind kind) {
    return std::find_if(report.findings.begin(), report.findings.end(), [&](const RunFinding& f) { return f.kind == kind; });
  };
  if (ranks.empty()) return "No rank could be read.";
  if (ranks.size() == 1)
    return fmt::format("Only rank {}{} is here: who waits for whom needs the recordings of at least two ranks.", ranks[0].rank,
                       report.run.world_size > 0 ? fmt::format(" of {}", report.run.world_size) : "");
  if (report.matches.all.empty()) {
    const auto order = found(RunFindingKind::other_order);
    return order != report.findings.end()
               ? order->text
               : fmt::format("No collective of the {} ranks could be matched, so who waits for whom is unknown.", ranks.size());
  }
  const auto straggler = found(RunFindingKind::straggler);
  if (straggler == report.findings.end()) return nobody_is_late(report);
  std::uint32_t late = 0;
  while (ranks[late].rank != straggler->rank) ++late;
  return Sentence(report, late).text();
}

}  // namespace gapscope
