// Several ranks in one file, as tools that merge traces write them: the processes of each are separated by what the tool put
// into their ids or names, else by whose launches their kernels are. Ids that ranks share are made their own.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/doubts/doubts.h"
#include "core/load/doubts/leave_out.h"

namespace gapscope {
namespace {

constexpr std::size_t kSamples = 4096;  // of calls and of GPU work, evenly taken
constexpr std::int64_t kLeastOffset = 10'000;
constexpr unsigned kRankShift = 40;  // ids of the second rank on are above what any recording counts to

struct Member {
  bool has_calls = false, has_work = false;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;  // where its calls and work are in the file
  std::string label;                                  // what the id or the name says of its rank: "[TP01]"; may be empty
  std::int64_t number = -1;                           // of the id without the label
  std::int32_t stated = -1;                           // the rank that its name states
  std::int32_t rank = -1;                             // the stated one where all state theirs, else its position in the file
};

// How well launches of a host fit the work of a GPU.
struct Fit {
  std::uint64_t pairs = 0;
  double delay = 0;  // of all together
  void add(Ns ns) {
    ++pairs;
    delay += static_cast<double>(ns);
  }
  double mean() const { return pairs == 0 ? 0 : delay / static_cast<double>(pairs); }
};

// "[TP01] 500" is "[TP01]" and 500, "rank1_500" is "rank1" and 500, "500" is nothing and 500.
void split_key(std::string_view key, Member& member) {
  // "5000_rank1", "5000@1": the number is before the label.
  const std::size_t first = static_cast<std::size_t>(std::find_if_not(key.begin(), key.end(), is_digit) - key.begin());
  if (first > 0 && first < key.size()) {
    std::from_chars(key.data(), key.data() + first, member.number);
    member.label = std::string(key.substr(first));
    return;
  }
  std::size_t digits = key.size();
  while (digits > 0 && is_digit(key[digits - 1])) --digits;
  const std::string_view number = key.substr(digits);
  std::from_chars(number.data(), number.data() + number.size(), member.number);
  std::string_view label = key.substr(0, digits);
  // "[TP01] Spans": what a bracket holds is the label, whatever follows.
  if (const std::size_t close = key.find(']'); key.starts_with('[') && close != key.npos) label = key.substr(0, close + 1);
  while (!label.empty() && (label.back() == ' ' || label.back() == '_' || label.back() == '-' || label.back() == ':' ||
                            label.back() == '/' || label.back() == '.'))
    label.remove_suffix(1);
  const bool says_something = std::any_of(label.begin(), label.end(), [](char c) { return c != '-' && c != ' '; });
  if (says_something) member.label = std::string(label);
}

// "rank 3: python3", "python3 (rank3)": the number behind the word.
std::int32_t rank_in(const ProcessClue& process) {
  for (const std::string_view text : {process.name, process.labels, process.key})
    if (const std::int32_t rank = number_behind(text, "rank"); rank >= 0) return rank;
  return -1;
}

class RankFinder {
 public:
  RankFinder(Header& header, RowStore& rows) : header_(header), rows_(rows), clues_(header, rows) {}

