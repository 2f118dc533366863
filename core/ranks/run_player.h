#pragma once
// The ranks of a run played together, each by a Player that pauses where it needs to know when a collective ended.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/saturating.h"
#include "core/ranks/run_replay.h"
#include "core/ranks/run_report.h"
#include "core/replay/host_clock.h"
#include "core/replay/player.h"

namespace gapscope {

// Refers to what it is made of.
class RunPlayer {
  // One rank's part in a collective that waits for others.
  struct Part {
    std::uint32_t rank = 0, op = 0;
    Ns came = 0;        // on the axis, as recorded
    Ns ended = 0;       // in its file
    Ns transfer = 0;    // after the last had come
    Ns begin = 0;       // in its file, replayed
    bool here = false;  // it has begun
  };
  struct Collective {
    std::vector<Part> parts;
    Ns latest = 0;    // when the last came, on the axis
    Ns at_link = -1;  // how long it transfers over other links; -1: as long as it did
    Ns delay = 0;     // of the last one's coming, once it is known
    std::size_t here = 0;
    bool over = false;  // that is known
  };

 public:
  RunPlayer(const RunReport& report, const RunChange& change, const std::atomic<bool>* cancel)
      : r_(report), ranks_(report.run.ranks), cancel_(cancel) {
    for (const RankData& rank : ranks_)
      never_late_.push_back(std::find(change.never_late.begin(), change.never_late.end(), rank.rank) !=
                            change.never_late.end());
    gather();
    if (change.link > 0) set_links(change.link);
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankReplay& replay = *ranks_[r].replay;
      players_.push_back(std::make_unique<Player>(*replay.model, replay.change, StreamJoins{replay.after, held_[r]}));
    }
    stands_.resize(ranks_.size());
  }

