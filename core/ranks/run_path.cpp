#include "core/ranks/run_path.h"

#include <algorithm>
#include <memory>

#include "core/base/saturating.h"
#include "core/load/load_trace.h"
#include "core/ranks/run_player.h"
#include "core/replay/path_sums.h"
#include "core/replay/path_walk.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNoOp = ReplayModel::kNone;

class RunPathWalk {
 public:
  RunPathWalk(const RunReport& report, const RunPlayer& player) : report_(report), player_(player), run_(player.run_after()) {
    for (std::uint32_t r = 0; r < ranks().size(); ++r) {
      const RankReplay& replay = *ranks()[r].replay;
      walks_.push_back(std::make_unique<PathWalk>(*replay.model, replay.change, player.result(r), replay.after));
      turns_ += 2 * (replay.model->ops().size() + replay.model->calls().size()) + 2;
    }
  }

  // In time order. Each turn goes to an earlier operation or call; files whose times contradict each other could go round.
  std::vector<RunStretch> walk(const std::atomic<bool>* cancel) {
    at_ = run_.end;
    rank_ = last_rank();
    walks_[rank_]->go_to_end();
    for (bool has_come = false; turns_ > 0 && at_ > run_.begin; --turns_) {
      if (cancel != nullptr && *cancel) return {};
      const bool over = !has_come && go_over();
      if (!over && !walks_[rank_]->step()) break;
      if (!over) take(rank_);
      has_come = over;
    }
    if (at_ > run_.begin) out_.push_back({{run_.begin, at_}, rank_, {{}, HeldBy::host, {}, {}}});
    std::reverse(out_.begin(), out_.end());
    return std::move(out_);
  }

 private:
  const std::vector<RankData>& ranks() const { return report_.run.ranks; }

  std::uint32_t last_rank() const {
    for (std::uint32_t r = 0; r < ranks().size(); ++r)
      if (!ranks()[r].replay->model->empty() && player_.run_after(r).end == run_.end) return r;
    return 0;
  }

  // From the end of a collective that waited for another rank to that one's coming.
  bool go_over() {
    PathWalk& walk = *walks_[rank_];
    const auto last = walk.op() == kNoOp ? std::nullopt : player_.last_of(rank_, walk.op());
    if (!last || last->rank == rank_) return false;
    walk.add(report_.clocks.ranks[rank_].in_file(last->came), HeldBy::collective,
             ranks()[rank_].replay->model->ops()[walk.op()].slice, {});
    take(rank_);
    rank_ = last->rank;
    walks_[rank_]->go_to(last->op, player_.result(rank_).ops[last->op].begin);
    return true;
  }

  void take(std::uint32_t rank) {
    for (const PathStretch& s : walks_[rank]->take()) {
      const Ns begin = std::clamp(report_.clocks.ranks[rank].on_axis(s.span.begin), run_.begin, at_);
      if (begin < at_) out_.push_back({{begin, at_}, rank, s});
      at_ = begin;
    }
  }

  const RunReport& report_;
  const RunPlayer& player_;
  const Span run_;
  std::vector<std::unique_ptr<PathWalk>> walks_;  // by rank
  std::size_t turns_ = 0;
  Ns at_ = 0;  // on the axis
  std::uint32_t rank_ = 0;
  std::vector<RunStretch> out_;
};

// Of one rank, with the lengths that they have on the axis.
std::vector<PathStretch> stretches_of(const RunPath& path, std::uint32_t rank) {
  std::vector<PathStretch> out;
  for (const RunStretch& s : path.path) {
    if (s.rank != rank) continue;
    out.push_back(s.stretch);
    out.back().span = s.span;
  }
  return out;
}

// Null where the file is gone, or another one than it was.
std::shared_ptr<const Trace> read_again(const RankData& rank, const std::vector<PathStretch>& path) {
  const auto loaded = load_trace(rank.file);
  if (!loaded.ok() || (*loaded)->figures.file_bytes != rank.file_bytes) return nullptr;
  const auto fits = [&](const PathStretch& s) { return !s.slice || s.slice.index() < (*loaded)->slice_count(); };
  return std::all_of(path.begin(), path.end(), fits) ? *loaded : nullptr;
}

void add_unnamed(const std::vector<PathStretch>& stretches, std::uint32_t rank, std::vector<RunPathSum>& out) {
  const std::array<Ns, kHeldBy> times = held_times(stretches);
  for (std::size_t i = 0; i < kHeldBy; ++i)
    if (const auto by = static_cast<HeldBy>(i); times[i] > 0)
      out.push_back({by, {}, std::string(held_by_words(by)), "", rank, times[i]});
}

}  // namespace

RunPath run_path(const RunReport& report, const RunChange& change, const std::atomic<bool>* cancel) {
  RunPath out;
  if (!can_replay(report)) return out;
  RunPlayer player(report, change, cancel);
  if (!player.play()) return out.cancelled = true, out;
  out.replay = player.result();
  out.run = player.run_after();
  out.path = RunPathWalk(report, player).walk(cancel);
  out.cancelled = cancel != nullptr && *cancel;
  out.by_rank.resize(report.run.ranks.size());
  for (const RunStretch& s : out.path) {
    add_saturating(out.by[static_cast<std::size_t>(s.stretch.by)], s.span.length());
    add_saturating(out.by_rank[s.rank], s.span.length());
  }
  return out;
}

std::vector<RunPathSum> run_path_sums(const RunReport& report, const RunPath& path, const std::atomic<bool>* cancel) {
  std::vector<RunPathSum> out;
  for (std::uint32_t r = 0; r < report.run.ranks.size(); ++r) {
    if (path.by_rank.size() <= r || path.by_rank[r] == 0) continue;
    const RankData& rank = report.run.ranks[r];
    const std::vector<PathStretch> stretches = stretches_of(path, r);
    const std::shared_ptr<const Trace> trace = read_again(rank, stretches);
    if (cancel != nullptr && *cancel) return {};
    if (trace == nullptr) {
      add_unnamed(stretches, r, out);
      continue;
    }
    const ProgramKind program = program_kind(*trace);
    for (const PathSum& s : path_sums(*trace, HostTime(*trace), rank.replay->change, stretches))
      out.push_back({s.by, s.cause, std::string(s.cause ? idle_cause_title(*s.cause, program) : held_by_words(s.by)),
                     s.name.valid() ? std::string(trace->strings[s.name]) : std::string(), r, s.time});
  }
  std::stable_sort(out.begin(), out.end(), [](const RunPathSum& a, const RunPathSum& b) { return a.time > b.time; });
  return out;
}

}  // namespace gapscope
