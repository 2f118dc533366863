#include "core/ranks/waits.h"

#include <algorithm>
#include <limits>
#include <map>

namespace gapscope {
namespace {

constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;

class WaitCounter {
 public:
  WaitCounter(const std::vector<RankData>& ranks, const Matches& matches, const Clocks& clocks)
      : ranks_(ranks), matches_(matches), clocks_(clocks) {
    out_.ranks.resize(ranks.size());
    out_.lost.resize(ranks.size());
    out_.lost_alone.resize(ranks.size());
    out_.collectives.reserve(matches.all.size());
    for (const RankData& rank : ranks) out_.matched_of.emplace_back(rank.collectives.size(), kUnmatched);
  }

  Waits run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const Ns begin = clocks_.ranks[r].on_axis(ranks_[r].span.begin);
      out_.start = r == 0 ? begin : std::min(out_.start, begin);
    }
    for (const Matched& m : matches_.all) add(m);
    for (std::size_t r = 0; r < ranks_.size(); ++r) split(r);
    choose_late();
    return std::move(out_);
  }

 private:
  struct Loss {
    Ns lost = 0, alone = 0, exposed = 0;
    std::uint64_t collectives = 0;
    std::vector<Span> meanwhile;
  };
  struct StepLosses {
    Ns begin = std::numeric_limits<Ns>::max();
    std::map<std::uint32_t, Loss> of_rank;
  };

  const RankCollective& collective(const Member& m) const { return ranks_[m.rank].collectives[m.at]; }
  const CollectiveWhat& what(const Member& m) const { return ranks_[m.rank].what(m.at); }
  Span on_axis(const Member& m) const { return clocks_.ranks[m.rank].on_axis(collective(m).span); }

  CollectiveNumbers numbers(std::span<const Member> members) const {
    CollectiveNumbers n;
    n.latency = std::numeric_limits<Ns>::max();
    n.begin = std::numeric_limits<Ns>::max();
    n.latest_begin = n.end = std::numeric_limits<Ns>::min();
    Ns earliest_end = std::numeric_limits<Ns>::max();
    for (const Member& m : members) {
      const Span s = on_axis(m);
      n.latency = std::min(n.latency, collective(m).span.length());
      if (s.begin <= n.begin) n.begin = s.begin, n.first = m.rank;
      if (s.begin > n.latest_begin) n.latest_begin = s.begin, n.last = m.rank;
      n.end = std::max(n.end, s.end);
      earliest_end = std::min(earliest_end, s.end);
    }
    n.end_skew = n.end - earliest_end;
    for (const Member& m : members) n.total_wait += n.latest_begin - on_axis(m).begin;
    return n;
  }
  // When the last would have come, had `late` not been there.
  Ns latest_without(std::uint32_t late, std::span<const Member> members) const {
    Ns latest = std::numeric_limits<Ns>::min();
    for (const Member& m : members)
      if (m.rank != late) latest = std::max(latest, on_axis(m).begin);
    return latest;
  }

