// The ranks of a run and their collectives, by core/ranks.
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/ranks/run_report.h"
#include "core/session/trace_session.h"
#include "core/sql/column_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using enum Quantity;

CellValue if_any(const std::string& text) { return text.empty() ? CellValue() : CellValue(std::string_view(text)); }
CellValue if_positive(auto number) { return number > 0 ? CellValue(number) : CellValue(); }

struct InRun : InWorld {
  const RunReport& run() const { return world.run(); }
  const RankData& rank(std::uint32_t r) const { return run().run.ranks[r]; }
  bool compared() const { return run().run.ranks.size() > 1; }
  // Of the file of a rank to the axis of the open trace.
  Ns shown(std::uint32_t r, Ns t) const {
    const std::uint32_t open = world.own_rank();
    if (r == open || open == World::kNoRank) return t;
    return run().clocks.ranks[open].in_file(run().clocks.ranks[r].on_axis(t));
  }
  CellValue number_of(std::uint32_t r) const { return rank(r).rank >= 0 ? CellValue(rank(r).rank) : CellValue(); }
};

// ---- Ranks: a row is a position in the run.

// What is known of ranks with GPU work.
template <auto Value>
CellValue of_account(const InRun& in, const std::uint32_t& r) {
  return in.rank(r).device >= 0 ? Value(in, r) : CellValue();
}
template <auto Member>
CellValue spent(const InRun& in, const std::uint32_t& r) {
  return in.rank(r).device >= 0 ? CellValue(in.rank(r).account.*Member) : CellValue();
}
// Of what takes two ranks to be known.
template <auto Member>
CellValue split(const InRun& in, const std::uint32_t& r) {
  return in.rank(r).device >= 0 && in.compared() ? CellValue(in.run().waits.ranks[r].*Member) : CellValue();
}
template <auto Member>
CellValue numbered(const InRun& in, const std::uint32_t& r) {
  return in.compared() ? CellValue(in.run().waits.ranks[r].*Member) : CellValue();
}
template <auto Member>
CellValue clock_of(const InRun& in, const std::uint32_t& r) {
  const RankClock& clock = in.run().clocks.ranks[r];
  return in.compared() && clock.compared ? CellValue(clock.*Member) : CellValue();
}
CellValue device_of(const InRun& in, std::uint32_t r) { return in.rank(r).device; }
CellValue begin_of(const InRun& in, std::uint32_t r) { return in.shown(r, in.rank(r).window.begin); }
CellValue idle_of(const InRun& in, std::uint32_t r) { return in.rank(r).account.idle_total(); }
CellValue waiting_of(const InRun& in, std::uint32_t r) {
  return in.compared() ? CellValue(in.run().waits.ranks[r].waiting_total()) : CellValue();
}
CellValue longest_waited_for(const InRun& in, const std::uint32_t& r) {
  if (!in.compared() || in.run().waits.ranks[r].waiting.empty()) return {};
  return in.number_of(in.run().waits.ranks[r].waiting.front().rank);
}

constexpr ColumnOf<std::uint32_t, InRun> kRank[] = {
    {"rank", id, "its number; NULL where neither the file nor its name states it",
     [](const InRun& in, const std::uint32_t& r) { return in.number_of(r); }},
    {"file", text, "the recording",
     [](const InRun& in, const std::uint32_t& r) -> CellValue { return std::string_view(in.rank(r).file); }},
    {"world_size", count, "ranks of the run, as the file states it; NULL where it does not",
     [](const InRun& in, const std::uint32_t& r) { return if_positive(in.rank(r).world_size); }},
    {"device", id, "number of the GPU accounted for: that of its collectives; NULL without GPU work", of_account<device_of>},
    {"ts", ns, "begin of that GPU's window, on the axis of the trace that is open", of_account<begin_of>},
    {"dur", ns, "duration of the window: compute, communication, copies and idle", spent<&AccountTimes::window>},
    {"compute_ns", ns, "kernels ran that compute", spent<&AccountTimes::compute>},
    {"exposed_communication_ns", ns, "only kernels ran that communicate: the sum of the next three",
     spent<&AccountTimes::exposed_communication>},
    {"transfer_ns", ns, "of that, transfer; NULL, here and below, where no other rank was read", split<&RankNumbers::transfer>},
    {"waiting_ns", ns, "of that, waiting for ranks that came later", of_account<waiting_of>},
    {"unsplit_ns", ns, "of that, what found no partner in another rank, or does not show which rank waits for which",
     split<&RankNumbers::unsplit>},
    {"exposed_copies_ns", ns, "only copies and fills ran", spent<&AccountTimes::exposed_copies>},
    {"idle_ns", ns, "nothing ran", of_account<idle_of>},
    {"waits_for", id, "the rank that it waits for longest", longest_waited_for},
    {"cost_ns", ns, "what all others waited for it, summed over ranks",
     [](const InRun& in, const std::uint32_t& r) { return in.compared() ? CellValue(in.run().waits.lost[r]) : CellValue(); }},
    {"total_wait_ns", ns, "latest begin less its own, summed over collectives: TraceLens' wait",
     numbered<&RankNumbers::total_wait>},
    {"times_last", count, "collectives to which it came last", numbered<&RankNumbers::times_last>},
    {"times_first", count, "collectives to which it came first", numbered<&RankNumbers::times_first>},
    {"collectives", count, "kernels that say which collective they are",
     [](const InRun& in, const std::uint32_t& r) -> CellValue { return in.rank(r).collectives.size(); }},
    {"unmatched", count, "of these, without a partner in another rank",
     [](const InRun& in, const std::uint32_t& r) {
       return in.compared() ? CellValue(in.run().matches.unmatched[r]) : CellValue();
     }},
    {"unnamed", count, "communication kernels that do not say it",
     [](const InRun& in, const std::uint32_t& r) -> CellValue { return in.rank(r).unnamed; }},
    {"clock_offset_ns", ns, "how far its clock is ahead of the lowest rank's", clock_of<&RankClock::offset>},
    {"clock_residual_ns", ns, "how far the ends of collectives then disagree, median; NULL where not compared",
     clock_of<&RankClock::residual>},
};

