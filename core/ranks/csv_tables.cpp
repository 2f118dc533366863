#include "core/ranks/csv_tables.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/table/csv.h"

namespace gapscope {
namespace {

constexpr double kMb = 1024.0 * 1024.0;

double us(Ns ns) { return static_cast<double>(ns) / 1e3; }
double rounded(double value) { return std::nearbyint(value * 10) / 10; }

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A line of cells; what is not known (or not a number) stays empty.
class Line {
 public:
  template <class... Cells>
  explicit Line(std::string& out, const Cells&... cells) : out_(out) {
    add(cells...);
  }
  ~Line() { out_ += '\n'; }
  template <class... Cells>
  void add(const Cells&... cells) {
    (put(cells), ...);
  }

 private:
  void put(std::string_view text) { raw(csv_cell(text)); }
  void put(double value) { raw(std::isfinite(value) ? fmt::format("{}", value) : ""); }
  void put(std::integral auto value) { raw(std::to_string(value)); }
  void raw(const std::string& cell) {
    if (std::exchange(any_, true)) out_ += ',';
    out_ += cell;
  }
  std::string& out_;
  bool any_ = false;
};

// One collective as TraceLens sees it.
struct Seen {
  std::vector<double> begin, duration, end;  // by member
  double first_begin = 0, latest_begin = 0, first_end = 0, latest_end = 0, latency = 0, longest = 0, wait_sum = 0;
  std::uint32_t first = 0, last = 0;  // positions in the ranks

  double start_skew() const { return latest_begin - first_begin; }
  double end_skew() const { return latest_end - first_end; }
};

class Tables {
 public:
  explicit Tables(const RunReport& report) : r_(report), ranks_(report.run.ranks) {}

  std::string sync() const {
    std::string out;
    {
      Line head(out, "collective_id", "Process Group Name", "Process Group Ranks", "Collective name", "Group size", "dtype",
                "In msg nelems", "Out msg nelems", "In msg size (MB)", "Out msg size (MB)", "Full msg size (MB)",
                "comm_latency", "skew in start time", "earliest arrival rank", "avg_wait_time", "skew in end time",
                "algo bw (GB/s)", "bus bw (GB/s)");
      for (const RankData& r : ranks_) head.add(fmt::format("rank_{}_ts", r.rank), fmt::format("rank_{}_dur", r.rank));
      for (const RankData& r : ranks_) head.add(fmt::format("rank_{}_wait_time", r.rank));
    }
    for (const std::size_t i : in_file_order())
      if (has_skew_table(what(i).type)) sync_line(i, out);
    return out;
  }

