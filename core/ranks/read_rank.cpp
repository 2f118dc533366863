#include "core/ranks/read_rank.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/analyze/account/idle_cause.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"
#include "core/ranks/rank_head.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

using Json = nlohmann::json;

void read_header(const Header& header, RankData& out) {
  const std::string_view info = header.find("distributedInfo");
  const RankHead head = rank_head(info);
  out.rank = head.rank;
  out.world_size = std::max<std::int64_t>(0, head.world_size);
  out.base = header.base_time;
  out.has_base = header.has_base_time;
}

bool is_collecting(std::string_view name) {
  return name == "<built-in function collect>" || name.find("gc.collect") != name.npos;
}

// Slices of names that `wants`, wherever they lie: their union.
template <class Wants>
HostEvents host_events(const Trace& trace, Wants wants) {
  std::vector<bool> wanted(trace.strings.size());
  bool any = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = wants(trace.strings[StringId(i)]);
    any = any || wanted[i];
  }
  HostEvents out;
  if (!any) return out;
  std::vector<Span> spans;
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    const SliceId s(i);
    const Kind kind = trace.kind(s);
    if (!wanted[trace.name_id(s).index()] || (kind != Kind::python && kind != Kind::annotation)) continue;
    if (out.first.empty()) out.first = trace.name(s);
    spans.push_back(trace.span_of(s));
  }
  const SpanSet all = span_set(std::move(spans));
  out.count = all.size();
  out.time = length(all);
  return out;
}

class Reducer {
 public:
  Reducer(const FullRank& rank, RankData& out) : rank_(rank), trace_(rank.session->trace()), out_(out) {}

  void run() {
    put_account();
    put_collectives();
    put_work();
  }

 private:
  void put_account() {
    const TimeAccount& account = rank_.session->account();
    out_.devices = static_cast<std::uint32_t>(devices_of(rank_.session->ops()).size());
    out_.device = rank_.device;
    const DeviceAccount* device = account.device(rank_.device);
    std::map<StringId, std::size_t> seen;
    for (const TimeAccount::StepWindow& step : account.steps()) {
      const std::size_t before = seen[trace_.name_id(step.step)]++;
      std::string name(trace_.name(step.step));
      if (before > 0) name += fmt::format(" ({})", before + 1);  // names distinguish steps
      out_.steps.push_back(
          {std::move(name), step.span, device ? account.times_in(*device, step.span).exposed_communication : 0});
    }
    if (!device) return;
    out_.account = device->times;
    out_.window = device->window;
    out_.exposed_communication = PackedSpans(device->exposed_communication);
  }

  std::uint32_t step_at(Ns t) const {
    const auto after = std::upper_bound(out_.steps.begin(), out_.steps.end(), t,
                                        [](Ns time, const RankStep& s) { return time < s.span.begin; });
    if (after == out_.steps.begin() || !(after - 1)->span.contains(t)) return kNoStep;
    return static_cast<std::uint32_t>(after - 1 - out_.steps.begin());
  }

  // Position in whats and "Seq"; none where the text is no use. Equal texts are read once.
  struct Known {
    bool ok = false;
    std::uint32_t what = 0;
    std::int64_t seq = -1;
  };
  const Known& known(StringId args, std::int32_t stream) {
    const auto [at, is_new] = known_.try_emplace({args, stream});
    if (!is_new) return at->second;
    std::optional<CollectiveArgs> parsed = parse_collective(trace_.strings[args]);
    if (!parsed) return at->second;
    parsed->what.stream = stream;
    return at->second = {true, position_of(std::move(parsed->what)), parsed->seq};
  }