// ---- Collectives

// A rank's part in one.
struct Coll {
  std::uint32_t id, r, at;  // `at`: among the rank's
  std::uint32_t matched;    // kUnmatched: without a partner
};
struct InCollectives : InRun {
  const std::map<std::pair<Ns, std::int32_t>, SliceId>& slices;  // of the open trace: no two kernels of a stream begin at once
  const RankCollective& of(const Coll& c) const { return rank(c.r).collectives[c.at]; }
  const CollectiveWhat& what(const Coll& c) const { return rank(c.r).what(c.at); }
  const CollectiveNumbers& numbers(const Coll& c) const { return run().waits.collectives[c.matched]; }
};

template <std::string CollectiveWhat::*Member>
CellValue worded(const InCollectives& in, const Coll& c) {
  return if_any(in.what(c).*Member);
}
template <auto Member>
CellValue what(const InCollectives& in, const Coll& c) {
  return in.what(c).*Member;
}
// Of what takes a partner to be known.
template <auto Value>
CellValue matched(const InCollectives& in, const Coll& c) {
  return c.matched != kUnmatched ? Value(in, c) : CellValue();
}
CellValue slice_of(const InCollectives& in, const Coll& c) {
  if (c.r != in.world.own_rank()) return {};
  const auto at = in.slices.find({in.of(c).span.begin, in.what(c).stream});
  return at == in.slices.end() ? CellValue() : in.id(at->second);
}
CellValue bytes_of(const InCollectives& in, const Coll& c) {
  return element_bytes(in.what(c).dtype) > 0 ? CellValue(in.what(c).full_bytes()) : CellValue();
}
CellValue step_of_launch(const InCollectives& in, const Coll& c) {
  const RankCollective& of = in.of(c);
  return of.step != kNoStep ? CellValue(std::string_view(in.rank(c.r).steps[of.step].name)) : CellValue();
}
CellValue waited(const InCollectives& in, const Coll& c) {
  const CollectiveType type = in.what(c).type;
  if (!waits_for_all(type) && !is_point_to_point(type)) return {};
  return wait_of(in.run().clocks.ranks[c.r].on_axis(in.of(c).span), in.numbers(c), type);
}
CellValue match_id(const InCollectives&, const Coll& c) { return c.matched; }
CellValue ranks_matched(const InCollectives& in, const Coll& c) { return in.run().matches.all[c.matched].count; }
CellValue last_rank(const InCollectives& in, const Coll& c) { return in.number_of(in.numbers(c).last); }
CellValue latency(const InCollectives& in, const Coll& c) { return in.numbers(c).latency; }
CellValue start_skew(const InCollectives& in, const Coll& c) { return in.numbers(c).start_skew(); }
CellValue end_skew(const InCollectives& in, const Coll& c) { return in.numbers(c).end_skew; }
template <auto Bandwidth>
CellValue rate(const InCollectives& in, const Coll& c) {
  const Member& first = in.run().matches.of(in.run().matches.all[c.matched]).front();
  return if_positive(Bandwidth(in.numbers(c), in.rank(first.rank).what(first.at)));
}

