#include "core/analyze/op_table/op_table.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNone = OpEvents::kNone;

// Sums of memory records up to each time, for one side. Asked by events in order of begin.
class MemorySums {
 public:
  void add(Ns t, std::int64_t bytes) {
    time_.push_back(t);
    sum_.push_back(sum_saturating(sum_.back(), bytes));
  }

  // Bytes of records with begin <= time <= end. No `begin` before that of the last call.
  std::int64_t within(Span span) {
    while (first_ < time_.size() && time_[first_] < span.begin) ++first_;
    // Most events are short, so the end is looked for in steps that double.
    std::size_t low = first_, step = 1;
    while (low + step <= time_.size() && time_[low + step - 1] <= span.end) {
      low += step;
      step *= 2;
    }
    const auto from = time_.begin() + static_cast<std::ptrdiff_t>(low);
    const auto to = time_.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, time_.size()));
    const auto last = static_cast<std::size_t>(std::upper_bound(from, to, span.end) - time_.begin());
    return last > first_ ? difference_saturating(sum_[last], sum_[first_]) : 0;
  }

 private:
  std::vector<Ns> time_;
  std::vector<std::int64_t> sum_{0};
  std::size_t first_ = 0;
};

// c10::DeviceType numbers as PyTorch's table splits them.
bool is_host_memory(std::int16_t type) { return type == 0 || type == 2 || type == 5; }
bool is_device_memory(std::int16_t type) { return type == 1 || type == 6 || type == 12 || type == 20; }

class Tabler {
 public:
  Tabler(const Trace& trace, const OpEvents& events, const OpTableOptions& options)
      : t_(trace), events_(events), options_(options) {}

  OpTable run() {
    last_ = events_.size();
    if (options_.range) std::tie(first_, last_) = events_.begin_in(*options_.range);
    if (!t_.memory.empty()) sum_memory();
    row_of_group_.assign(events_.groups().size(), kNone);
    for (std::size_t i = first_; i < last_; ++i) {
      events_.prefetch(i);
      if (events_.group(i) != kNone) add(i);
    }
    for (const OpTableRow& row : out_.rows) {
      add_saturating(out_.self_cpu_total, row.self_cpu);
      if (row.on_gpu && !row.annotation) add_saturating(out_.self_cuda_total, row.self_cuda);
    }
    return std::move(out_);
  }

 private:
  void add(std::size_t i) {
    OpTableRow& row = out_.rows[row_of(i)];
    const Span span = events_.span(i);
    const Ns duration = span.end - span.begin;
    ++row.count;
    // An annotation's copy on the GPU is a span from the first to the last of its work: no work itself.
    if (row.on_gpu && row.annotation && events_.mode() == TableMode::corrected) return;
    add_saturating(row.self_cuda, row.on_gpu ? duration : events_.own_cuda(i));
    add_saturating(row.cuda, row.on_gpu ? duration : events_.total_cuda(i));
    if (row.on_gpu) return;
    add_saturating(row.self_cpu, events_.self_cpu(i));
    add_saturating(row.cpu, duration);
    if (out_.has_memory) add_memory(i, span, row);
  }

  std::uint32_t row_of(std::size_t i) {
    const std::uint32_t group = events_.group(i);
    if (options_.by_shape && !events_.groups()[group].on_gpu) {
      const OpRow* op = t_.op_row(events_.slice(i));
      const StringId dims = op != nullptr ? op->input_dims : StringId{};
      if (dims) {
        const auto [at, is_new] = row_of_shape_.try_emplace((static_cast<std::uint64_t>(group) << 32) | dims.value, 0u);
        if (is_new) at->second = new_row(i, dims);
        return at->second;
      }
    }
    std::uint32_t& known = row_of_group_[group];
    if (known == kNone) known = new_row(i, {});
    return known;
  }

  std::uint32_t new_row(std::size_t i, StringId dims) {
    const OpGroup& group = events_.groups()[events_.group(i)];
    OpTableRow row;
    row.name_id = t_.name_id(events_.slice(i));
    row.name = row_name(t_.strings[row.name_id]);
    row.on_gpu = group.on_gpu;
    row.annotation = group.annotation;
    row.input_dims = dims;
    out_.rows.push_back(std::move(row));
    return static_cast<std::uint32_t>(out_.rows.size() - 1);
  }

  void sum_memory() {
    out_.has_memory = true;
    for (const MemoryRow& m : t_.memory) {
      if (m.out_of_memory) continue;
      if (is_host_memory(m.device_type)) host_.add(m.time, m.bytes);
      if (is_device_memory(m.device_type)) device_.add(m.time, m.bytes);
    }
  }

  // Every record counts for every CPU event, on any thread, that holds its time, ends included, and not for its parent
  // itself; folded events do not matter because their parent holds the same records.
  void add_memory(std::size_t i, Span span, OpTableRow& row) {
    const std::int64_t host = host_.within(span), device = device_.within(span);
    if (host == 0 && device == 0) return;
    add_saturating(row.cpu_memory, host);
    add_saturating(row.self_cpu_memory, host);
    add_saturating(row.cuda_memory, device);
    add_saturating(row.self_cuda_memory, device);
    const std::uint32_t parent = events_.parent(i);
    if (parent == kNone || parent < first_) return;
    OpTableRow& around = out_.rows[row_of(parent)];
    subtract_saturating(around.self_cpu_memory, host);
    subtract_saturating(around.self_cuda_memory, device);
  }

  const Trace& t_;
  const OpEvents& events_;
  const OpTableOptions& options_;
  OpTable out_;
  MemorySums host_, device_;
  std::size_t first_ = 0, last_ = 0;  // the events that count
  std::vector<std::uint32_t> row_of_group_;
  std::unordered_map<std::uint64_t, std::uint32_t> row_of_shape_;
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

OpTable make_op_table(const Trace& trace, const OpEvents& events, const OpTableOptions& options) {
  return Tabler(trace, events, options).run();
}

std::optional<OpTableSort> op_table_sort_from_word(std::string_view word) {
  for (const SortWord& s : kSortWords) {
    if (word == s.word) return s.sort;
  }
  return std::nullopt;
}

const std::vector<std::string>& op_table_sort_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    all.reserve(kSortWords.size());
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
    case OpTableSort::name:
      std::stable_sort(rows.begin(), rows.end(), [](const OpTableRow& a, const OpTableRow& b) { return a.name < b.name; });
      return;
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
