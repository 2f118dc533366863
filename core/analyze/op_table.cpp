#include "core/analyze/op_table.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace gapscope {
namespace {

constexpr std::uint32_t kNone = 0xFFFF'FFFFu;

// Sums of memory records up to each time, for one side.
struct MemorySums {
  std::vector<Ns> time;
  std::vector<std::int64_t> sum{0};

  // Bytes of records with begin <= time <= end.
  std::int64_t within(Ns begin, Ns end) const {
    const auto first = std::lower_bound(time.begin(), time.end(), begin) - time.begin();
    const auto last = std::upper_bound(time.begin(), time.end(), end) - time.begin();
    return last > first ? sum[static_cast<std::size_t>(last)] - sum[static_cast<std::size_t>(first)] : 0;
  }
  void add(Ns t, std::int64_t bytes) {
    time.push_back(t);
    sum.push_back(sum.back() + bytes);
  }
};

// c10::DeviceType numbers as PyTorch's table splits them.
bool is_host_memory(std::int16_t type) { return type == 0 || type == 2 || type == 5; }
bool is_device_memory(std::int16_t type) { return type == 1 || type == 6 || type == 12 || type == 20; }

class Tabler {
 public:
  Tabler(const Trace& trace, const OpEvents& events, const OpTableOptions& options) : t_(trace), events_(events.events()), options_(options) {}

  OpTable run() {
    std::size_t first = 0;
    std::size_t last = events_.size();
    if (options_.range) {
      const auto begins_before = [](const OpEvent& e, Ns t) { return e.begin < t; };
      first = static_cast<std::size_t>(std::lower_bound(events_.begin(), events_.end(), options_.range->begin, begins_before) - events_.begin());
      last = static_cast<std::size_t>(std::lower_bound(events_.begin(), events_.end(), options_.range->end, begins_before) - events_.begin());
    }
    group_of_name_.assign(t_.strings.size() * 4, kNone);
    for (std::size_t i = first; i < last; ++i) add(events_[i]);
    if (!t_.memory.empty()) add_memory(first, last);
    for (const OpTableRow& row : out_.rows) {
      out_.self_cpu_total += row.self_cpu;
      out_.self_cuda_total += row.on_gpu && !row.annotation ? row.self_cuda : 0;
    }
    return std::move(out_);
  }

 private:
  // Counted events that are never folded away.
  static bool counts(const OpEvent& e) { return !e.folded; }

  void add(const OpEvent& e) {
    if (!counts(e)) return;
    OpTableRow& row = out_.rows[group(e)];
    ++row.count;
    row.self_cuda += e.own_cuda;
    row.cuda += e.total_cuda;
    if (e.on_gpu) return;
    row.self_cpu += e.self_cpu;
    row.cpu += e.end - e.begin;
  }

  std::uint32_t group(const OpEvent& e) {
    const std::size_t slot = e.name.index() * 4 + (e.on_gpu ? 2 : 0) + (e.annotation ? 1 : 0);
    if (options_.by_shape && !e.on_gpu) {
      const OpRow* op = t_.op_row(e.slice);
      const StringId dims = op != nullptr ? op->input_dims : StringId{};
      if (dims) {
        const auto [at, is_new] = group_of_shape_.try_emplace((static_cast<std::uint64_t>(slot) << 32) | dims.value, 0u);
        if (is_new) at->second = new_row(e, dims);
        return at->second;
      }
    }
    std::uint32_t& known = group_of_name_[slot];
    if (known == kNone) {
      if (row_name(t_.strings[e.name]) == t_.strings[e.name]) {
        known = new_row(e, {});
      } else {  // ProfilerStep#0, #1, ... are one row
        std::uint32_t& steps = step_group_[(e.on_gpu ? 2u : 0u) + (e.annotation ? 1u : 0u)];
        if (steps == kNone) steps = new_row(e, {});
        known = steps;
      }
    }
    return known;
  }

  std::uint32_t new_row(const OpEvent& e, StringId dims) {
    OpTableRow row;
    row.name = row_name(t_.strings[e.name]);
    row.name_id = e.name;
    row.on_gpu = e.on_gpu;
    row.annotation = e.annotation;
    row.input_dims = dims;
    out_.rows.push_back(std::move(row));
    return static_cast<std::uint32_t>(out_.rows.size() - 1);
  }