constexpr ColumnOf<Coll, InCollectives> kCollective[] = {
    {"id", id, "number of the row: by rank, then by begin", &field<&Coll::id>},
    {"rank", id, "rank.rank", [](const InCollectives& in, const Coll& c) { return in.number_of(c.r); }},
    {"slice_id", id, "slice.id of the kernel; NULL of a rank that is not the open trace", slice_of},
    {"ts", ns, "begin, on the axis of the trace that is open",
     [](const InCollectives& in, const Coll& c) -> CellValue { return in.shown(c.r, in.of(c).span.begin); }},
    {"dur", ns, "duration of this rank's kernel: waiting and transfer",
     [](const InCollectives& in, const Coll& c) -> CellValue { return in.of(c).span.length(); }},
    {"step", text, "the step that launched it", step_of_launch},
    {"name", text, "as the file has it: allreduce, _allgather_base, ...", worded<&CollectiveWhat::name>},
    {"type", text, "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, send, receive, ...",
     [](const InCollectives& in, const Coll& c) -> CellValue { return collective_type_words(in.what(c).type); }},
    {"dtype", text, "of its elements: Float, BFloat16, ...", worded<&CollectiveWhat::dtype>},
    {"in_elements", count, "elements of its input", what<&CollectiveWhat::in_elements>},
    {"out_elements", count, "elements of its output", what<&CollectiveWhat::out_elements>},
    {"bytes", bytes, "of the full message; NULL where the type's size is not known", bytes_of},
    {"group_name", text, "the process group", worded<&CollectiveWhat::group>},
    {"group_description", text, "what that is called: default_pg, mesh_tp, ...", worded<&CollectiveWhat::description>},
    {"group_ranks", text, "its ranks as JSON; PyTorch cuts long lists", worded<&CollectiveWhat::members>},
    {"group_size", count, "how many ranks it has",
     [](const InCollectives& in, const Coll& c) { return if_positive(in.what(c).group_size); }},
    {"seq", id, "number among the group's collectives; NULL where not recorded",
     [](const InCollectives& in, const Coll& c) {
       const auto seq = in.rank(c.r).seq(c.at);
       return seq >= 0 ? CellValue(seq) : CellValue();
     }},
    {"stream", id, "of the kernel", what<&CollectiveWhat::stream>},
    {"match_id", id, "shared by the ranks of one collective; NULL, here and below, without a partner", matched<match_id>},
    {"matched_ranks", count, "how many ranks of it were read", matched<ranks_matched>},
    {"wait_ns", ns, "how long this rank waited for the last to come; NULL of kinds where that is not known", matched<waited>},
    {"last_rank", id, "the rank that came last", matched<last_rank>},
    {"latency_ns", ns, "its shortest duration of all ranks", matched<latency>},
    {"start_skew_ns", ns, "latest begin less earliest", matched<start_skew>},
    {"end_skew_ns", ns, "latest end less earliest", matched<end_skew>},
    {"algorithm_gb_per_s", real, "bytes over latency; NULL where not defined", matched<rate<algorithm_bandwidth>>, "2^30 B/s"},
    {"bus_gb_per_s", real, "that times nccl-tests' factor, 2(n-1)/n or (n-1)/n", matched<rate<bus_bandwidth>>, "2^30 B/s"},
};

}  // namespace

void add_run_tables(World& world, TableList& out) {
  const auto ranks = [&world] {
    std::vector<std::uint32_t> rows(world.run().run.ranks.size());
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
  };
  out.push_back(column_table("rank", "the ranks of the run: their accounts, whom they wait for, what they cost the others",
                             kRank, InRun{{world}}, ranks, 8));
  const auto collectives = [&world, slices = std::map<std::pair<Ns, std::int32_t>, SliceId>()]() mutable {
    std::vector<Coll> rows;
    const RunReport& run = world.run();
    for (std::uint32_t r = 0; r < run.run.ranks.size(); ++r)
      for (std::uint32_t at = 0; at < run.run.ranks[r].collectives.size(); ++at)
        rows.push_back({static_cast<std::uint32_t>(rows.size()), r, at, run.waits.matched_of[r][at]});
    for (const GpuOp& op : world.session().ops())
      if (const OpRow* args = world.trace().op_row(op.slice); args != nullptr && args->collective_args)
        slices.emplace(std::pair(op.span.begin, op.stream), op.slice);
    return rows_of(kCollective, InCollectives{{{world}}, slices}, std::move(rows));
  };
  out.push_back(
      column_table("collective", "every rank's part in every collective: what it moved, how long it waited for the last",
                   std::make_unique<ColumnRows>(std::span<const ColumnOf<Coll, InCollectives>>(kCollective), collectives)));
}

}  // namespace gapscope::sql
