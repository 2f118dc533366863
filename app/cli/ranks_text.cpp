#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "app/cli/ranks.h"
#include "core/base/phrase.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kRanksShown = 16, kStepsShown = 12, kDoingShown = 3, kKindsShown = 12, kProblemsShown = 12;

std::string short_name(std::string_view name, std::size_t chars) { return elide_middle(printable(name), chars); }

class Text {
 public:
  explicit Text(const RunReport& report) : r_(report), ranks_(report.run.ranks) {}

  std::string head() const { return first_sentence(r_) + '\n' + gain() + problems(); }
  std::string text() const {
    std::string out = head();
    out += ranks();
    out += late();
    out += kinds();
    out += findings();
    return out;
  }

 private:
  const RunFinding* first_with_gain() const {
    for (const RunFinding& f : r_.findings)
      if (!gain_sentence(r_, f).empty()) return &f;
    return nullptr;
  }
  // What mending the first finding gives whose remedy can be replayed.
  std::string gain() const {
    const RunFinding* first = first_with_gain();
    return first == nullptr ? "" : gain_sentence(r_, *first) + '\n';
  }

  std::string problems() const {
    if (r_.run.problems.empty()) return {};
    std::string out = "\nwhat to know before trusting this\n";
    for (std::size_t i = 0; i < std::min(r_.run.problems.size(), kProblemsShown); ++i)
      out += "  " + printable(r_.run.problems[i]) + '\n';
    if (r_.run.problems.size() > kProblemsShown)
      out += fmt::format("  and {}\n", counted(r_.run.problems.size() - kProblemsShown, "more sentence"));
    return out;
  }

