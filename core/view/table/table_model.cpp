#include "core/view/table/table_model.h"

#include <algorithm>
#include <array>

#include "core/analyze/operators/flops.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// clang-format off
constexpr std::array<TableColumnText, static_cast<std::size_t>(TableColumn::count_)> kTexts = {{
    {"Name", "Operator, call or GPU work; steps of one annotation share a row."},
    {"Input shapes", "Sizes of the inputs, as recorded."},
    {"Device", "Where the row's own time passes."},
    {"Calls", "How often it ran."},
    {"Self CPU", "Time on its CPU thread outside the operators that it called."},
    {"CPU total", "Time on its CPU thread, with everything that it called."},
    {"CPU avg", "CPU total for each call."},
    {"Self CUDA", "GPU time of the work that it launched itself."},
    {"CUDA total", "GPU time of the work launched by it and by everything that it called."},
    {"CUDA avg", "CUDA total for each call."},
    {"Self CPU mem", "Host memory that it allocated itself, less what it freed."},
    {"CPU mem", "Host memory allocated while it ran, less what was freed."},
    {"Self CUDA mem", "GPU memory that it allocated itself, less what it freed."},
    {"CUDA mem", "GPU memory allocated while it ran, less what was freed."},
}};
// clang-format on

std::int64_t average(Ns sum, std::uint64_t count) { return count == 0 ? 0 : sum / static_cast<Ns>(count); }

std::string csv_title(TableColumn column) {
  std::string title = column_text(column).title;
  if (is_time(column)) title += " (ns)";
  if (is_memory(column)) title += " (bytes)";
  return title;
}

std::string shape_of(const Trace& trace, const OpTableRow& row) {
  return row.input_dims ? shapes_text(trace.strings[row.input_dims]) : std::string{};
}

}  // namespace

TableColumnText column_text(TableColumn column) { return kTexts[static_cast<std::size_t>(column)]; }

bool is_time(TableColumn column) { return column >= TableColumn::self_cpu && column <= TableColumn::cuda_avg; }
bool is_memory(TableColumn column) { return column >= TableColumn::self_cpu_memory && column < TableColumn::count_; }

std::int64_t column_value(const OpTableRow& row, TableColumn column) {
  switch (column) {
    case TableColumn::calls: return static_cast<std::int64_t>(row.count);
    case TableColumn::self_cpu: return row.self_cpu;
    case TableColumn::cpu: return row.cpu;
    case TableColumn::cpu_avg: return average(row.cpu, row.count);
    case TableColumn::self_cuda: return row.self_cuda;
    case TableColumn::cuda: return row.cuda;
    case TableColumn::cuda_avg: return average(row.cuda, row.count);
    case TableColumn::self_cpu_memory: return row.self_cpu_memory;
    case TableColumn::cpu_memory: return row.cpu_memory;
    case TableColumn::self_cuda_memory: return row.self_cuda_memory;
    case TableColumn::cuda_memory: return row.cuda_memory;
    case TableColumn::name:
    case TableColumn::shape:
    case TableColumn::device:
    case TableColumn::count_: break;
  }
  return 0;
}

std::vector<TableColumn> table_columns(const OpTable& table, bool by_shape) {
  std::vector<TableColumn> columns{TableColumn::name};
  if (by_shape) columns.push_back(TableColumn::shape);
  const auto last = table.has_memory ? TableColumn::cuda_memory : TableColumn::cuda_avg;
  for (auto c = static_cast<int>(TableColumn::device); c <= static_cast<int>(last); ++c)
    columns.push_back(static_cast<TableColumn>(c));
  return columns;
}

std::vector<std::uint32_t> arrange_rows(const Trace& trace, const OpTable& table, const std::string& filter,
                                        const TableOrder& order) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < table.rows.size(); ++i) {
    const OpTableRow& row = table.rows[i];
    if (contains_ignore_case(row.name, filter) || contains_ignore_case(shape_of(trace, row), filter)) rows.push_back(i);
  }
  const auto sort = [&](const auto& key) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto& x = table.rows[order.descending ? b : a];
      const auto& y = table.rows[order.descending ? a : b];
      return key(x) < key(y);
    });
  };
  if (order.column == TableColumn::name) {
    sort([](const OpTableRow& row) { return std::string_view(row.name); });
  } else if (order.column == TableColumn::shape) {
    sort([&](const OpTableRow& row) { return shape_of(trace, row); });
  } else if (order.column == TableColumn::device) {
    sort([](const OpTableRow& row) { return row.on_gpu; });
  } else {
    sort([&](const OpTableRow& row) { return column_value(row, order.column); });
  }
  return rows;
}