  void add(const Matched& matched) {
    const std::span<const Member> members = matches_.of(matched);
    for (const Member& m : members) out_.matched_of[m.rank][m.at] = static_cast<std::uint32_t>(out_.collectives.size());
    const CollectiveNumbers& n = out_.collectives.emplace_back(numbers(members));
    loss_of_.push_back(nullptr);
    const CollectiveType type = what(members[0]).type;
    if (has_skew_table(type)) {
      ++out_.skewed;
      ++out_.ranks[n.last].times_last;
      ++out_.ranks[n.first].times_first;
      for (const Member& m : members) out_.ranks[m.rank].total_wait += n.latest_begin - on_axis(m).begin;
    }
    if (!waits_for_all(type) && !is_point_to_point(type)) return;
    Ns lost = 0;
    for (const Member& m : members) lost += wait_of(on_axis(m), n, type);
    if (lost == 0) return;
    const Member& late = *std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.rank == n.last; });
    Loss& loss = loss_of(members, late, n);
    loss_of_.back() = &loss;
    const Ns alone = static_cast<Ns>(members.size() - 1) * (n.latest_begin - latest_without(n.last, members));
    loss.lost += lost;
    loss.alone += std::min(alone, lost);
    ++loss.collectives;
    const RankClock& clock = clocks_.ranks[n.last];
    loss.meanwhile.push_back({clock.in_file(n.begin), collective(late).span.begin});
    out_.lost[n.last] += lost;
    out_.lost_alone[n.last] += std::min(alone, lost);
  }

  // The step that the late rank was in, or else any of the others.
  Loss& loss_of(std::span<const Member> members, const Member& late, const CollectiveNumbers& n) {
    const auto name = [&](const Member& m) {
      const std::uint32_t step = collective(m).step;
      return step == kNoStep ? std::string_view{} : std::string_view(ranks_[m.rank].steps[step].name);
    };
    std::string_view step = name(late);
    for (const Member& m : members)
      if (step.empty()) step = name(m);
    StepLosses& losses = steps_[std::string(step)];
    losses.begin = std::min(losses.begin, n.begin);
    return losses.of_rank[late.rank];
  }

  // Stretches of one rank, in times of its file and in order of begin.
  struct Part {
    Span wait, transfer;
    std::uint32_t late = 0;
    std::uint32_t matched = 0;  // position in Matches::all
  };
  std::vector<Part> parts_of(std::size_t r) const {
    std::vector<Part> parts;
    for (std::uint32_t at = 0; at < ranks_[r].collectives.size(); ++at) {
      const std::uint32_t matched = out_.matched_of[r][at];
      if (matched == kUnmatched) continue;
      const RankCollective& c = ranks_[r].collectives[at];
      const CollectiveType type = ranks_[r].what(at).type;
      if (!waits_for_all(type) && !is_point_to_point(type)) continue;
      const CollectiveNumbers& n = out_.collectives[matched];
      const Ns wait = wait_of(clocks_.ranks[r].on_axis(c.span), n, type);
      parts.push_back({{c.span.begin, c.span.begin + wait}, {c.span.begin + wait, c.span.end}, n.last, matched});
    }
    return parts;
  }

  // The account's exposed communication: what is transfer of some collective is that, then what waits for the rank whose
  // collective began first.
  void split(std::size_t r) {
    RankNumbers& out = out_.ranks[r];
    const SpanSet exposed = ranks_[r].exposed_communication.unpacked();
    const std::vector<Part> parts = parts_of(r);
    std::vector<Span> transfers, all;
    for (const Part& p : parts) transfers.push_back(p.transfer), all.push_back(hull(p.wait, p.transfer));
    const SpanSet transfer = intersect(exposed, span_set(std::move(transfers)));
    const SpanSet united = span_set(std::move(all));
    out.transfer = length(transfer);
    out.communication = length(united);
    out.exposed = length(intersect(exposed, united));
    const SpanSet rest = subtract(exposed, transfer);
    std::map<std::uint32_t, Ns> waiting;
    Ns until = std::numeric_limits<Ns>::min(), waited = 0;
    for (const Part& p : parts) {
      const Span span{std::max(until, p.wait.begin), p.wait.end};
      if (span.empty()) continue;
      until = span.end;
      const Ns time = length_within(rest, span);
      waited += time;
      if (time == 0) continue;
      waiting[p.late] += time;
      if (Loss* loss = loss_of_[p.matched]) loss->exposed += time;
    }
    out.unsplit = length(rest) - waited;
    out.waiting.reserve(waiting.size());  // there are many ranks
    for (const auto& [rank, time] : waiting) out.waiting.push_back({rank, time});
    std::stable_sort(out.waiting.begin(), out.waiting.end(),
                     [](const WaitingFor& a, const WaitingFor& b) { return a.time > b.time; });
  }

  void choose_late() {
    std::vector<Ns> begins;
    for (auto& [step, losses] : steps_) {
      const auto cost = [](const auto& entry) { return std::pair(entry.second.alone, entry.second.lost); };
      auto most = std::max_element(losses.of_rank.begin(), losses.of_rank.end(),
                                   [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
      Loss& loss = most->second;
      const auto place = std::upper_bound(begins.begin(), begins.end(), losses.begin);
      out_.late.insert(out_.late.begin() + (place - begins.begin()), {step, most->first, loss.lost, loss.alone, loss.exposed,
                                                                      loss.collectives, span_set(std::move(loss.meanwhile))});
      begins.insert(place, losses.begin);
    }
  }

  const std::vector<RankData>& ranks_;
  const Matches& matches_;
  const Clocks& clocks_;
  Waits out_;
  std::map<std::string, StepLosses> steps_;
  std::vector<Loss*> loss_of_;  // by Matches::all; null where no rank waited
};

}  // namespace

// A sender may be gone before the receiver comes: then no rank waited.
Ns wait_of(Span on_axis, const CollectiveNumbers& numbers, CollectiveType type) {
  if (!waits_for_all(type) && (!is_point_to_point(type) || on_axis.end <= numbers.latest_begin)) return 0;
  return std::clamp<Ns>(numbers.latest_begin - on_axis.begin, 0, on_axis.length());
}

double algorithm_bandwidth(const CollectiveNumbers& numbers, const CollectiveWhat& what) {
  if (numbers.latency <= 0 || !waits_for_all(what.type)) return 0;
  return static_cast<double>(what.full_bytes()) / kBytesPerGb / (static_cast<double>(numbers.latency) / 1e9);
}

double bus_bandwidth(const CollectiveNumbers& numbers, const CollectiveWhat& what) {
  return algorithm_bandwidth(numbers, what) * bus_factor(what.type, what.group_size);
}

Ns RankNumbers::waiting_total() const {
  Ns sum = 0;
  for (const WaitingFor& w : waiting) sum += w.time;
  return sum;
}

Waits count_waits(const std::vector<RankData>& ranks, const Matches& matches, const Clocks& clocks) {
  return WaitCounter(ranks, matches, clocks).run();
}

}  // namespace gapscope