  // The processes of each rank; false where the file is of one.
  bool find() {
    members_.resize(clues_.processes.size());
    for (std::size_t p = 0; p < members_.size(); ++p) {
      split_key(clues_.processes[p].key, members_[p]);
      members_[p].stated = rank_in(clues_.processes[p]);
      if (members_[p].stated >= 0) members_[p].label = fmt::format("rank {}", members_[p].stated);
    }
    sample(rows_.calls, [&](const StoredCall& c) { meet(c.slice).has_calls = true; });
    sample(rows_.gpu, [&](const StoredGpu& g) { meet(g.slice).has_work = true; });
    const auto hosts = std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.has_calls; });
    const auto gpus = std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.has_work; });
    if (hosts < 2 || gpus < 2) return false;
    return by_labels() || by_launches();
  }

  void part(std::int32_t only_rank, std::vector<Doubt>& out) {
    const bool share_ids = ids_are_shared();
    number_gpus();
    for (std::size_t p = 0; p < members_.size(); ++p)
      if (members_[p].rank >= 0) rows_.process_marks[std::string(clues_.processes[p].key)].rank = members_[p].rank;
    SideTables::Writer side(*rows_.side);
    PagedRows<StoredGpu> gpu;
    rows_.gpu.each([&](const StoredGpu& stored, std::size_t) {
      GpuRow row = unpack(stored, *rows_.side);
      const Member& m = member_of(stored.slice);
      if (const auto at = device_of_.find(&m - members_.data()); at != device_of_.end()) row.device = at->second;
      if (share_ids) row.correlation = own(row.correlation, m.rank);
      gpu.push_back(pack(row, side));
    });
    rows_.gpu = std::move(gpu);
    if (share_ids) part_ids(side);
    part_memory(side);
    if (only_rank >= 0) return leave_out_others(only_rank);
    out.push_back(
        {DoubtKind::several_ranks,
         ranks_,
         "GPUs, steps and launches",
         fmt::format("This file holds {} ranks. Each has its own GPU here. gapscope ranks FILE shows who waits for whom.",
                     ranks_),
         true,
         false,
         {}});
  }

 private:
  template <class Rows, class Take>
  static void sample(const Rows& rows, Take take) {
    const std::size_t stride = rows.size() / kSamples + 1;
    for (std::size_t i = 0; i < rows.size(); i += stride) take(rows[i]);
  }
  std::uint32_t process_of(std::uint32_t slice) const { return clues_.lanes[rows_.slices[slice].lane].process; }
  Member& member_of(std::uint32_t slice) { return members_[process_of(slice)]; }
  Member& meet(std::uint32_t slice) {
    Member& member = member_of(slice);
    member.first = std::min(member.first, offset_of(rows_.slices[slice]));
    member.last = std::max(member.last, offset_of(rows_.slices[slice]));
    return member;
  }
  static std::uint64_t own(std::uint64_t id, std::int32_t rank) {
    return id == 0 || rank <= 0 ? id : id | (static_cast<std::uint64_t>(rank) << kRankShift);
  }

  void leave_out_others(std::int32_t only_rank) {
    const auto goes = [&](std::uint32_t lane) {
      return lane != StoredInstant::kAllLanes && members_[clues_.lanes[lane].process].rank >= 0 &&
             members_[clues_.lanes[lane].process].rank != only_rank;
    };
    leave_out(rows_, [&](std::uint32_t lane, Ns) { return goes(lane); });
    PagedRows<RawCounter> counters;
    rows_.counters.each([&](const RawCounter& c, std::size_t) {
      if (!goes(c.lane)) counters.push_back(c);
    });
    rows_.counters = std::move(counters);
  }

  // Each host and each GPU has a label, and each label both.
  bool by_labels() {
    std::map<std::string, std::pair<bool, bool>> labels;
    for (const Member& m : members_) {
      if (!m.has_calls && !m.has_work) continue;
      if (m.label.empty()) return false;
      labels[m.label].first |= m.has_calls;
      labels[m.label].second |= m.has_work;
    }
    const bool all_whole =
        std::all_of(labels.begin(), labels.end(), [](const auto& l) { return l.second.first && l.second.second; });
    if (labels.size() < 2 || !all_whole) return false;
    std::map<std::string, std::int32_t> rank_of;
    // By the numbers in the labels, so that "TP10" comes after "TP2".
    std::vector<std::string> order;
    for (const auto& [label, ignored] : labels) order.push_back(label);
    std::stable_sort(order.begin(), order.end(),
                     [](const std::string& a, const std::string& b) { return numbers(a) < numbers(b); });
    for (const std::string& label : order) rank_of.emplace(label, static_cast<std::int32_t>(rank_of.size()));
    const auto has_label = [&](const Member& m) { return rank_of.contains(m.label); };
    const bool all_stated =
        std::all_of(members_.begin(), members_.end(), [&](const Member& m) { return !has_label(m) || m.stated >= 0; });
    for (Member& m : members_)
      if (has_label(m)) m.rank = all_stated ? m.stated : rank_of[m.label];
    ranks_ = labels.size();
    return true;
  }
  static std::vector<std::int64_t> numbers(std::string_view text) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < text.size();) {
      if (!is_digit(text[i])) {
        ++i;
        continue;
      }
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
      out.push_back(error == std::errc{} ? number : 0);
      i = static_cast<std::size_t>(end - text.data());
    }
    return out;
  }

  // Each process with calls is a rank; a GPU is of the one whose launches its work fits, of several the one with the next id.
  bool by_launches() {
    std::vector<std::size_t> hosts;
    for (std::size_t p = 0; p < members_.size(); ++p)
      if (members_[p].has_calls) hosts.push_back(p);
    std::stable_sort(hosts.begin(), hosts.end(),
                     [&](std::size_t a, std::size_t b) { return members_[a].number < members_[b].number; });
    for (std::size_t h = 0; h < hosts.size(); ++h) members_[hosts[h]].rank = static_cast<std::int32_t>(h);
    ranks_ = hosts.size();
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint32_t, Ns>>> wanted;  // by correlation: its calls
    sample(rows_.gpu, [&](const StoredGpu& g) {
      if (g.correlation != 0) wanted[rows_.side->overflow.unpack(g.correlation)];
    });
    rows_.calls.each([&](const StoredCall& c, std::size_t) {
      if (const auto at = wanted.find(rows_.side->overflow.unpack(c.correlation)); at != wanted.end())
        at->second.emplace_back(process_of(c.slice), rows_.slices[c.slice].begin);
    });
    std::vector<std::map<std::uint32_t, Fit>> fits(members_.size());  // by GPU and host
    sample(rows_.gpu, [&](const StoredGpu& g) {
      const auto at = wanted.find(rows_.side->overflow.unpack(g.correlation));
      if (at == wanted.end()) return;
      for (const auto& [host, begin] : at->second)
        if (begin <= rows_.slices[g.slice].begin) fits[process_of(g.slice)][host].add(rows_.slices[g.slice].begin - begin);
    });
    return by_place(hosts, fits) || by_delays(hosts, fits) || by_order(hosts, fits);
  }

  using Fits = std::vector<std::map<std::uint32_t, Fit>>;  // by GPU and host

  // Gives each GPU the host that `host_of` names among those that launched most of its work; none for -1. A process that
  // launches nothing that is here is no rank of its own.
  template <class HostOf>
  bool assign(const std::vector<std::size_t>& hosts, const Fits& fits, HostOf host_of) {
    std::set<std::int32_t> with_gpu;
    for (std::size_t p = 0; p < members_.size(); ++p) {
      Member& gpu = members_[p];
      if (!gpu.has_work || gpu.has_calls) continue;
      std::uint64_t most = 0;
      for (const auto& [host, fit] : fits[p]) most = std::max(most, fit.pairs);
      std::vector<std::size_t> may_be;  // positions in `hosts`
      for (std::size_t h = 0; h < hosts.size(); ++h) {
        const auto fit = fits[p].find(static_cast<std::uint32_t>(hosts[h]));
        if ((fit == fits[p].end() ? 0 : fit->second.pairs) * 10 >= most * 9) may_be.push_back(h);
      }
      const std::ptrdiff_t chosen = may_be.empty() ? -1 : host_of(p, may_be);
      if (chosen < 0) return false;
      gpu.rank = static_cast<std::int32_t>(chosen);
      with_gpu.insert(gpu.rank);
    }
    return with_gpu.size() == hosts.size();
  }

  // Files that were put one behind the other: what is between a host's begin and the next one's is of that host.
  bool by_place(const std::vector<std::size_t>& hosts, const Fits& fits) {
    std::vector<std::size_t> order(hosts.size());
    for (std::size_t h = 0; h < order.size(); ++h) order[h] = h;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return members_[hosts[a]].first < members_[hosts[b]].first; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (members_[hosts[order[i]]].first <= members_[hosts[order[i - 1]]].last) return false;
    return assign(hosts, fits, [&](std::size_t gpu, const std::vector<std::size_t>& may_be) -> std::ptrdiff_t {
      for (std::size_t i = 0; i < order.size(); ++i) {
        const bool is_behind = i == 0 || members_[gpu].first > members_[hosts[order[i - 1]]].last;
        const bool is_before = i + 1 == order.size() || members_[gpu].last < members_[hosts[order[i + 1]]].first;
        if (is_behind && is_before)
          return std::find(may_be.begin(), may_be.end(), order[i]) == may_be.end() ? -1 : static_cast<std::ptrdiff_t>(order[i]);
      }
      return -1;
    });
  }

  // Numbers far apart are offsets that a tool added: then the nearest host is a GPU's own. Else the one with the least delay.
  bool by_delays(const std::vector<std::size_t>& hosts, const Fits& fits) {
    const bool has_offsets = members_[hosts.back()].number - members_[hosts.front()].number > kLeastOffset;
    return assign(hosts, fits, [&](std::size_t gpu, const std::vector<std::size_t>& may_be) {
      const auto away = [&](std::size_t h) {
        if (has_offsets) return static_cast<double>(std::abs(members_[hosts[h]].number - members_[gpu].number));
        const auto fit = fits[gpu].find(static_cast<std::uint32_t>(hosts[h]));
        return fit == fits[gpu].end() ? 0 : fit->second.mean();
      };
      return static_cast<std::ptrdiff_t>(
          *std::min_element(may_be.begin(), may_be.end(), [&](std::size_t a, std::size_t b) { return away(a) < away(b); }));
    });
  }

  // Hosts that begin within a launch's delay of each other fit all GPUs, the last one best: where there are as many of both,
  // each has the one at its own place among them.
  bool by_order(const std::vector<std::size_t>& hosts, const Fits& fits) {
    std::vector<std::size_t> gpus;
    for (std::size_t p = 0; p < members_.size(); ++p)
      if (members_[p].has_work && !members_[p].has_calls) gpus.push_back(p);
    if (gpus.size() != hosts.size()) return false;
    std::stable_sort(gpus.begin(), gpus.end(),
                     [&](std::size_t a, std::size_t b) { return members_[a].number < members_[b].number; });
    return assign(hosts, fits, [&](std::size_t gpu, const std::vector<std::size_t>& may_be) -> std::ptrdiff_t {
      const auto place = static_cast<std::size_t>(std::find(gpus.begin(), gpus.end(), gpu) - gpus.begin());
      return std::find(may_be.begin(), may_be.end(), place) == may_be.end() ? -1 : static_cast<std::ptrdiff_t>(place);
    });
  }

  bool ids_are_shared() const {
    std::unordered_map<std::uint32_t, std::uint32_t> rank_of;  // by packed correlation
    bool shared = false;
    rows_.calls.each([&](const StoredCall& c, std::size_t) {
      if (shared || c.correlation == 0) return;
      const auto rank = static_cast<std::uint32_t>(members_[process_of(c.slice)].rank);
      const auto [at, is_new] = rank_of.try_emplace(c.correlation, rank);
      shared = !is_new && at->second != rank;
    });
    return shared;
  }

  void part_ids(SideTables::Writer& side) {
    rows_.calls.each([&](StoredCall& c, std::size_t) {
      c.correlation = side.overflow.pack(own(rows_.side->overflow.unpack(c.correlation), member_of(c.slice).rank));
    });
    rows_.slices.each([&](StoredSlice& s, std::size_t) {
      if (s.external_id == 0) return;
      const std::int32_t rank = members_[clues_.lanes[s.lane].process].rank;
      s.external_id = side.overflow.pack(own(rows_.side->overflow.unpack(s.external_id), rank));
    });
    rows_.flows.each([&](StoredFlow& f, std::size_t) {
      f.id = side.overflow.pack(own(rows_.side->overflow.unpack(f.id), members_[clues_.lanes[f.lane_or_slice].process].rank));
    });
  }

  // A GPU's own number where no two have one; else they are counted.
  void number_gpus() {
    std::vector<std::size_t> gpus;
    std::set<std::int64_t> numbers;
    for (std::size_t p = 0; p < members_.size(); ++p)
      if (members_[p].has_work) gpus.push_back(p);
    std::stable_sort(gpus.begin(), gpus.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(members_[a].rank, members_[a].number) < std::pair(members_[b].rank, members_[b].number);
    });
    const auto stated = [&](std::size_t p) -> std::int64_t {
      const std::int32_t labelled = number_behind(clues_.processes[p].labels, "GPU");
      return labelled >= 0 ? labelled : members_[p].number;
    };
    constexpr std::int64_t kMostGpus = 1024;  // more is an offset that a tool added
    bool are_own = true;
    for (const std::size_t p : gpus) are_own &= stated(p) >= 0 && stated(p) < kMostGpus && numbers.insert(stated(p)).second;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const std::int64_t before = stated(gpus[i]);
      const auto device = static_cast<std::int32_t>(are_own ? before : static_cast<std::int64_t>(i));
      device_of_[static_cast<std::ptrdiff_t>(gpus[i])] = device;
      rows_.process_marks[std::string(clues_.processes[gpus[i]].key)].device = device;
      describe(device, before < kMostGpus ? before : 0);
    }
    std::sort(header_.devices.begin(), header_.devices.end(),
              [](const DeviceProperties& a, const DeviceProperties& b) { return a.id < b.id; });
  }
  // A GPU that the file describes under another number, or as the first one's twin.
  void describe(std::int32_t device, std::int64_t before) {
    const auto of = [&](std::int64_t id) {
      return std::find_if(header_.devices.begin(), header_.devices.end(),
                          [&](const DeviceProperties& d) { return d.id == id; });
    };
    if (header_.devices.empty() || of(device) != header_.devices.end()) return;
    const auto like = of(before);
    DeviceProperties copy = like != header_.devices.end() ? *like : header_.devices.front();
    copy.id = device;
    header_.devices.push_back(std::move(copy));
  }

  // Memory of a rank with one GPU is that GPU's.
  void part_memory(SideTables::Writer& side) {
    std::map<std::int32_t, std::set<std::int32_t>> gpus_of_rank;
    for (const auto& [process, device] : device_of_)
      gpus_of_rank[members_[static_cast<std::size_t>(process)].rank].insert(device);
    PagedRows<StoredMemory> memory;
    rows_.memory.each([&](const StoredMemory& stored, std::size_t) {
      MemoryRow row = unpack(stored, *rows_.side);
      const auto at = gpus_of_rank.find(members_[clues_.lanes[row.lane.index()].process].rank);
      if (row.device_type != 0 && at != gpus_of_rank.end() && at->second.size() == 1)
        row.device = static_cast<std::int16_t>(*at->second.begin());
      memory.push_back(pack(row, side));
    });
    rows_.memory = std::move(memory);
  }

  Header& header_;
  RowStore& rows_;
  const Clues clues_;
  std::vector<Member> members_;  // by position in clues_.processes
  std::map<std::ptrdiff_t, std::int32_t> device_of_;
  std::size_t ranks_ = 0;
};

}  // namespace

void add_ranks(Header& header, RowStore& rows, std::int32_t only_rank, std::vector<Doubt>& out) {
  if (rows.calls.empty() || rows.gpu.empty()) return;
  RankFinder ranks(header, rows);
  if (ranks.find()) ranks.part(only_rank, out);
}

}  // namespace gapscope
