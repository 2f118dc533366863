#include "core/analyze/gpu/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/analyze/captured/captured_work.h"
#include "core/base/parallel.h"
#include "core/base/radix_sort.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

bool counts(const Trace& trace, const GpuRow& row, const std::optional<Span>& range) {
  return is_gpu_work(trace.kind(row.slice)) && (!range || range->contains(trace.begin(row.slice)));
}

// Positions in trace.gpu grouped by name: a counting sort, so that equal names stay in slice order.
struct Groups {
  std::vector<std::uint32_t> first;  // per string id; one more at the end
  std::vector<std::uint32_t> at;
};

Groups group_by_name(const Trace& trace, const std::optional<Span>& range) {
  Groups groups;
  groups.first.assign(trace.strings.size() + 1, 0);
  std::vector<StringId> names;  // none: does not count
  names.reserve(trace.gpu.size());
  for (const GpuRow& row : trace.gpu) {
    names.push_back(counts(trace, row, range) ? trace.name_id(row.slice) : StringId{});
    if (names.back()) ++groups.first[names.back().index() + 1];
  }
  for (std::size_t i = 1; i < groups.first.size(); ++i) groups.first[i] += groups.first[i - 1];
  groups.at.resize(groups.first.back());
  std::vector<std::uint32_t> next(groups.first.begin(), groups.first.end() - 1);
  for (std::uint32_t i = 0; i < names.size(); ++i)
    if (names[i]) groups.at[next[names[i].index()]++] = i;
  return groups;
}

// The value at `rank` of sorted durations, between its neighbours where it is no whole number.
Ns at_rank(const std::vector<Ns>& sorted, double rank) {
  const auto low = static_cast<std::size_t>(rank);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const double part = rank - static_cast<double>(low);
  return sorted[low] + std::llround(part * static_cast<double>(sorted[high] - sorted[low]));
}

void fill_durations(std::vector<Ns>& durations, KernelRow& row) {
  sort_times(durations);
  const auto n = static_cast<double>(durations.size());
  row.count = durations.size();
  row.min = durations.front();
  row.max = durations.back();
  __int128 total = 0;
  for (const Ns d : durations) total += d;
  row.total = static_cast<Ns>(std::min<__int128>(total, std::numeric_limits<Ns>::max()));
  row.mean = static_cast<double>(total) / n;
  double squares = 0;
  for (const Ns d : durations) squares += (static_cast<double>(d) - row.mean) * (static_cast<double>(d) - row.mean);
  row.cv = row.mean > 0 ? std::sqrt(squares / n) / row.mean : 0;
  row.median = at_rank(durations, (n - 1) * 0.5);
  row.p95 = at_rank(durations, (n - 1) * 0.95);
}

void add_shape(const GpuRow& gpu, KernelRow& row) {
  const auto equal = [](const auto& a, const auto& b) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
  };  // no call a row
  const auto same = [&](const ShapeCount& s) { return equal(s.grid, gpu.grid) && equal(s.block, gpu.block); };
  const auto known = std::find_if(row.shapes.begin(), row.shapes.end(), same);
  if (known != row.shapes.end())
    ++known->count;
  else if (row.shapes.size() < kKernelMaxShapes)
    row.shapes.push_back({gpu.grid, gpu.block, 1});
  else
    ++row.other_shapes;
}

void add_launch(const GpuRow& gpu, KernelRow& row) {
  if (!gpu.has_launch_config()) return;
  if (gpu.registers > 0) {  // every kernel has some: 0 means that the recorder (ROCm's) states neither figure
    row.registers.add(gpu.registers);
    row.shared_memory.add(gpu.shared_memory);
  }
  row.grid_blocks.add(std::uint64_t{gpu.grid[0]} * gpu.grid[1] * gpu.grid[2]);
  row.block_threads.add(std::uint64_t{gpu.block[0]} * gpu.block[1] * gpu.block[2]);
  add_shape(gpu, row);
  if (!row.example.has_launch_config()) row.example = gpu;
}

// Counts the operators of one row: mostly few, but a file may have one for each of its kernels.
class OperatorCounts {
 public:
  void add(std::string_view name, bool joined, KernelRow& row) {
    const std::size_t few = std::min(row.operators.size(), kFew);
    for (std::size_t i = 0; i < few; ++i)
      if (is_same(row.operators[i], name, joined)) return void(++row.operators[i].count);
    if (few < kFew) return row.operators.push_back({name, joined, 1});
    const auto [at, is_new] = others_[joined ? 1 : 0].try_emplace(name, row.operators.size());
    if (is_new)
      row.operators.push_back({name, joined, 1});
    else
      ++row.operators[at->second].count;
  }