OpTableRow total_of(const OpTable& table, const std::vector<std::uint32_t>& rows) {
  OpTableRow total;
  for (const std::uint32_t i : rows) {
    const OpTableRow& row = table.rows[i];
    total.count += row.count;
    total.self_cpu += row.self_cpu;
    if (row.on_gpu && !row.annotation) total.self_cuda += row.self_cuda;
    total.self_cpu_memory += row.self_cpu_memory;
    total.self_cuda_memory += row.self_cuda_memory;
  }
  return total;
}

std::vector<SliceId> slices_of_row(const Trace& trace, const OpEvents& events, const TableQuestion& question,
                                   const OpTableRow& row) {
  const auto& groups = events.groups();
  const auto is_of_row = [&](const OpGroup& g) {
    return g.on_gpu == row.on_gpu && g.annotation == row.annotation && row_name(trace.strings[g.name]) == row.name;
  };
  const auto group = static_cast<std::uint32_t>(std::find_if(groups.begin(), groups.end(), is_of_row) - groups.begin());
  const auto [first, last] = question.range ? events.begin_in(*question.range) : std::pair(std::size_t{0}, events.size());
  std::vector<SliceId> slices;
  for (std::size_t i = first; i < last; ++i) {
    if (events.group(i) != group) continue;
    if (question.by_shape && !row.on_gpu) {
      const OpRow* op = trace.op_row(events.slice(i));
      if ((op ? op->input_dims : StringId{}) != row.input_dims) continue;
    }
    slices.push_back(events.slice(i));
  }
  sort_by_begin(trace, slices);
  return slices;
}

std::string table_csv(const Trace& trace, const OpTable& table, const std::vector<std::uint32_t>& rows,
                      const std::vector<TableColumn>& columns) {
  std::string out;
  for (const TableColumn c : columns) out += (out.empty() ? "" : ",") + csv_title(c);
  out += '\n';
  for (const std::uint32_t i : rows) {
    const OpTableRow& row = table.rows[i];
    std::string line;
    for (const TableColumn c : columns) {
      if (c != columns.front()) line += ',';
      if (c == TableColumn::name)
        line += csv_cell(row.name);
      else if (c == TableColumn::shape)
        line += csv_cell(shape_of(trace, row));
      else if (c == TableColumn::device)
        line += row.on_gpu ? "CUDA" : "CPU";
      else
        line += std::to_string(column_value(row, c));
    }
    out += line + '\n';
  }
  return out;
}

std::shared_ptr<const TableAnswer> answer(const Document& document, const TableQuestion& question,
                                          const std::atomic<bool>* cancel) {
  document.analyze(cancel);  // there already, but for a question that overtook it
  if (!document.analysis() || (cancel && *cancel)) return nullptr;
  const OpTableOptions options{question.range, question.by_shape};
  return std::make_shared<const TableAnswer>(
      TableAnswer{question, make_op_table(document.trace, document.analysis()->op_events(question.mode), options)});
}

bool arrange_table(const Trace& trace, const std::shared_ptr<const TableAnswer>& answer, TableState& state) {
  TableState::Arranged& arranged = state.arranged;
  if (arranged.of == answer && arranged.filter == state.filter && arranged.order == state.order) return false;
  const OpTable& table = answer->table;
  if (arranged.of != answer) state.selected = -1;
  arranged.of = answer;
  arranged.filter = state.filter;
  arranged.order = state.order;
  arranged.columns = table_columns(table, answer->question.by_shape);
  arranged.rows = arrange_rows(trace, table, state.filter, state.order);
  arranged.total = total_of(table, arranged.rows);
  return true;
}

}  // namespace gapscope
