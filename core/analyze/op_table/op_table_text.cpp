#include "core/analyze/op_table/op_table_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNone = 0xFFFF'FFFFu;
constexpr std::size_t kColumn = 12;

// A row's sums in microseconds, added up the way PyTorch does.
struct Sums {
  double self_cpu = 0, cpu = 0, self_cuda = 0, cuda = 0;
};

std::string time_text(double us) {
  if (us >= 1e6) return fmt::format("{:.3f}s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3f}ms", us / 1e3);
  return fmt::format("{:.3f}us", us);
}

std::string share_text(double us, double total) { return total == 0 ? "NaN" : fmt::format("{:.2f}%", us * 100.0 / total); }

std::string memory_text(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (std::abs(bytes) >= std::int64_t{1} << 30) return fmt::format("{:.2f} GB", size / (1 << 30));
  if (std::abs(bytes) >= 1 << 20) return fmt::format("{:.2f} MB", size / (1 << 20));
  if (std::abs(bytes) >= 1 << 10) return fmt::format("{:.2f} KB", size / (1 << 10));
  return fmt::format("{} B", bytes);
}

// The first `chars` code points.
std::string_view head_chars(std::string_view text, std::size_t chars) {
  std::size_t at = 0;
  for (std::size_t n = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && n++ == chars) break;
  }
  return text.substr(0, at);
}

// The recording's zero: PyTorch counts microseconds from the start of its own "Trace" span.
Ns profiler_start(const Trace& t) {
  for (const Lane& lane : t.lanes) {
    for (std::uint32_t s = lane.first_slice; lane.kind == LaneKind::profiler && s < lane.first_slice + lane.slice_count; ++s) {
      if (t.strings[t.slices.name[s]].starts_with("PyTorch Profiler")) return t.slices.begin[s];
    }
  }
  return t.span.begin;
}

class Printer {
 public:
  Printer(const Trace& trace, const OpEvents& events, const OpTable& table, const OpTableOptions& options,
          const OpTableText& text)
      : t_(trace), events_(events), table_(table), options_(options), text_(text) {}

