// The ranks of a run and their collectives, by core/ranks.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/ranks/run_report.h"
#include "core/sql/list_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

enum : int {
  kRankRank,
  kRankFile,
  kRankWorldSize,
  kRankDevice,
  kRankTs,
  kRankDur,
  kRankCompute,
  kRankCommunication,
  kRankTransfer,
  kRankWaiting,
  kRankUnsplit,
  kRankCopies,
  kRankIdle,
  kRankWaitsFor,
  kRankCost,
  kRankTotalWait,
  kRankTimesLast,
  kRankTimesFirst,
  kRankCollectives,
  kRankUnmatched,
  kRankUnnamed,
  kRankOffset,
  kRankResidual
};
constexpr ColumnInfo kRank[] = {
    {"rank", Type::integer, "", "its number; NULL where neither the file nor its name tells it"},
    {"file", Type::text, "", "the recording"},
    {"world_size", Type::integer, "", "ranks of the run, as the file states it; NULL where it does not"},
    {"device", Type::integer, "", "number of the GPU accounted for: that of its collectives; NULL without GPU work"},
    {"ts", Type::integer, "ns", "begin of that GPU's window, on the axis of the trace that is open"},
    {"dur", Type::integer, "ns", "duration of the window: compute, communication, copies and idle"},
    {"compute_ns", Type::integer, "ns", "kernels ran that compute"},
    {"exposed_communication_ns", Type::integer, "ns", "only kernels ran that communicate: the sum of the next three"},
    {"transfer_ns", Type::integer, "ns", "of that, transfer; NULL, here and below, where no other rank was read"},
    {"waiting_ns", Type::integer, "ns", "of that, waiting for ranks that came later"},
    {"unsplit_ns", Type::integer, "ns", "of that, what found no partner in another rank, or tells not who waits for whom"},
    {"exposed_copies_ns", Type::integer, "ns", "only copies and fills ran"},
    {"idle_ns", Type::integer, "ns", "nothing ran"},
    {"waits_for", Type::integer, "", "the rank that it waits for longest"},
    {"cost_ns", Type::integer, "ns", "what all others waited for it, summed over ranks"},
    {"total_wait_ns", Type::integer, "ns", "latest begin less its own, summed over collectives: TraceLens' wait"},
    {"times_last", Type::integer, "", "collectives to which it came last"},
    {"times_first", Type::integer, "", "collectives to which it came first"},
    {"collectives", Type::integer, "", "kernels that say which collective they are"},
    {"unmatched", Type::integer, "", "of these, without a partner in another rank"},
    {"unnamed", Type::integer, "", "communication kernels that do not say it"},
    {"clock_offset_ns", Type::integer, "ns", "how far its clock is ahead of the lowest rank's"},
    {"clock_residual_ns", Type::integer, "ns",
     "how far the ends of collectives then disagree, median; NULL where not compared"},
};

enum : int {
  kCollId,
  kCollRank,
  kCollSlice,
  kCollTs,
  kCollDur,
  kCollStep,
  kCollName,
  kCollType,
  kCollDtype,
  kCollIn,
  kCollOut,
  kCollBytes,
  kCollGroup,
  kCollDescription,
  kCollMembers,
  kCollSize,
  kCollSeq,
  kCollStream,
  kCollMatch,
  kCollMatched,
  kCollWait,
  kCollLast,
  kCollLatency,
  kCollStartSkew,
  kCollEndSkew,
  kCollAlgorithm,
  kCollBus
};
constexpr ColumnInfo kCollective[] = {
    {"id", Type::integer, "", "number of the row: by rank, then by begin"},
    {"rank", Type::integer, "", "rank.rank"},
    {"slice_id", Type::integer, "", "slice.id of the kernel; NULL of a rank that is not the open trace"},
    {"ts", Type::integer, "ns", "begin, on the axis of the trace that is open"},
    {"dur", Type::integer, "ns", "duration of this rank's kernel: waiting and transfer"},
    {"step", Type::text, "", "the step that launched it"},
    {"name", Type::text, "", "as the file has it: allreduce, _allgather_base, ..."},
    {"type", Type::text, "", "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, send, receive, ..."},
    {"dtype", Type::text, "", "of its elements: Float, BFloat16, ..."},
    {"in_elements", Type::integer, "", "elements of its input"},
    {"out_elements", Type::integer, "", "elements of its output"},
    {"bytes", Type::integer, "bytes", "of the full message; NULL where the type's size is not known"},
    {"group_name", Type::text, "", "the process group"},
    {"group_description", Type::text, "", "what that is called: default_pg, mesh_tp, ..."},
    {"group_ranks", Type::text, "", "its ranks as JSON; PyTorch cuts long lists"},
    {"group_size", Type::integer, "", "how many ranks it has"},
    {"seq", Type::integer, "", "number among the group's collectives; NULL where not recorded"},
    {"stream", Type::integer, "", "of the kernel"},
    {"match_id", Type::integer, "", "shared by the ranks of one collective; NULL, here and below, without a partner"},
    {"matched_ranks", Type::integer, "", "how many ranks of it were read"},
    {"wait_ns", Type::integer, "ns", "how long this rank waited for the last to come; NULL of kinds where that is not known"},
    {"last_rank", Type::integer, "", "the rank that came last"},
    {"latency_ns", Type::integer, "ns", "its shortest duration of all ranks"},
    {"start_skew_ns", Type::integer, "ns", "latest begin less earliest"},
    {"end_skew_ns", Type::integer, "ns", "latest end less earliest"},
    {"algorithm_gb_per_s", Type::real, "2^30 B/s", "bytes over latency; NULL where not defined"},
    {"bus_gb_per_s", Type::real, "2^30 B/s", "that times nccl-tests' factor, 2(n-1)/n or (n-1)/n"},
};