  // Every record counts for every CPU event, on any thread, that holds its time, ends included; folded events do not
  // matter because their parent holds the same records.
  void add_memory(std::size_t first, std::size_t last) {
    out_.has_memory = true;
    MemorySums host, device;
    for (const MemoryRow& m : t_.memory) {
      if (m.out_of_memory) continue;
      if (is_host_memory(m.device_type)) host.add(m.time, m.bytes);
      if (is_device_memory(m.device_type)) device.add(m.time, m.bytes);
    }
    std::vector<std::array<std::int64_t, 2>> total(last - first);
    for (std::size_t i = first; i < last; ++i) {
      const OpEvent& e = events_[i];
      if (!e.on_gpu && !e.folded) total[i - first] = {host.within(e.begin, e.end), device.within(e.begin, e.end)};
    }
    std::vector<std::array<std::int64_t, 2>> self = total;
    for (std::size_t i = first; i < last; ++i) {
      const OpEvent& e = events_[i];
      if (e.on_gpu || e.folded || e.parent == kNone || e.parent < first) continue;
      for (std::size_t side = 0; side < 2; ++side) self[e.parent - first][side] -= total[i - first][side];
    }
    for (std::size_t i = first; i < last; ++i) {
      const OpEvent& e = events_[i];
      if (e.on_gpu || e.folded) continue;
      OpTableRow& row = out_.rows[group(e)];
      row.cpu_memory += total[i - first][0];
      row.cuda_memory += total[i - first][1];
      row.self_cpu_memory += self[i - first][0];
      row.self_cuda_memory += self[i - first][1];
    }
  }

  const Trace& t_;
  const std::vector<OpEvent>& events_;
  const OpTableOptions& options_;
  OpTable out_;
  std::vector<std::uint32_t> group_of_name_;
  std::array<std::uint32_t, 4> step_group_{kNone, kNone, kNone, kNone};
  std::unordered_map<std::uint64_t, std::uint32_t> group_of_shape_;
};

struct SortWord {
  const char* word;
  OpTableSort sort;
};
constexpr std::array<SortWord, 17> kSortWords = {{
    {"cpu_time_total", OpTableSort::cpu},
    {"self_cpu_time_total", OpTableSort::self_cpu},
    {"cpu_time", OpTableSort::cpu_avg},
    {"cuda_time_total", OpTableSort::cuda},
    {"self_cuda_time_total", OpTableSort::self_cuda},
    {"cuda_time", OpTableSort::cuda_avg},
    {"device_time_total", OpTableSort::cuda},
    {"self_device_time_total", OpTableSort::self_cuda},
    {"device_time", OpTableSort::cuda_avg},
    {"cpu_memory_usage", OpTableSort::cpu_memory},
    {"self_cpu_memory_usage", OpTableSort::self_cpu_memory},
    {"cuda_memory_usage", OpTableSort::cuda_memory},
    {"self_cuda_memory_usage", OpTableSort::self_cuda_memory},
    {"device_memory_usage", OpTableSort::cuda_memory},
    {"self_device_memory_usage", OpTableSort::self_cuda_memory},
    {"count", OpTableSort::count},
    {"name", OpTableSort::name},
}};

double average(Ns sum, std::uint64_t count) { return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count); }

}  // namespace

OpTable make_op_table(const Trace& trace, const OpEvents& events, const OpTableOptions& options) { return Tabler(trace, events, options).run(); }

std::optional<OpTableSort> op_table_sort_from_word(std::string_view word) {
  for (const SortWord& s : kSortWords) {
    if (word == s.word) return s.sort;
  }
  return std::nullopt;
}

const std::vector<std::string>& op_table_sort_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (const SortWord& s : kSortWords) all.emplace_back(s.word);
    return all;
  }();
  return words;
}

void sort_op_table(std::vector<OpTableRow>& rows, OpTableSort sort) {
  const auto by = [&](auto value) {
    std::stable_sort(rows.begin(), rows.end(), [&](const OpTableRow& a, const OpTableRow& b) { return value(a) > value(b); });
  };
  switch (sort) {
    case OpTableSort::none: return;
    case OpTableSort::name: std::stable_sort(rows.begin(), rows.end(), [](const OpTableRow& a, const OpTableRow& b) { return a.name < b.name; }); return;
    case OpTableSort::count: return by([](const OpTableRow& r) { return r.count; });
    case OpTableSort::self_cpu: return by([](const OpTableRow& r) { return r.self_cpu; });
    case OpTableSort::cpu: return by([](const OpTableRow& r) { return r.cpu; });
    case OpTableSort::self_cuda: return by([](const OpTableRow& r) { return r.self_cuda; });
    case OpTableSort::cuda: return by([](const OpTableRow& r) { return r.cuda; });
    case OpTableSort::cpu_avg: return by([](const OpTableRow& r) { return average(r.cpu, r.count); });
    case OpTableSort::cuda_avg: return by([](const OpTableRow& r) { return average(r.cuda, r.count); });
    case OpTableSort::cpu_memory: return by([](const OpTableRow& r) { return r.cpu_memory; });
    case OpTableSort::self_cpu_memory: return by([](const OpTableRow& r) { return r.self_cpu_memory; });
    case OpTableSort::cuda_memory: return by([](const OpTableRow& r) { return r.cuda_memory; });
    case OpTableSort::self_cuda_memory: return by([](const OpTableRow& r) { return r.self_cuda_memory; });
  }
}

}  // namespace gapscope
