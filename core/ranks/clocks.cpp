#include "core/ranks/clocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

namespace gapscope {
namespace {

constexpr std::size_t kLeastForDrift = 30;
constexpr std::size_t kRanksAtOnce = 64;

// The difference of two clocks when one collective ended.
struct Difference {
  Ns at;  // on the first clock's file
  Ns by;  // the second one's end less the first one's
};

Ns median(std::vector<Ns> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Of>
Ns median_of(const std::vector<Difference>& differences, Of of) {
  std::vector<Ns> values;
  values.reserve(differences.size());
  for (const Difference& d : differences) values.push_back(of(d));
  return median(std::move(values));
}

// How one clock goes against another.
struct Pairing {
  Ns offset = 0, residual = 0;
  double drift = 0;
  Ns from = 0;
  std::size_t count = 0;
};

// A line through the middles of the first and the last third, where it halves the residual and more.
void look_for_drift(std::vector<Difference>& differences, Pairing& pairing) {
  if (differences.size() < kLeastForDrift) return;
  std::sort(differences.begin(), differences.end(), [](const Difference& a, const Difference& b) { return a.at < b.at; });
  const auto third = static_cast<std::ptrdiff_t>(differences.size() / 3);
  const std::vector<Difference> early(differences.begin(), differences.begin() + third),
      late(differences.end() - third, differences.end());
  const auto by = [](const Difference& d) { return d.by; };
  const auto at = [](const Difference& d) { return d.at; };
  const Ns from = median_of(early, at), offset = median_of(early, by);
  const Ns length = median_of(late, at) - from;
  if (length <= 0) return;
  const double drift = static_cast<double>(median_of(late, by) - offset) / static_cast<double>(length);
  const auto off_the_line = [&](const Difference& d) {
    return std::abs(d.by - offset - static_cast<Ns>(drift * static_cast<double>(d.at - from)));
  };
  const Ns residual = median_of(differences, off_the_line);
  if (2 * residual < pairing.residual) pairing = {offset, residual, drift, from, differences.size()};
}

Pairing pair_up(std::vector<Difference>& differences) {
  Pairing out;
  out.count = differences.size();
  out.from = differences.front().at;
  out.offset = median_of(differences, [](const Difference& d) { return d.by; });
  out.residual = median_of(differences, [&](const Difference& d) { return std::abs(d.by - out.offset); });
  look_for_drift(differences, out);
  return out;
}

class Aligner {
 public:
  Aligner(const std::vector<RankData>& ranks, const Matches& matches, Clocks& out)
      : ranks_(ranks), matches_(matches), out_(out) {}

  void run() {
    out_.ranks.resize(ranks_.size());
    compare();
    reach_all();
    for (std::size_t r = 0; r < ranks_.size(); ++r) place(r);
    check();
  }

 private:
  const RankCollective& collective(const Member& m) const { return ranks_[m.rank].collectives[m.at]; }
  bool counts_for_clocks(const Matched& m) const {
    const Member& first = matches_.of(m).front();
    return waits_for_all(ranks_[first.rank].what(first.at).type);
  }
  Ns base(std::uint32_t r) const { return out_.alignment == ClockAlignment::none ? 0 : ranks_[r].base; }

  // Every rank of a collective with the first one of it: that suffices to reach all, and is linear. So many ranks at a time
  // that the differences take little memory, be there ever so many.
  void compare() {
    for (std::size_t r = 0; r < ranks_.size(); r += kRanksAtOnce)
      compare_those(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(std::min(ranks_.size(), r + kRanksAtOnce)));
  }
  void compare_those(std::uint32_t first, std::uint32_t last) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Difference>> differences;
    for (const Matched& matched : matches_.all) {
      if (!counts_for_clocks(matched)) continue;
      const std::span<const Member> members = matches_.of(matched);
      const Ns end = base(members[0].rank) + collective(members[0]).span.end;
      for (const Member& m : members.subspan(1)) {
        if (m.rank < first || m.rank >= last) continue;
        const Ns at = collective(m).span.end;
        differences[{members[0].rank, m.rank}].push_back({at, base(m.rank) + at - end});
      }
    }
    for (auto& [ranks, of_pair] : differences) {
      pairings_[ranks] = pair_up(of_pair);
      pairs_of_[ranks.first].push_back(ranks);
      pairs_of_[ranks.second].push_back(ranks);
    }
  }

  // From the lowest rank on, over the pair with the smallest residual first. Ranks that no collective joins to it begin anew.
  void reach_all() {
    using Step = std::tuple<Ns, std::uint32_t, std::uint32_t>;  // residual, from, to
    std::vector<bool> reached(ranks_.size());
    std::priority_queue<Step, std::vector<Step>, std::greater<>> next;
    const auto reach = [&](std::uint32_t r) {
      reached[r] = true;
      for (const auto& pair : pairs_of_[r]) {
        const std::uint32_t other = pair.first == r ? pair.second : pair.first;
        if (!reached[other]) next.emplace(pairings_[pair].residual, r, other);
      }
    };
    for (std::uint32_t start = 0; start < ranks_.size(); ++start) {
      if (reached[start]) continue;
      out_.ranks[start].compared = !pairs_of_[start].empty();
      reach(start);
      while (!next.empty()) {
        const auto [residual, from, to] = next.top();
        next.pop();
        if (reached[to]) continue;
        follow(from, to);
        reach(to);
      }
    }
  }

  // `to`'s clock through `from`'s. Drifts are so small that their products do not count.
  void follow(std::uint32_t from, std::uint32_t to) {
    const bool forward = from < to;
    const Pairing& pairing = pairings_[forward ? std::pair(from, to) : std::pair(to, from)];
    RankClock& clock = out_.ranks[to];
    const RankClock& known = out_.ranks[from];
    clock.compared = true;
    clock.residual = pairing.residual;
    clock.offset = known.offset + (forward ? pairing.offset : -pairing.offset);
    clock.drift = known.drift + (forward ? pairing.drift : -pairing.drift);
    clock.drift_from = pairing.from + (forward ? 0 : base(from) - base(to));
    if (known.drift != 0)
      clock.offset +=
          static_cast<Ns>(known.drift * static_cast<double>(clock.drift_from + base(to) - base(from) - known.drift_from));
    out_.worst_residual = std::max(out_.worst_residual, clock.residual);
  }

  void place(std::size_t r) {
    RankClock& clock = out_.ranks[r];
    if (out_.alignment != ClockAlignment::collectives) clock.offset = 0, clock.drift = 0;
    clock.add = base(static_cast<std::uint32_t>(r)) - clock.offset;
  }

  // No rank may come after another has left.
  void check() {
    Ns shortest = std::numeric_limits<Ns>::max();
    for (const Matched& matched : matches_.all) {
      if (!counts_for_clocks(matched)) continue;
      ++out_.compared;
      Ns latest_begin = std::numeric_limits<Ns>::min(), earliest_end = std::numeric_limits<Ns>::max();
      for (const Member& m : matches_.of(matched)) {
        const Span span = out_.ranks[m.rank].on_axis(collective(m).span);
        latest_begin = std::max(latest_begin, span.begin);
        earliest_end = std::min(earliest_end, span.end);
        shortest = std::min(shortest, collective(m).span.length());
      }
      if (latest_begin > earliest_end)
        ++out_.impossible, out_.worst_impossible = std::max(out_.worst_impossible, latest_begin - earliest_end);
    }
    out_.shortest_latency = out_.compared > 0 ? shortest : 0;
  }

  const std::vector<RankData>& ranks_;
  const Matches& matches_;
  Clocks& out_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Pairing> pairings_;
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs_of_;
};

}  // namespace

std::optional<ClockAlignment> alignment_from(std::string_view word) {
  if (word == "collectives") return ClockAlignment::collectives;
  if (word == "base") return ClockAlignment::base;
  if (word == "none") return ClockAlignment::none;
  return std::nullopt;
}

Clocks align_clocks(const std::vector<RankData>& ranks, const Matches& matches, ClockAlignment alignment) {
  Clocks out;
  out.alignment = alignment;
  Aligner(ranks, matches, out).run();
  return out;
}

}  // namespace gapscope