// What both tables ask of the run.
class RunRows : public RowList {
 public:
  explicit RunRows(World& world) : world_(world) {}

 protected:
  const RunReport& run() { return world_.run(); }
  const RankData& rank(std::uint32_t r) { return run().run.ranks[r]; }
  bool compared() { return run().run.ranks.size() > 1; }
  // Of the file of a rank to the axis of the open trace.
  Ns shown(std::uint32_t r, Ns t) {
    const std::uint32_t open = world_.own_rank();
    if (r == open || open == World::kNoRank) return t;
    return run().clocks.ranks[open].in_file(run().clocks.ranks[r].on_axis(t));
  }
  Span shown(std::uint32_t r, Span s) { return {shown(r, s.begin), shown(r, s.end)}; }
  void give_rank(sqlite3_context* out, std::uint32_t r) {
    if (rank(r).rank >= 0) give(out, rank(r).rank);
  }

  World& world_;
};

class RankRows final : public RunRows {
 public:
  using RunRows::RunRows;
  std::uint32_t rows() override { return static_cast<std::uint32_t>(run().run.ranks.size()); }
  double about_rows() const override { return 8; }

  void give_value(sqlite3_context* out, std::uint32_t r, int column) override {
    const RankData& d = rank(r);
    switch (column) {
      case kRankRank: return give_rank(out, r);
      case kRankFile: return give(out, std::string_view(d.file));
      case kRankWorldSize: return d.world_size > 0 ? give(out, d.world_size) : give_null(out);
      case kRankCollectives: return give(out, static_cast<std::int64_t>(d.collectives.size()));
      case kRankUnnamed: return give(out, static_cast<std::int64_t>(d.unnamed));
      default: break;
    }
    if (column >= kRankDevice && column <= kRankIdle && d.device >= 0) give_account(out, r, column);
    if (column >= kRankWaitsFor && compared()) give_compared(out, r, column);
  }

 private:
  void give_account(sqlite3_context* out, std::uint32_t r, int column) {
    const RankData& d = rank(r);
    const RankNumbers& n = run().waits.ranks[r];
    if (column >= kRankTransfer && column <= kRankUnsplit && !compared()) return;
    switch (column) {
      case kRankDevice: return give(out, std::int64_t{d.device});
      case kRankTs: return give(out, shown(r, d.window.begin));
      case kRankDur: return give(out, d.account.window);
      case kRankCompute: return give(out, d.account.compute);
      case kRankCommunication: return give(out, d.account.exposed_communication);
      case kRankTransfer: return give(out, n.transfer);
      case kRankWaiting: return give(out, n.waiting_total());
      case kRankUnsplit: return give(out, n.unsplit);
      case kRankCopies: return give(out, d.account.exposed_copies);
      default: return give(out, d.account.idle_total());
    }
  }
  void give_compared(sqlite3_context* out, std::uint32_t r, int column) {
    const RankNumbers& n = run().waits.ranks[r];
    const RankClock& clock = run().clocks.ranks[r];
    switch (column) {
      case kRankWaitsFor: return n.waiting.empty() ? give_null(out) : give_rank(out, n.waiting.front().rank);
      case kRankCost: return give(out, run().waits.lost[r]);
      case kRankTotalWait: return give(out, n.total_wait);
      case kRankTimesLast: return give(out, static_cast<std::int64_t>(n.times_last));
      case kRankTimesFirst: return give(out, static_cast<std::int64_t>(n.times_first));
      case kRankUnmatched: return give(out, static_cast<std::int64_t>(run().matches.unmatched[r]));
      case kRankOffset: return clock.compared ? give(out, clock.offset) : give_null(out);
      case kRankResidual: return clock.compared ? give(out, clock.residual) : give_null(out);
      default: return;
    }
  }
};