  std::string summary() const {
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i)
      if (has_skew_table(what(i).type)) groups[{what(i).name, what(i).dtype, what(i).in_elements}].push_back(i);
    std::vector<const std::vector<std::size_t>*> order;
    order.reserve(groups.size());
    for (const auto& [key, members] : groups) order.push_back(&members);
    const auto total = [&](const std::vector<std::size_t>& members) {
      double sum = 0;
      for (const std::size_t i : members) sum += seen(i).latency;
      return sum;
    };
    std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return total(*a) > total(*b); });
    std::string out;
    Line(out, "Collective name", "dtype", "In msg nelems", "Process Group Name", "Group size", "Full msg size (MB)",
         "comm_latency_mean", "comm_latency_std", "skew in start time_mean", "skew in start time_std", "skew in end time_mean",
         "skew in end time_std", "algo bw (GB/s)_mean", "algo bw (GB/s)_std", "bus bw (GB/s)_mean", "bus bw (GB/s)_std",
         "count", "Total comm latency (ms)");
    for (const auto* members : order) {
      const CollectiveWhat& w = what(members->front());
      Line line(out, w.name, w.dtype, w.in_elements, w.group, w.group_size, mb(w.full_bytes(), w));
      mean_and_deviation(line, *members, [&](std::size_t i) { return seen(i).latency; });
      mean_and_deviation(line, *members, [&](std::size_t i) { return seen(i).start_skew(); });
      mean_and_deviation(line, *members, [&](std::size_t i) { return seen(i).end_skew(); });
      mean_and_deviation(line, *members, [&](std::size_t i) { return bandwidth(i); });
      mean_and_deviation(line, *members,
                         [&](std::size_t i) { return bandwidth(i) * bus_factor(what(i).type, what(i).group_size); });
      line.add(members->size(), total(*members) / 1000);
    }
    return out;
  }

  std::string straggler() const {
    std::vector<std::size_t> order;
    struct OfRank {
      double wait = 0;
      std::int64_t part = 0, last = 0, first = 0;
    };
    std::vector<OfRank> sums(ranks_.size());
    std::int64_t all = 0;
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i) {
      if (!has_skew_table(what(i).type)) continue;
      const Seen s = seen(i);
      for (std::size_t m = 0; m < members(i).size(); ++m) {
        sums[members(i)[m].rank].wait += s.latest_begin - s.begin[m];
        ++sums[members(i)[m].rank].part;
      }
      ++sums[s.last].last;
      ++sums[s.first].first;
      ++all;
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (sums[r].part > 0) order.push_back(r);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a].wait < sums[b].wait; });
    std::string out;
    Line(out, "rank", "total_wait_time_us", "mean_wait_time_us", "times_arrived_last", "times_arrived_first",
         "pct_arrived_last", "num_collectives", "total_nccl_dur_us");
    for (const std::size_t r : order) {
      const OfRank& n = sums[r];
      Line(out, ranks_[r].rank, rounded(n.wait), rounded(n.wait / static_cast<double>(n.part)), n.last, n.first,
           rounded(100.0 * static_cast<double>(n.last) / static_cast<double>(all)), all,
           rounded(us(ranks_[r].communication_time)));
    }
    return out;
  }

  std::string alltoall() const {
    std::string out;
    {
      Line head(out, "collective_id", "Process Group Name", "Process Group Ranks", "Collective name", "Group size", "dtype",
                "stream", "total data communicated (MB)", "total nelems communicated", "wall_time (us)", "max_rank_dur (us)",
                "min_rank_dur (us)", "avg_rank_dur (us)", "throughput (GB/s)", "max_rank_throughput (GB/s)",
                "min_rank_throughput (GB/s)", "size_imbalance", "skew in start time", "skew in end time");
      for (const RankData& r : ranks_)
        for (const char* column : {"ts", "dur", "In msg nelems", "Out msg nelems", "In msg size (MB)", "Out msg size (MB)",
                                   "In split size", "Out split size"})
          head.add(fmt::format("rank_{}_{}", r.rank, column));
      for (const RankData& r : ranks_)
        for (const char* column : {"skew in start time", "skew in end time"})
          head.add(fmt::format("rank_{}_{}", r.rank, column));
    }
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i)
      if (what(i).type == CollectiveType::all_to_all_v) alltoall_line(i, out);
    return out;
  }

 private:
  std::span<const Member> members(std::size_t i) const { return r_.matches.of(r_.matches.all[i]); }
  const RankCollective& collective(const Member& m) const { return ranks_[m.rank].collectives[m.at]; }
  const CollectiveWhat& what(const Member& m) const { return ranks_[m.rank].what(m.at); }
  const CollectiveWhat& what(std::size_t i) const { return what(members(i).front()); }
  // On the axis, as the first rank's file counts.
  Ns time(const Member& m) const {
    return r_.clocks.ranks[m.rank].on_axis(collective(m).span.begin) - r_.clocks.ranks.front().add;
  }

  // As the file of the first rank that took part has them.
  std::vector<std::size_t> in_file_order() const {
    std::vector<std::size_t> order(r_.matches.all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto place = [&](std::size_t i) {
      const Member& first = members(i).front();
      return std::pair(first.rank, ranks_[first.rank].place_in_file(first.at));
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    return order;
  }

  // Not a number where the element's size is not known.
  static double mb(std::uint64_t bytes, const CollectiveWhat& w) {
    return element_bytes(w.dtype) > 0 ? static_cast<double>(bytes) / kMb : kNone;
  }
  double bandwidth(std::size_t i) const {
    const double latency = seen(i).latency;
    return latency > 0 ? mb(what(i).full_bytes(), what(i)) / 1024 / (latency / 1e6) : kNone;
  }
  Seen seen(std::size_t i) const {
    Seen s;
    for (const Member& m : members(i)) {
      const bool is_first = s.begin.empty();
      const double begin = us(time(m)), duration = us(collective(m).span.length()), end = begin + duration;
      if (is_first || begin <= s.first_begin) s.first_begin = begin, s.first = m.rank;
      if (is_first || begin > s.latest_begin) s.latest_begin = begin, s.last = m.rank;
      s.first_end = is_first ? end : std::min(s.first_end, end);
      s.latest_end = is_first ? end : std::max(s.latest_end, end);
      s.latency = is_first ? duration : std::min(s.latency, duration);
      s.longest = is_first ? duration : std::max(s.longest, duration);
      s.begin.push_back(begin);
      s.duration.push_back(duration);
      s.end.push_back(end);
    }
    for (const double begin : s.begin) s.wait_sum += s.latest_begin - begin;
    return s;
  }
  std::string id(std::size_t i) const { return fmt::format("{}_{}", what(i).group, r_.matches.index_in_group(i)); }

  // The member of each rank by its place, or -1.
  std::vector<std::ptrdiff_t> by_rank(std::size_t i) const {
    std::vector<std::ptrdiff_t> out(ranks_.size(), -1);
    for (std::size_t m = 0; m < members(i).size(); ++m) out[members(i)[m].rank] = static_cast<std::ptrdiff_t>(m);
    return out;
  }

  void sync_line(std::size_t i, std::string& out) const {
    const CollectiveWhat& w = what(i);
    const Seen s = seen(i);
    const std::vector<std::ptrdiff_t> of_ranks = by_rank(i);
    Line line(out, id(i), w.group, w.members, w.name, w.group_size, w.dtype, w.in_elements, w.out_elements, mb(w.in_bytes(), w),
              mb(w.out_bytes(), w), mb(w.full_bytes(), w), s.latency, s.start_skew(), ranks_[s.first].rank,
              s.wait_sum / static_cast<double>(s.begin.size()), s.end_skew(), bandwidth(i),
              bandwidth(i) * bus_factor(w.type, w.group_size));
    const auto of = [](const std::vector<double>& values, std::ptrdiff_t m) {
      return m >= 0 ? values[static_cast<std::size_t>(m)] : kNone;
    };
    for (const std::ptrdiff_t m : of_ranks) line.add(of(s.begin, m), of(s.duration, m));
    for (const std::ptrdiff_t m : of_ranks) line.add(s.latest_begin - of(s.begin, m));
  }

  void alltoall_line(std::size_t i, std::string& out) const {
    const CollectiveWhat& w = what(i);
    const Seen s = seen(i);
    double sent = 0, most_sent = 0, sum = 0, fastest = kNone, slowest = kNone;
    std::int64_t elements = 0;
    for (std::size_t m = 0; m < s.begin.size(); ++m) {
      const CollectiveWhat& own = what(members(i)[m]);
      const double size = mb(own.in_bytes(), own);
      sent += size;
      most_sent = std::max(most_sent, size);
      elements += own.in_elements;
      sum += s.duration[m];
      if (!(size > 0) || s.duration[m] <= 0) continue;
      const double rate = size / 1024 / (s.duration[m] / 1e6);
      fastest = std::isnan(fastest) ? rate : std::max(fastest, rate);
      slowest = std::isnan(slowest) ? rate : std::min(slowest, rate);
    }
    const auto count = static_cast<double>(s.begin.size());
    const double wall = s.latest_end - s.first_begin;
    Line line(out, id(i), w.group, w.members, w.name, w.group_size, w.dtype, w.stream, sent, elements, wall, s.longest,
              s.latency, sum / count, wall > 0 ? sent / 1024 / (wall / 1e6) : kNone, fastest, slowest,
              sent > 0 ? most_sent / (sent / count) : kNone, s.start_skew(), s.end_skew());
    const std::vector<std::ptrdiff_t> of_ranks = by_rank(i);
    for (const std::ptrdiff_t place : of_ranks) {
      if (place < 0) {
        line.add(kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone);
        continue;
      }
      const auto m = static_cast<std::size_t>(place);
      const CollectiveWhat& own = what(members(i)[m]);
      line.add(s.begin[m], s.duration[m], own.in_elements, own.out_elements, mb(own.in_bytes(), own), mb(own.out_bytes(), own),
               own.in_split, own.out_split);
    }
    for (const std::ptrdiff_t place : of_ranks) {
      const auto m = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, place));
      place < 0 ? line.add(kNone, kNone) : line.add(s.begin[m] - s.first_begin, s.latest_end - s.end[m]);
    }
  }

  // The deviation of a sample; none of a single value.
  template <class Value>
  static void mean_and_deviation(Line& line, const std::vector<std::size_t>& members, Value value) {
    double sum = 0, squares = 0, count = 0;
    for (const std::size_t i : members)
      if (const double v = value(i); std::isfinite(v)) sum += v, ++count;
    if (count == 0) return line.add(kNone, kNone);
    const double mean = sum / count;
    for (const std::size_t i : members)
      if (const double v = value(i); std::isfinite(v)) squares += (v - mean) * (v - mean);
    line.add(mean, count > 1 ? std::sqrt(squares / (count - 1)) : kNone);
  }

  const RunReport& r_;
  const std::vector<RankData>& ranks_;
};

}  // namespace

std::optional<RunTable> run_table_from(std::string_view word) {
  if (word == "sync") return RunTable::sync;
  if (word == "summary") return RunTable::summary;
  if (word == "straggler") return RunTable::straggler;
  if (word == "alltoall") return RunTable::alltoall;
  return std::nullopt;
}

std::string run_csv(const RunReport& report, RunTable table) {
  const Tables tables(report);
  switch (table) {
    case RunTable::sync: return tables.sync();
    case RunTable::summary: return tables.summary();
    case RunTable::straggler: return tables.straggler();
    case RunTable::alltoall: return tables.alltoall();
  }
  return {};
}

}  // namespace gapscope