  void put_collectives() {
    std::vector<std::uint64_t> offsets;
    std::vector<const GpuOp*> unnamed;
    for (const GpuOp& op : rank_.session->ops()) {
      if (op.gpu_class != GpuClass::communication) continue;
      const OpRow* const args = trace_.op_row(op.slice);
      out_.communication_time += op.span.length();
      const Known* said = args == nullptr || !args->collective_args ? nullptr : &known(args->collective_args, op.stream);
      if (said == nullptr || !said->ok) {
        unnamed.push_back(&op);
        if (out_.unnamed++ == 0) out_.unnamed_example = trace_.name(op.slice);
        out_.unnamed_time += op.span.length();
        continue;
      }
      add_collective(op, said->what, said->seq, offsets);
    }
    if (out_.collectives.empty()) put_by_order(unnamed, offsets);
    out_.collectives.shrink_to_fit();  // there are many ranks, and this is most of what stays of each
    if (std::all_of(out_.seqs.begin(), out_.seqs.end(), [](std::int64_t seq) { return seq < 0; })) out_.seqs.clear();
    out_.seqs.shrink_to_fit();
    put_file_order(offsets);
  }

  void add_collective(const GpuOp& op, std::uint32_t what, std::int64_t seq, std::vector<std::uint64_t>& offsets) {
    out_.collectives.push_back({op.span, what, step_at(op.linked() ? op.launch_span.begin : op.span.begin)});
    out_.seqs.push_back(seq);
    offsets.push_back(trace_.slices.offset[op.slice.index()]);
  }

  std::uint32_t position_of(CollectiveWhat what) {
    const auto [at, is_new] = whats_.try_emplace(std::move(what), static_cast<std::uint32_t>(out_.whats.size()));
    if (is_new) out_.whats.push_back(std::make_shared<const CollectiveWhat>(at->first));
    return at->second;
  }

  // A communicator uses one stream, and its ranks call the same in the same order. Streams have other numbers on other ranks:
  // they are counted as they first communicate.
  void put_by_order(const std::vector<const GpuOp*>& kernels, std::vector<std::uint64_t>& offsets) {
    std::map<std::int32_t, std::size_t> streams;
    std::map<std::tuple<StringId, std::array<std::uint32_t, 3>, std::int32_t>, std::uint32_t> known;
    for (const GpuOp* op : kernels) {
      if (op->device != rank_.device) continue;
      const auto& grid = trace_.gpu[op->gpu_row].grid;
      const auto [at, is_new] = known.try_emplace({trace_.name_id(op->slice), {grid[0], grid[1], grid[2]}, op->stream}, 0);
      if (is_new) {
        const std::size_t stream = streams.try_emplace(op->stream, streams.size() + 1).first->second;
        CollectiveWhat what = collective_of_kernel(trace_.name(op->slice), fmt::format("{}", fmt::join(grid, ",")));
        what.group = fmt::format("stream {}", stream);
        what.group_size = out_.world_size;
        what.stream = op->stream;
        at->second = position_of(std::move(what));
      }
      add_collective(*op, at->second, -1, offsets);
    }
    out_.by_order = !out_.collectives.empty();
    if (out_.by_order) out_.unnamed = 0, out_.unnamed_time = 0;
  }

  void put_file_order(const std::vector<std::uint64_t>& offsets) {
    if (std::is_sorted(offsets.begin(), offsets.end())) return;
    std::vector<std::uint32_t> in_file(offsets.size());
    std::iota(in_file.begin(), in_file.end(), 0u);
    std::sort(in_file.begin(), in_file.end(), [&](std::uint32_t a, std::uint32_t b) { return offsets[a] < offsets[b]; });
    out_.file_order.resize(in_file.size());
    for (std::uint32_t i = 0; i < in_file.size(); ++i) out_.file_order[in_file[i]] = i;
  }

  void put_work() {
    struct Alike {
      Ns shortest = 0, count = 0;
    };
    std::unordered_map<std::uint64_t, Alike> alike;
    for (const GpuOp& op : rank_.session->ops()) {
      if (op.gpu_class != GpuClass::compute || op.device != rank_.device) continue;
      const GpuRow& row = trace_.gpu[op.gpu_row];
      std::uint64_t key = trace_.name_id(op.slice).value;
      for (const std::uint32_t blocks : row.grid) key = (key ^ blocks) * 0x9E37'79B9'7F4A'7C15u;
      Alike& a = alike[key];
      a.shortest = a.count++ == 0 ? op.span.length() : std::min(a.shortest, op.span.length());
    }
    for (const auto& [key, a] : alike) out_.compute_work += a.shortest * a.count;
  }