class CollectiveRows final : public RunRows {
 public:
  using RunRows::RunRows;
  std::optional<Error> prepare() override {
    if (first_.size() == run().run.ranks.size() + 1) return std::nullopt;  // else not made, or for a query that was cancelled
    first_.assign(1, 0);
    for (const RankData& d : run().run.ranks)
      first_.push_back(first_.back() + static_cast<std::uint32_t>(d.collectives.size()));
    return std::nullopt;
  }
  std::uint32_t rows() override { return first_.back(); }

  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const auto r = static_cast<std::uint32_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
    const std::uint32_t at = row - first_[r];
    const RankCollective& c = rank(r).collectives[at];
    switch (column) {
      case kCollId: return give(out, std::int64_t{row});
      case kCollRank: return give_rank(out, r);
      case kCollSlice:
        if (const SliceId slice = r == world_.own_rank() ? slice_of(c.span.begin, rank(r).what(at).stream) : SliceId{})
          give(out, std::int64_t{world_.order().id(slice)});
        return;
      case kCollTs: return give(out, shown(r, c.span.begin));
      case kCollDur: return give(out, c.span.length());
      case kCollStep: return c.step != kNoStep ? give(out, std::string_view(rank(r).steps[c.step].name)) : give_null(out);
      case kCollSeq: return rank(r).seq(at) >= 0 ? give(out, rank(r).seq(at)) : give_null(out);
      case kCollStream: return give(out, std::int64_t{rank(r).what(at).stream});
      default: break;
    }
    if (column < kCollSeq) return give_what(out, rank(r).what(at), column);
    if (const std::uint32_t matched = run().waits.matched_of[r][at]; matched != kUnmatched)
      give_matched(out, r, at, matched, column);
  }

 private:
  void give_what(sqlite3_context* out, const CollectiveWhat& w, int column) {
    const auto give_text = [&](const std::string& text) { text.empty() ? give_null(out) : give(out, std::string_view(text)); };
    switch (column) {
      case kCollName: return give_text(w.name);
      case kCollType: return give(out, collective_type_words(w.type));
      case kCollDtype: return give_text(w.dtype);
      case kCollIn: return give(out, w.in_elements);
      case kCollOut: return give(out, w.out_elements);
      case kCollBytes:
        return element_bytes(w.dtype) > 0 ? give(out, static_cast<std::int64_t>(w.full_bytes())) : give_null(out);
      case kCollGroup: return give_text(w.group);
      case kCollDescription: return give_text(w.description);
      case kCollMembers: return give_text(w.members);
      default: return w.group_size > 0 ? give(out, w.group_size) : give_null(out);
    }
  }
  void give_matched(sqlite3_context* out, std::uint32_t r, std::uint32_t at, std::uint32_t matched, int column) {
    const CollectiveNumbers& n = run().waits.collectives[matched];
    const RankCollective& c = rank(r).collectives[at];
    switch (column) {
      case kCollMatch: return give(out, std::int64_t{matched});
      case kCollMatched: return give(out, std::int64_t{run().matches.all[matched].count});
      case kCollWait: {
        const CollectiveType type = rank(r).what(at).type;
        if (waits_for_all(type) || is_point_to_point(type)) give(out, wait_of(run().clocks.ranks[r].on_axis(c.span), n, type));
        return;
      }
      case kCollLast: return give_rank(out, n.last);
      case kCollLatency: return give(out, n.latency);
      case kCollStartSkew: return give(out, n.start_skew());
      case kCollEndSkew: return give(out, n.end_skew);
      default: {
        const Member& first = run().matches.of(run().matches.all[matched]).front();
        const CollectiveWhat& w = rank(first.rank).what(first.at);
        const double bandwidth = column == kCollAlgorithm ? algorithm_bandwidth(n, w) : bus_bandwidth(n, w);
        return bandwidth > 0 ? sqlite3_result_double(out, bandwidth) : give_null(out);
      }
    }
  }

  // Of the open trace: no two kernels of a stream begin at once.
  SliceId slice_of(Ns begin, std::int32_t stream) {
    if (slices_.empty())
      for (const GpuOp& op : world_.gpu_ops())
        if (const OpRow* args = world_.trace().op_row(op.slice); args != nullptr && args->collective_args)
          slices_.emplace(std::pair(op.span.begin, op.stream), op.slice);
    const auto at = slices_.find({begin, stream});
    return at == slices_.end() ? SliceId{} : at->second;
  }

  std::vector<std::uint32_t> first_;  // row of each rank's first collective; the number of all at the end
  std::map<std::pair<Ns, std::int32_t>, SliceId> slices_;
};

}  // namespace

void add_run_tables(World& world, TableList& out) {
  out.push_back(list_table("rank", "the ranks of the run: their accounts, whom they wait for, what they cost the others", kRank,
                           std::make_unique<RankRows>(world)));
  out.push_back(list_table("collective",
                           "every rank's part in every collective: what it moved, how long it waited for the last", kCollective,
                           std::make_unique<CollectiveRows>(world)));
}

}  // namespace gapscope::sql