  // False: cancelled.
  bool play() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) ready_.push_back(r);
    for (;;) {
      while (!ready_.empty()) {
        const std::uint32_t r = ready_.front();
        ready_.pop_front();
        if (!play(r)) return false;
      }
      const std::uint32_t stuck = stuck_rank();
      if (stuck == kNone) break;
      find_end(of_op_[stuck][players_[stuck]->at()]);
    }
    for (const auto& player : players_) results_.push_back(player->result());
    return true;
  }

  // What follows is of what has been played.
  RunReplay result() const {
    RunReplay out;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankReplay& replay = *ranks_[r].replay;
      const ReplayResult& result = results_[r];
      ReplayedRank rank{result.before, result.after, {}, 0, 0, waits_less(*replay.model, result)};
      for (std::size_t s = 0; s < result.steps.size(); ++s)
        rank.steps.push_back({replay.step_names[s], result.steps[s].before.length(), result.steps[s].after.length()});
      if (!replay.model->empty()) {
        const GpuBusy busy = gpu_busy(*replay.model, result);
        rank.busy_before = share(busy.before, result.before);
        rank.busy_after = share(busy.after, result.after);
      }
      out.ranks.push_back(std::move(rank));
    }
    out.before = std::max(Ns{0}, run_before().length());
    out.after = std::max(Ns{0}, run_after().length());
    add_steps(out);
    find_late(out);
    return out;
  }

  Span run_before() const {
    Span out = kNothing;
    for (const RankData& rank : ranks_)
      if (!rank.replay->model->empty()) out = hull(out, recorded(rank));
    return out;
  }
  // A rank's run is on the axis as far from where it was as it is in its file.
  Span run_after() const {
    Span out = kNothing;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      if (!ranks_[r].replay->model->empty()) out = hull(out, run_after(r));
    return out;
  }
  Span run_after(std::uint32_t r) const {
    const Span was = recorded(ranks_[r]), in_file = ranks_[r].replay->model->run(), is = results_[r].run;
    return {sum_saturating(was.begin, difference_saturating(is.begin, in_file.begin)),
            sum_saturating(was.end, difference_saturating(is.end, in_file.end))};
  }

  const ReplayResult& result(std::uint32_t rank) const { return results_[rank]; }
  // Of an operation that transfers with other ranks: the last to come, its operation there, and when it came on the axis.
  struct Last {
    std::uint32_t rank = 0, op = 0;
    Ns came = 0;
  };
  std::optional<Last> last_of(std::uint32_t rank, std::uint32_t op) const {
    const std::uint32_t at = of_op_[rank][op];
    if (at == kNone) return std::nullopt;
    Last out{0, kNone, std::numeric_limits<Ns>::min()};
    for (const Part& p : all_[at].parts)
      if (const Ns t = comes(p); out.op == kNone || t > out.came) out = {p.rank, p.op, t};
    return out;
  }

 private:
  static constexpr Span kNothing = {std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  static constexpr std::uint32_t kNone = ReplayModel::kNone;
  static constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;

  void gather() {
    for (const RankData& rank : ranks_) {
      held_.emplace_back(rank.replay->model->ops().size());
      of_op_.emplace_back(held_.back().size(), kNone);
    }
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i) add(r_.matches.of(r_.matches.all[i]), r_.waits.collectives[i]);
  }

  void add(std::span<const Member> members, const CollectiveNumbers& numbers) {
    const CollectiveType type = ranks_[members[0].rank].what(members[0].at).type;
    if (!waits_for_all(type) && !is_point_to_point(type)) return;
    Collective c;
    c.latest = numbers.latest_begin;
    for (const Member& m : members) {
      const RankReplay& replay = *ranks_[m.rank].replay;
      if (m.at >= replay.op_of.size()) return;
      const Span span = ranks_[m.rank].collectives[m.at].span, on_axis = r_.clocks.ranks[m.rank].on_axis(span);
      c.parts.push_back(
          {m.rank, replay.op_of[m.at], on_axis.begin, span.end, std::clamp<Ns>(on_axis.end - c.latest, 0, span.length())});
    }
    // A sender that finished before the receiver arrived did not wait.
    if (is_point_to_point(type)) std::erase_if(c.parts, [&](const Part& p) { return p.came < c.latest && p.transfer == 0; });
    if (c.parts.size() < 2) return;
    for (const Part& p : c.parts) {
      held_[p.rank][p.op] = 1;
      of_op_[p.rank][p.op] = static_cast<std::uint32_t>(all_.size());
    }
    moved_.push_back(bytes_moved(members[0]));
    all_.push_back(std::move(c));
  }

  // What each link moves, as nccl-tests counts; 0: not known.
  double bytes_moved(const Member& m) const {
    const CollectiveWhat& what = ranks_[m.rank].what(m.at);
    const double factor = bus_factor(what.type, what.group_size);
    return static_cast<double>(what.full_bytes()) * (factor > 0 ? factor : 1);
  }

  // By the bytes, but none is shorter than the shortest recorded: small ones are bound by latency.
  void set_links(double gb_per_s) {
    Ns shortest = std::numeric_limits<Ns>::max();
    for (const Collective& c : all_)
      for (const Part& p : c.parts)
        if (p.transfer > 0) shortest = std::min(shortest, p.transfer);
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (moved_[i] > 0) all_[i].at_link = std::max(shortest, scaled(kNsPerS, moved_[i] / kBytesPerGb / gb_per_s));
  }

  // As far as it goes; false: cancelled.
  bool play(std::uint32_t r) {
    for (;;) {
      stands_[r] = players_[r]->play(cancel_);
      if (stands_[r] == Player::Stands::cancelled) return false;
      if (stands_[r] != Player::Stands::begun) return true;
      const std::uint32_t c = of_op_[r][players_[r]->at()];
      come(r, c);
      // A rank that is never late resumes when the arrivals of all others are known.
      if (never_late_[r] && !all_[c].over) return stands_[r] = Player::Stands::blocked, true;
    }
  }

  void come(std::uint32_t r, std::uint32_t at) {
    Collective& c = all_[at];
    Part& part = *std::find_if(c.parts.begin(), c.parts.end(), [&](const Part& p) { return p.rank == r; });
    part.begin = players_[r]->times(part.op).begin;
    part.here = true;
    ++c.here;
    if (c.over)
      end(c, part);
    else if (c.here == c.parts.size())
      find_end(at);
  }

  // On the axis, replayed; of one that is not here yet by how late its host is.
  Ns comes(const Part& p) const {
    const ReplayModel::Operation& op = ranks_[p.rank].replay->model->ops()[p.op];
    return sum_saturating(p.came,
                          p.here ? difference_saturating(p.begin, op.span.begin) : players_[p.rank]->host_delay(op.span.begin));
  }

  void find_end(std::uint32_t at) {
    Collective& c = all_[at];
    Ns latest = std::numeric_limits<Ns>::min();
    for (const Part& p : c.parts)
      if (!never_late_[p.rank]) latest = std::max(latest, comes(p));
    for (Part& p : c.parts) {
      if (!never_late_[p.rank] || latest == std::numeric_limits<Ns>::min()) continue;
      const Ns late = difference_saturating(comes(p), latest);
      if (late <= 0 || !p.here) continue;
      players_[p.rank]->come_sooner(p.op, late);
      p.begin = players_[p.rank]->times(p.op).begin;
    }
    if (latest == std::numeric_limits<Ns>::min())
      for (const Part& p : c.parts) latest = std::max(latest, comes(p));
    c.delay = difference_saturating(latest, c.latest);
    c.over = true;
    for (const Part& p : c.parts)
      if (p.here) end(c, p);
    for (const Part& p : c.parts)
      if (stands_[p.rank] == Player::Stands::blocked && of_op_[p.rank][players_[p.rank]->at()] == at) {
        stands_[p.rank] = Player::Stands::begun;
        ready_.push_back(p.rank);
      }
  }

  void end(const Collective& c, const Part& p) {
    const Ns was = ranks_[p.rank].replay->model->ops()[p.op].span.length(), lasts = players_[p.rank]->length(p.op);
    Ns transfer = c.at_link >= 0 ? c.at_link : p.transfer;
    if (was > 0 && lasts != was) transfer = scaled(transfer, static_cast<double>(lasts) / static_cast<double>(was));
    const Ns with_all = sum_saturating(sum_saturating(p.ended, c.delay), transfer - p.transfer);
    players_[p.rank]->end(p.op, std::max(sum_saturating(p.begin, transfer), with_all));
  }

  // Ranks may call the collectives of two groups in different order: then one is taken to come as late as its host is.
  std::uint32_t stuck_rank() const {
    for (std::uint32_t r = 0; r < stands_.size(); ++r)
      if (stands_[r] == Player::Stands::blocked) return r;
    return kNone;
  }

  Span recorded(const RankData& rank) const {
    return r_.clocks.ranks[static_cast<std::size_t>(&rank - ranks_.data())].on_axis(rank.replay->model->run());
  }

  static double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

  static Ns waits_less(const ReplayModel& model, const ReplayResult& result) {
    Ns less = 0;
    for (std::size_t c = 0; c < model.calls().size(); ++c)
      if (model.calls()[c].waits_for != kNone)
        add_saturating(less, difference_saturating(model.calls()[c].span.length(), result.calls[c].length()));
    return less;
  }

  static void add_steps(RunReplay& out) {
    std::map<std::string, std::size_t> place;
    for (const ReplayedRank& rank : out.ranks)
      for (const RunStep& step : rank.steps) {
        const auto [at, is_new] = place.try_emplace(step.name, out.steps.size());
        if (is_new) out.steps.push_back({step.name, 0, 0});
        RunStep& longest = out.steps[at->second];
        longest.before = std::max(longest.before, step.before);
        longest.after = std::max(longest.after, step.after);
      }
  }

  void find_late(RunReplay& out) const {
    std::vector<Ns> cost(ranks_.size());
    for (const Collective& c : all_) {
      std::uint32_t last = kNone;
      Ns latest = std::numeric_limits<Ns>::min(), before = latest;
      for (const Part& p : c.parts) {
        const Ns t = comes(p);
        if (last == kNone || t > latest) {
          before = latest, latest = t, last = p.rank;
        } else {
          before = std::max(before, t);
        }
      }
      const Ns alone = difference_saturating(latest, before);
      for (std::size_t i = 1; i < c.parts.size(); ++i) add_saturating(cost[last], alone);
    }
    const auto most = std::max_element(cost.begin(), cost.end());
    out.late = static_cast<std::uint32_t>(most - cost.begin());
    out.late_cost = *most;
  }

  const RunReport& r_;
  const std::vector<RankData>& ranks_;
  const std::atomic<bool>* cancel_;
  std::vector<bool> never_late_;
  std::vector<Collective> all_;
  std::vector<double> moved_;                      // by collective
  std::vector<std::vector<std::uint8_t>> held_;    // by rank and operation
  std::vector<std::vector<std::uint32_t>> of_op_;  // likewise: its collective
  std::vector<std::unique_ptr<Player>> players_;
  std::vector<Player::Stands> stands_;
  std::vector<ReplayResult> results_;
  std::deque<std::uint32_t> ready_;
};

}  // namespace gapscope