  const FullRank& rank_;
  const Trace& trace_;
  RankData& out_;
  std::map<std::pair<StringId, std::int32_t>, Known> known_;  // by args and stream
  std::map<CollectiveWhat, std::uint32_t> whats_;             // position in RankData::whats
};

std::vector<std::int32_t> ranks_of(const Trace& trace) {
  std::set<std::int32_t> ranks;
  for (const Process& process : trace.processes)
    if (process.rank >= 0) ranks.insert(process.rank);
  return {ranks.begin(), ranks.end()};
}

// That of most collectives, else the busiest.
std::int32_t device_of(const FullRank& rank) {
  std::map<std::int32_t, std::size_t> counts;
  const Trace& trace = rank.session->trace();
  for (const OpRow& row : trace.ops)
    if (const GpuRow* gpu = row.collective ? trace.gpu_row(row.slice) : nullptr;
        gpu != nullptr && rank.session->account().device(gpu->device))
      ++counts[gpu->device];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != counts.end()) return most->first;
  const DeviceAccount* busiest = rank.session->account().busiest();
  return busiest ? busiest->device : -1;
}

}  // namespace

FullRank full_rank(std::shared_ptr<const Trace> trace, int threads) {
  FullRank rank;
  rank.session = std::make_unique<const TraceSession>(std::move(trace), TraceSession::Options{.threads = threads});
  rank.device = device_of(rank);
  return rank;
}

Result<FullRank> open_rank(const std::string& path, int threads, const Stated& stated) {
  LoadOptions options;
  options.stated = stated;
  options.threads = threads;
  Result<std::shared_ptr<const Trace>> loaded = load_trace(path, options);
  if (!loaded.ok()) return loaded.error();
  return full_rank(std::move(*loaded), threads);
}

RankData reduce_rank(const FullRank& rank) {
  const Trace& trace = rank.session->trace();
  RankData out;
  out.file = trace.path;
  read_header(trace.header, out);
  if (const std::int32_t own = split_rank_path(trace.path).second; own >= 0) out.rank = own;
  if (find_doubt(trace.doubts, DoubtKind::several_ranks) != nullptr) out.holds_ranks = ranks_of(trace);
  out.span = trace.span;
  out.cut_off = trace.report.count(ImportIssue::truncated) > 0;
  out.file_bytes = trace.figures.file_bytes;
  out.host_gpus = static_cast<std::uint32_t>(trace.header.devices.size());
  Reducer(rank, out).run();
  out.compiling = host_events(trace, is_compile_frame_name);
  out.collecting = host_events(trace, is_collecting);
  out.steps.shrink_to_fit();  // as the collectives: there are many ranks
  out.whats.shrink_to_fit();
  return out;
}

namespace {

std::int64_t rank_in_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto number_after = [&](std::string_view word) -> std::int64_t {
    for (std::size_t at = name.rfind(word); at != name.npos; at = at == 0 ? name.npos : name.rfind(word, at - 1)) {
      std::size_t i = at + word.size();
      if (i < name.size() && (name[i] == '-' || name[i] == '_' || name[i] == '=')) ++i;
      std::int64_t value = -1;
      const auto [end, trouble] = std::from_chars(name.data() + i, name.data() + name.size(), value);
      if (trouble == std::errc() && value >= 0 && value <= kMostRanks) return value;
    }
    return -1;
  };
  const std::int64_t rank = number_after("rank");
  return rank >= 0 ? rank : number_after("tp-");
}

}  // namespace

std::int64_t rank_from_name(const std::string& path) {
  const std::filesystem::path file(path);
  const std::int64_t rank = rank_in_name(file.filename().string());
  return rank >= 0 ? rank : rank_in_name(file.parent_path().filename().string());
}

bool says_its_rank(const std::string& path) {
  return rank_from_name(path) >= 0 || rank_of_ascend(path) >= 0 || read_rank_head(path).world_size > 1;
}

}  // namespace gapscope