  // Those that cost most where there are many.
  std::string ranks() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) order.push_back(r);
    if (order.size() > kRanksShown) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return r_.waits.lost[a] > r_.waits.lost[b]; });
      order.resize(kRanksShown);
    }
    std::string out = fmt::format(
        "\n{}{}; clocks {}\n", counted(ranks_.size(), "rank"),
        order.size() < ranks_.size() ? fmt::format(", the {} that others waited for longest are shown", order.size()) : "",
        clocks());
    out += fmt::format("  {:>5} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>11}  {}\n", "rank", "window", "compute",
                       "transfer", "waiting", "copies", "idle", "last in", "cost", "clock off", "waiting for");
    for (const std::uint32_t r : order) out += rank(r);
    return out;
  }

  std::string clocks() const {
    switch (r_.clocks.alignment) {
      case ClockAlignment::none: return "as the files count";
      case ClockAlignment::base: return "as the files state them";
      case ClockAlignment::collectives: break;
    }
    if (r_.clocks.compared == 0) return "as the files state them: nothing to compare them by";
    return fmt::format("compared by {}, which then end within {} of each other (median)",
                       counted(r_.clocks.compared, "collective"), format_duration(r_.clocks.worst_residual));
  }

  std::string rank(std::uint32_t r) const {
    const RankData& d = ranks_[r];
    const RankNumbers& n = r_.waits.ranks[r];
    const AccountTimes& t = d.account;
    std::string waiting;
    for (std::size_t i = 0; i < std::min<std::size_t>(n.waiting.size(), 3); ++i)
      waiting +=
          fmt::format("{}rank {}: {}", i == 0 ? "" : ", ", ranks_[n.waiting[i].rank].rank, format_duration(n.waiting[i].time));
    if (n.waiting.size() > 3) waiting += fmt::format(" and {} more", n.waiting.size() - 3);
    if (n.unsplit > 0) waiting += fmt::format("{}not separable: {}", waiting.empty() ? "" : ", ", format_duration(n.unsplit));
    const std::string line = fmt::format(
        "  {:>5} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>11}  {}", d.rank, format_duration(t.window),
        format_part(t.compute, t.window), format_part(n.transfer, t.window), format_part(n.waiting_total(), t.window),
        format_part(t.exposed_copies, t.window), format_part(t.idle_total(), t.window), n.times_last,
        format_duration(r_.waits.lost[r]), format_duration(r_.clocks.ranks[r].offset), waiting);
    return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }

  std::string late() const {
    if (r_.waits.late.empty()) return {};
    std::string out = "\nthe late rank of every step, and what it did while the others waited\n";
    for (std::size_t i = 0; i < std::min(r_.waits.late.size(), kStepsShown); ++i) {
      const LateRank& l = r_.waits.late[i];
      out += fmt::format("  {:<20} rank {:<5} cost the others {:>9} in {}\n",
                         l.step.empty() ? "(no step marked)" : short_name(l.step, 20), ranks_[l.rank].rank,
                         format_duration(l.lost), counted(l.collectives, "collective"));
      for (std::size_t d = 0; d < std::min(r_.doing[i].doing.size(), kDoingShown); ++d)
        out += fmt::format("    {:>9}  {}\n", format_duration(r_.doing[i].doing[d].time),
                           short_name(r_.doing[i].doing[d].name, 100));
    }
    if (r_.waits.late.size() > kStepsShown)
      out += fmt::format("  and {}\n", counted(r_.waits.late.size() - kStepsShown, "more step"));
    return out;
  }

  struct Kind {
    std::size_t count = 0;
    Ns latency = 0, skew = 0;
    double bus = 0;
  };

  std::string kinds() const {
    std::map<std::tuple<std::string, std::string, std::int64_t, std::uint64_t>, Kind> kinds;
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i) {
      const Member& first = r_.matches.of(r_.matches.all[i]).front();
      const CollectiveWhat& w = ranks_[first.rank].what(first.at);
      const CollectiveNumbers& n = r_.waits.collectives[i];
      Kind& kind = kinds[{is_point_to_point(w.type) ? "send and receive" : w.name,
                          w.description.empty() ? w.group : w.description, w.group_size, w.full_bytes()}];
      ++kind.count;
      kind.latency += n.latency;
      kind.skew += n.start_skew();
      kind.bus += bus_bandwidth(n, w);
    }
    std::vector<const decltype(kinds)::value_type*> order;
    for (const auto& entry : kinds) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->second.latency > b->second.latency; });
    if (order.empty()) return {};
    std::string out = fmt::format("\ncollectives\n  {:<24} {:<16} {:>6} {:>9} {:>6} {:>10} {:>10} {:>12}\n", "name", "group",
                                  "ranks", "size", "count", "latency", "skew", "bus GB/s");
    for (std::size_t i = 0; i < std::min(order.size(), kKindsShown); ++i) {
      const auto& [key, kind] = *order[i];
      const auto n = static_cast<Ns>(kind.count);
      out += fmt::format("  {:<24} {:<16} {:>6} {:>9} {:>6} {:>10} {:>10} {:>12}\n", short_name(std::get<0>(key), 24),
                         short_name(std::get<1>(key), 16), std::get<2>(key),
                         std::get<3>(key) > 0 ? format_bytes(std::get<3>(key)) : "", kind.count,
                         format_duration(kind.latency / n), format_duration(kind.skew / n),
                         kind.bus > 0 ? format_significant(kind.bus / static_cast<double>(kind.count)) : "");
    }
    if (order.size() > kKindsShown) out += fmt::format("  and {}\n", counted(order.size() - kKindsShown, "more kind"));
    return out;
  }

  std::string findings() const {
    if (r_.findings.empty()) return {};
    std::string out = "\nfindings\n";
    for (const RunFinding& f : r_.findings) {
      const std::string gain = &f == first_with_gain() ? "" : gain_sentence(r_, f);  // said above
      out += "  " + f.text + (gain.empty() ? "" : " " + gain) + '\n';
    }
    return out;
  }

  const RunReport& r_;
  const std::vector<RankData>& ranks_;
};

}  // namespace

std::string ranks_head(const RunReport& report) { return Text(report).head(); }

std::string ranks_text(const RunReport& report) { return Text(report).text(); }

}  // namespace gapscope
