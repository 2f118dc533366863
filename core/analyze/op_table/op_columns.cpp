#include "core/analyze/op_table/op_columns.h"

#include <string>
#include <utility>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/operators/flops.h"
#include "core/base/demangle.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Context = OpTableContext;
using Row = OpTableRow;

CellText name_text(const Context&, const Row& row) {
  const std::string whole = printable(demangle(row.name));
  return {row.on_gpu && !row.annotation ? printable(kernel_title(row.name)) : whole, whole};
}

std::string shapes_of(const Context& of, const Row& row) {
  return row.input_dims ? shapes_text(of.trace.strings[row.input_dims]) : std::string();
}

template <auto Member>
CellValue mean(const Context&, const Row& row) {
  return row.count == 0 ? Ns{0} : row.*Member / static_cast<Ns>(row.count);
}

// GPU work has neither time on the CPU nor memory.
template <auto Value>
CellText cpu_text(const Context& of, const Row& row) {
  if (row.on_gpu) return {"-", "GPU work takes no CPU time of its own.", 0, true};
  return usual_text(Value(of, row), {"", "", "", Quantity::ns, {}});
}
template <auto Value>
CellText memory_text(const Context& of, const Row& row) {
  if (row.on_gpu) return {"-", "Memory is counted for operators, not for GPU work.", 0, true};
  return usual_text(Value(of, row), {"", "", "", Quantity::bytes, {}});
}

// With its share of the sum that PyTorch's percentages divide by.
CellText with_share(CellText cell, Ns part, Ns whole) {
  if (part <= 0 || whole <= 0) return cell;
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  cell.share = static_cast<float>(share);
  cell.hover += ", " + format_percent(share);
  return cell;
}
template <auto Member>
CellValue of_row(const Context& of, const Row& row) {
  return field<Member>(of, row);
}
CellText self_cpu_text(const Context& of, const Row& row) {
  CellText cell = cpu_text<of_row<&Row::self_cpu>>(of, row);
  return row.on_gpu ? cell : with_share(std::move(cell), row.self_cpu, of.table.self_cpu_total);
}
CellText self_cuda_text(const Context& of, const Row& row) {
  CellText cell = usual_text(row.self_cuda, {"", "", "", Quantity::ns, {}});
  // Annotations span work that other rows count, so theirs is no share of the sum.
  return row.on_gpu && row.annotation ? cell : with_share(std::move(cell), row.self_cuda, of.table.self_cuda_total);
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;
constexpr float kTime = 11, kMemory = 14.5f;  // digits; so that the titles do not touch

using TableColumn = ColumnOf<Row, Context>;
constexpr TableColumn kColumns[] = {
    TableColumn("name", "Name", "Operator, call or GPU work; steps of one annotation share a row.", text, &field<&Row::name>,
                {}, name_text),
    TableColumn("shape", "Input shapes", "Sizes of the inputs, as recorded.", text,
                [](const Context& of, const Row& row) -> CellValue { return shapes_of(of, row); },
                {.in = kShown, .chars = 28, .quiet = true}),
    TableColumn(
        "device", "Device", "Where the row's own time passes.", text,
        [](const Context&, const Row& row) -> CellValue { return row.on_gpu ? "CUDA" : "CPU"; },
        {.chars = 6, .unfiltered = true},
        [](const Context&, const Row& row) -> CellText {
          return {row.on_gpu ? "CUDA" : "CPU", row.annotation ? "An annotation." : "", 0, true};
        }),
    TableColumn("count", "Calls", "How often it ran.", count, &field<&Row::count>, {.sum = true}),
    TableColumn("self_cpu", "Self CPU", "Time on its CPU thread outside the operators that it called.", ns,
                &field<&Row::self_cpu>, {.chars = kTime, .sum = true}, self_cpu_text),
    TableColumn("cpu", "CPU total", "Time on its CPU thread, with everything that it called.", ns, &field<&Row::cpu>,
                {.chars = kTime}, cpu_text<of_row<&Row::cpu>>),
    TableColumn("cpu_avg", "CPU avg", "CPU total for each call.", ns, mean<&Row::cpu>,
                {.in = kShown, .chars = kTime, .hidden = true}, cpu_text<mean<&Row::cpu>>),
    TableColumn("self_cuda", "Self CUDA", "GPU time of the work that it launched itself.", ns, &field<&Row::self_cuda>,
                {.chars = kTime, .sorted = true, .sum = true}, self_cuda_text),
    TableColumn("cuda", "CUDA total", "GPU time of the work launched by it and by everything that it called.", ns,
                &field<&Row::cuda>, {.chars = kTime}),
    TableColumn("cuda_avg", "CUDA avg", "CUDA total for each call.", ns, mean<&Row::cuda>,
                {.in = kShown, .chars = kTime, .hidden = true}),
    TableColumn("user_annotation", "Annotation", "It is an annotation of the program.", flag, &field<&Row::annotation>,
                {.in = kInJson}),
    TableColumn("input_shapes", "Input shapes", "As the file has them.", text,
                [](const Context& of, const Row& row) -> CellValue { return of.trace.strings[row.input_dims]; },
                {.in = kInJson}),
    TableColumn("cpu_memory", "CPU mem", "Host memory allocated while it ran, less what was freed.", bytes,
                &field<&Row::cpu_memory>, {.chars = kMemory, .hidden = true}, memory_text<of_row<&Row::cpu_memory>>),
    TableColumn("self_cpu_memory", "Self CPU mem", "Host memory that it allocated itself, less what it freed.", bytes,
                &field<&Row::self_cpu_memory>, {.chars = kMemory, .sum = true}, memory_text<of_row<&Row::self_cpu_memory>>),
    TableColumn("cuda_memory", "CUDA mem", "GPU memory allocated while it ran, less what was freed.", bytes,
                &field<&Row::cuda_memory>, {.chars = kMemory, .hidden = true}, memory_text<of_row<&Row::cuda_memory>>),
    TableColumn("self_cuda_memory", "Self CUDA mem", "GPU memory that it allocated itself, less what it freed.", bytes,
                &field<&Row::self_cuda_memory>, {.chars = kMemory, .sum = true}, memory_text<of_row<&Row::self_cuda_memory>>),
};

}  // namespace

OpTableRows op_table_rows(const Trace& trace, const OpTable& table, bool by_shape) {
  OpTableRows rows = table_of(kColumns, {trace, table}, table.rows);
  if (!by_shape) rows.leave_out("shape"), rows.leave_out("input_shapes");
  if (!table.has_memory)
    for (const char* id : {"cpu_memory", "self_cpu_memory", "cuda_memory", "self_cuda_memory"}) rows.leave_out(id);
  return rows;
}

}  // namespace gapscope