 private:
  static constexpr std::size_t kFew = 16;
  static bool is_same(const LaunchingOp& op, std::string_view name, bool joined) {
    return op.joined == joined && op.name.size() == name.size() && (op.name.data() == name.data() || op.name == name);
  }
  std::array<std::unordered_map<std::string_view, std::size_t>, 2>
      others_;  // all but the first few, by their place in the row's list
};

template <class List>
void most_frequent_first(List& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
}

// Asks the processor for what the loop over the rows needs.
void fetch(const GpuRow& row) {
  __builtin_prefetch(&row.slice);
  __builtin_prefetch(&row.registers);
  __builtin_prefetch(&row.block);
}

std::string_view unquoted(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' ? json.substr(1, json.size() - 2) : json;
}

KernelRow make_row(const Trace& trace, const LinkIndex& links, const CapturedWork* captured, StringId name,
                   std::span<const std::uint32_t> at) {
  KernelRow row;
  row.name = name;
  row.example = trace.gpu[at[0]];
  row.kind = trace.kind(row.example.slice);
  row.decoded = decode(trace.strings[name]);
  if (row.kind == Kind::memcpy) row.decoded.kind = KernelKind::copy;
  if (row.kind == Kind::memset) row.decoded.kind = KernelKind::memset;
  std::vector<Ns> durations;
  durations.reserve(at.size());
  row.longest = row.example.slice;
  OperatorCounts operators;
  constexpr std::size_t kAhead = 8;  // rows of one name lie apart
  for (std::size_t a = 0; a < at.size(); ++a) {
    if (a + kAhead < at.size()) fetch(trace.gpu[at[a + kAhead]]);
    const GpuRow& gpu = trace.gpu[at[a]];
    durations.push_back(trace.duration(gpu.slice));
    if (trace.duration(gpu.slice) > trace.duration(row.longest)) row.longest = gpu.slice;
    add_launch(gpu, row);
    const OperatorCall by = operator_call(trace, links, captured, gpu);
    const std::string_view hlo = unquoted(trace.strings[gpu.hlo_op]);  // XLA says itself what a kernel computes
    operators.add(!hlo.empty() ? hlo : by ? by.trace->name(by.op) : std::string_view(), by && by.joined, row);
  }
  fill_durations(durations, row);
  most_frequent_first(row.shapes);
  most_frequent_first(row.operators);
  return row;
}

}  // namespace

void Extent::add(std::uint64_t value) {
  min = std::min(min, value);
  max = std::max(max, value);
}

KernelTable kernel_table(const Trace& trace, const LinkIndex& links, std::optional<Span> range) {
  KernelTable table;
  const Groups groups = group_by_name(trace, range);
  std::vector<std::size_t> names;
  for (std::size_t name = 0; name + 1 < groups.first.size(); ++name)
    if (groups.first[name] < groups.first[name + 1]) names.push_back(name);
  const CapturedWork* const captured = trace.captured.get();
  table.rows.resize(names.size());
  parallel_for(hardware_threads(), names.size(), [&](std::size_t i) {
    const std::uint32_t first = groups.first[names[i]], end = groups.first[names[i] + 1];
    table.rows[i] = make_row(trace, links, captured, StringId(names[i]), std::span(groups.at).subspan(first, end - first));
  });
  for (const KernelRow& row : table.rows) {
    table.count += row.count;
    add_saturating(table.total, row.total);
  }
  table.trace_has_gpu_work =
      std::any_of(trace.gpu.begin(), trace.gpu.end(), [&](const GpuRow& row) { return is_gpu_work(trace.kind(row.slice)); });
  for (KernelRow& row : table.rows)
    row.share = table.total > 0 ? static_cast<double>(row.total) / static_cast<double>(table.total) : 0;
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.total > b.total; });
  return table;
}

DurationHistogram duration_histogram(const std::vector<Ns>& durations, std::size_t bins) {
  DurationHistogram out;
  if (durations.empty() || bins == 0) return out;
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  const double low = std::log(static_cast<double>(std::max<Ns>(*least, 1)));
  const double high = std::log(static_cast<double>(std::max<Ns>(*most, 1)));
  if (high <= low) bins = 1;
  const double width = high > low ? (high - low) / static_cast<double>(bins) : 1;
  for (std::size_t i = 0; i <= bins; ++i) out.edges.push_back(std::exp(low + width * static_cast<double>(i)));
  out.counts.assign(bins, 0);
  for (const Ns d : durations) {
    const double place = (std::log(static_cast<double>(std::max<Ns>(d, 1))) - low) / width;
    ++out.counts[std::min(bins - 1, static_cast<std::size_t>(std::max(0.0, place)))];
  }
  return out;
}

}  // namespace gapscope
