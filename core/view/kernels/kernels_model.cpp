#include "core/view/kernels/kernels_model.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/demangle.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// clang-format off
constexpr std::array<KernelColumnText, kKernelColumns> kTexts = {{
    {"Name", "The kernel, copy or memset, as the file names it."},
    {"Kind", "What it computes, where its name says so."},
    {"Count", "How often it ran."},
    {"Total", "Sum of its durations."},
    {"Share", "Its total of all GPU work here; work that overlaps counts twice."},
    {"Mean", "Total for each run."},
    {"Min", "The shortest run."},
    {"Median", "Half of its runs are shorter."},
    {"p95", "95 % of its runs are shorter."},
    {"Max", "The longest run."},
    {"CV", "Coefficient of variation: standard deviation of its durations for each mean. 0 is perfectly even."},
    {"Regs", "Registers of a thread."},
    {"Shared", "Shared memory of a block, static and dynamic."},
    {"Grid", "Blocks of a launch: all dimensions multiplied."},
    {"Block", "Threads of a block: all dimensions multiplied."},
    {"Launched by", "The operator that launched most of its runs."},
}};
// clang-format on

double extent(const Extent& e) { return e.empty() ? -1 : static_cast<double>(e.max); }

}  // namespace

KernelColumnText column_text(KernelColumn column) { return kTexts[static_cast<std::size_t>(column)]; }

bool is_words(KernelColumn c) { return c == KernelColumn::name || c == KernelColumn::kind || c == KernelColumn::op; }

std::string column_words(const Trace& trace, const KernelRow& row, KernelColumn column) {
  if (column == KernelColumn::name)
    return row.decoded.short_name.empty() ? demangle(trace.strings[row.name]) : row.decoded.short_name;
  if (column == KernelColumn::kind)
    return std::string(row.kind == Kind::kernel ? kernel_kind_name(row.decoded.kind) : kind_name(row.kind));
  if (column == KernelColumn::op && !row.operators.empty() && row.operators.front().name)
    return std::string(trace.strings[row.operators.front().name]);
  return {};
}

double column_number(const KernelRow& row, KernelColumn column) {
  switch (column) {
    case KernelColumn::count: return static_cast<double>(row.count);
    case KernelColumn::total: return static_cast<double>(row.total);
    case KernelColumn::share: return row.share;
    case KernelColumn::mean: return row.mean;
    case KernelColumn::min: return static_cast<double>(row.min);
    case KernelColumn::median: return static_cast<double>(row.median);
    case KernelColumn::p95: return static_cast<double>(row.p95);
    case KernelColumn::max: return static_cast<double>(row.max);
    case KernelColumn::cv: return row.cv;
    case KernelColumn::registers: return extent(row.registers);
    case KernelColumn::shared_memory: return extent(row.shared_memory);
    case KernelColumn::grid: return extent(row.grid_blocks);
    case KernelColumn::block: return extent(row.block_threads);
    default: return 0;
  }
}

std::vector<std::uint32_t> arrange_kernels(const Trace& trace, const KernelTable& table, const std::string& filter,
                                           const KernelOrder& order) {
  const auto words = [&](std::uint32_t i, KernelColumn c) { return column_words(trace, table.rows[i], c); };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < table.rows.size(); ++i) {
    if (filter.empty() || contains_ignore_case(words(i, KernelColumn::name), filter) ||
        contains_ignore_case(words(i, KernelColumn::kind), filter) || contains_ignore_case(words(i, KernelColumn::op), filter))
      rows.push_back(i);
  }
  std::vector<std::string> keys;
  if (is_words(order.column))
    for (std::uint32_t i = 0; i < table.rows.size(); ++i) keys.push_back(words(i, order.column));
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (order.descending) std::swap(a, b);
    if (!keys.empty()) return keys[a] < keys[b];
    return column_number(table.rows[a], order.column) < column_number(table.rows[b], order.column);
  });
  return rows;
}

std::string kernels_csv(const Trace& trace, const KernelTable& table, const std::vector<std::uint32_t>& rows) {
  std::string text;
  for (std::size_t c = 0; c < kKernelColumns; ++c)
    text += (c > 0 ? "," : "") + csv_cell(column_text(static_cast<KernelColumn>(c)).title);
  text += '\n';
  for (const std::uint32_t row : rows) {
    for (std::size_t c = 0; c < kKernelColumns; ++c) {
      const auto column = static_cast<KernelColumn>(c);
      if (c > 0) text += ',';
      text += is_words(column) ? csv_cell(column_words(trace, table.rows[row], column))
                               : fmt::format("{:.15g}", column_number(table.rows[row], column));
    }
    text += '\n';
  }
  return text;
}

KernelCalls kernel_calls(const Trace& trace, std::span<const SliceId> named, StringId name, std::optional<Span> range) {
  KernelCalls calls;
  std::vector<Ns> durations;
  for (const SliceId s : named) {
    if (trace.name_id(s) != name || !is_gpu_work(trace.kind(s))) continue;
    if (range && !range->contains(trace.begin(s))) continue;
    calls.slices.push_back(s);
    durations.push_back(trace.duration(s));
    calls.longest = std::max(calls.longest, trace.duration(s));
  }
  sort_by_begin(trace, calls.slices);
  calls.histogram = duration_histogram(durations);
  return calls;
}

std::optional<std::size_t> bin_of(const DurationHistogram& histogram, Ns duration) {
  constexpr double kRounding = 1e-9;  // edges come from a logarithm: the outermost may miss its duration by a last bit
  const auto& edges = histogram.edges;
  const double value = std::max(1.0, static_cast<double>(duration));
  if (edges.size() < 2 || value < edges.front() * (1 - kRounding) || value > edges.back() * (1 + kRounding))
    return std::nullopt;
  if (value < edges.front()) return 0;
  const auto after = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
  return std::min(static_cast<std::size_t>(after - 1), edges.size() - 2);
}

std::shared_ptr<const KernelsAnswer> answer(const Document& document, const KernelsQuestion& question,
                                            const std::atomic<bool>* cancel) {
  if (cancel && *cancel) return nullptr;
  return std::make_shared<const KernelsAnswer>(
      KernelsAnswer{question.range, kernel_table(document.trace, document.links, question.range)});
}

}  // namespace gapscope