  std::string run() {
    add_up();
    order_rows();
    double self_cpu_total = 0;
    double self_cuda_total = 0;
    bool any_cuda = false;
    bool any_cuda_memory = false;
    for (const std::size_t r : order_) {
      const OpTableRow& row = table_.rows[r];
      self_cpu_total += sums_[r].self_cpu;
      if (row.on_gpu && !row.annotation) self_cuda_total += sums_[r].self_cuda;
      any_cuda = any_cuda || row.self_cuda > 0;
      any_cuda_memory = any_cuda_memory || row.self_cuda_memory > 0;
    }
    const bool memory = t_.header.flag("profile_memory");
    const bool cuda_memory = memory && any_cuda_memory && any_cuda;

    std::size_t longest = 0;
    for (const std::size_t r : order_) longest = std::max(longest, utf8_length(table_.rows[r].name));
    name_width_ = std::min(longest + 4, text_.max_name_column_width);
    std::vector<std::string> titles = {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"};
    const std::string device(device_word());
    if (any_cuda) {
      for (const char* title : {"Self {}", "Self {} %", "{} total", "{} time avg"})
        titles.push_back(fmt::format(fmt::runtime(title), device));
    }
    if (memory) titles.insert(titles.end(), {"CPU Mem", "Self CPU Mem"});
    if (cuda_memory) titles.insert(titles.end(), {device + " Mem", "Self " + device + " Mem"});
    titles.push_back("# of Calls");

    dashes(titles.size());
    cell("Name", name_width_);
    for (const std::string& title : titles) cell(title, kColumn);
    out_ += '\n';
    dashes(titles.size());
    for (std::size_t i = 0; i < std::min(order_.size(), text_.row_limit); ++i) {
      const std::size_t r = order_[i];
      const OpTableRow& row = table_.rows[r];
      const Sums& s = sums_[r];
      const auto count = static_cast<double>(row.count);
      const std::size_t limit = text_.max_name_column_width >= 3 ? text_.max_name_column_width - 3 : 0;
      const std::string name = printable(row.name);  // a name must not steer the terminal; PyTorch's own names never do
      cell(utf8_length(name) >= limit ? std::string(head_chars(name, limit)) + "..." : name, name_width_);
      cell(share_text(s.self_cpu, self_cpu_total), kColumn);
      cell(time_text(s.self_cpu), kColumn);
      cell(share_text(s.cpu, self_cpu_total), kColumn);
      cell(time_text(s.cpu), kColumn);
      cell(time_text(s.cpu / count), kColumn);
      if (any_cuda) {
        cell(time_text(s.self_cuda), kColumn);
        cell(share_text(s.self_cuda, self_cuda_total), kColumn);
        cell(time_text(s.cuda), kColumn);
        cell(time_text(s.cuda / count), kColumn);
      }
      if (memory) {
        cell(memory_text(row.cpu_memory), kColumn);
        cell(memory_text(row.self_cpu_memory), kColumn);
      }
      if (cuda_memory) {
        cell(memory_text(row.cuda_memory), kColumn);
        cell(memory_text(row.self_cuda_memory), kColumn);
      }
      cell(std::to_string(row.count), kColumn);
      out_ += '\n';
    }
    dashes(titles.size());
    out_ += "Self CPU time total: " + time_text(self_cpu_total) + '\n';
    if (any_cuda) out_ += "Self " + device + " time total: " + time_text(self_cuda_total) + '\n';
    return std::move(out_);
  }

 private:
  // As PyTorch heads its columns: by the device's type.
  std::string_view device_word() const {
    switch (vendor_of(t_)) {
      case Vendor::nvidia:
      case Vendor::amd: return "CUDA";
      case Vendor::intel: return "XPU";
      case Vendor::huawei: return "NPU";
      case Vendor::meta: return "MTIA";
      case Vendor::google: return "TPU";
      case Vendor::other: return "device";
    }
    return "CUDA";
  }
  // The same sums as in the table, but in microseconds as doubles and in PyTorch's order of operations.
  void add_up() {
    const Ns t0 = profiler_start(t_);
    const auto us = [&](Ns t) { return static_cast<double>(t - t0) / 1000.0; };
    const std::size_t n = events_.size();
    std::vector<double> length(n), children(n, 0), own(n, 0), total(n, 0), children_total(n, 0);
    std::vector<bool> on_gpu(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Span span = events_.span(i);
      length[i] = us(span.end) - us(span.begin);
      on_gpu[i] = !is_folded(i) && events_.groups()[events_.group(i)].on_gpu;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_folded(i) && events_.parent(i) != kNone) children[events_.parent(i)] += length[i];
    }
    std::unordered_map<std::uint64_t, double> by_link;
    for (std::size_t i = 0; i < n; ++i) {
      if (on_gpu[i] && events_.join(i) != 0) by_link[events_.join(i)] += length[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      // A parent that took over a folded child's work has more than one id's; then the integer sum is what there is.
      const auto found = !on_gpu[i] && events_.join(i) != 0 ? by_link.find(events_.join(i)) : by_link.end();
      own[i] = found != by_link.end() ? found->second
               : on_gpu[i]            ? length[i]
                                      : static_cast<double>(events_.own_cuda(i)) / 1000.0;
    }
    // Totals from the leaves up; a parent adds its children in their order.
    for (std::size_t i = n; i-- > 0;) total[i] = own[i];
    std::vector<std::uint32_t> reverse_children(n, kNone), next(n, kNone);
    for (std::size_t i = n; i-- > 0;) {
      if (is_folded(i) || events_.parent(i) == kNone) continue;
      next[i] = reverse_children[events_.parent(i)];
      reverse_children[events_.parent(i)] = static_cast<std::uint32_t>(i);
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::uint32_t c = reverse_children[i]; c != kNone; c = next[c]) children_total[i] += total[c];
      if (!on_gpu[i]) total[i] = own[i] + children_total[i];
    }
    sums_.assign(table_.rows.size(), {});
    std::map<std::tuple<std::string_view, bool, bool, std::uint32_t>, std::size_t> row_of;
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      const OpTableRow& row = table_.rows[r];
      row_of[{row.name, row.on_gpu, row.annotation, row.input_dims.value}] = r;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (is_folded(i) || (options_.range && !options_.range->contains(events_.span(i).begin))) continue;
      const OpGroup& group = events_.groups()[events_.group(i)];
      const OpRow* op = options_.by_shape && !on_gpu[i] ? t_.op_row(events_.slice(i)) : nullptr;
      const auto at = row_of.find({row_name(t_.strings[group.name]), group.on_gpu, group.annotation,
                                   op != nullptr ? op->input_dims.value : StringId{}.value});
      if (at == row_of.end()) continue;
      Sums& s = sums_[at->second];
      if (!on_gpu[i]) {
        s.cpu += length[i];
        s.self_cpu += length[i] - children[i];
      }
      const double cuda = on_gpu[i] ? length[i] : total[i];
      s.cuda += cuda;
      s.self_cuda += on_gpu[i] ? length[i] : cuda - children_total[i];
    }
  }
  bool is_folded(std::size_t i) const { return events_.group(i) == kNone; }

  void order_rows() {
    order_.resize(table_.rows.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto by = [&](auto value) {
      std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
    };
    const auto count = [&](std::size_t r) { return static_cast<double>(table_.rows[r].count); };
    switch (text_.sort) {
      case OpTableSort::none: return;
      case OpTableSort::name:
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return table_.rows[a].name < table_.rows[b].name; });
        return;
      case OpTableSort::count: return by(count);
      case OpTableSort::self_cpu: return by([&](std::size_t r) { return sums_[r].self_cpu; });
      case OpTableSort::cpu: return by([&](std::size_t r) { return sums_[r].cpu; });
      case OpTableSort::self_cuda: return by([&](std::size_t r) { return sums_[r].self_cuda; });
      case OpTableSort::cuda: return by([&](std::size_t r) { return sums_[r].cuda; });
      case OpTableSort::cpu_avg: return by([&](std::size_t r) { return sums_[r].cpu / count(r); });
      case OpTableSort::cuda_avg: return by([&](std::size_t r) { return sums_[r].cuda / count(r); });
      case OpTableSort::cpu_memory: return by([&](std::size_t r) { return table_.rows[r].cpu_memory; });
      case OpTableSort::self_cpu_memory: return by([&](std::size_t r) { return table_.rows[r].self_cpu_memory; });
      case OpTableSort::cuda_memory: return by([&](std::size_t r) { return table_.rows[r].cuda_memory; });
      case OpTableSort::self_cuda_memory: return by([&](std::size_t r) { return table_.rows[r].self_cuda_memory; });
    }
  }

  void cell(const std::string& text, std::size_t width) {
    const std::size_t length = utf8_length(text);
    out_.append(width > length ? width - length : 0, ' ');
    out_ += text;
    out_ += "  ";
  }
  void dashes(std::size_t columns) {
    out_ += std::string(name_width_, '-') + "  ";
    for (std::size_t i = 0; i < columns; ++i) out_ += std::string(kColumn, '-') + "  ";
    out_ += '\n';
  }

  const Trace& t_;
  const OpEvents& events_;
  const OpTable& table_;
  const OpTableOptions& options_;
  const OpTableText& text_;
  std::vector<Sums> sums_;
  std::vector<std::size_t> order_;
  std::size_t name_width_ = 0;
  std::string out_;
};

}  // namespace

std::string print_op_table(const Trace& trace, const OpEvents& events, const OpTable& table, const OpTableOptions& options,
                           const OpTableText& text) {
  return Printer(trace, events, table, options, text).run();
}

}  // namespace gapscope
