// `gapscope table TRACE`: PyTorch's profiler table on stdout, as text (PyTorch's own, byte for byte), CSV or JSON.
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/subcommands.h"
#include "core/analyze/op_table/op_columns.h"
#include "core/analyze/op_table/op_table.h"
#include "core/analyze/op_table/op_table_text.h"
#include "core/base/table/csv.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

struct TableOptions {
  std::string trace;  // "-" is standard input
  std::string sort;   // a word of op_table_sort_words(); empty: order of first appearance
  std::size_t limit = 100;
  std::size_t max_name_column_width = 55;
  TableMode mode = TableMode::exact;
  std::optional<Span> range;
  bool by_shape = false;
  bool csv = false;
  bool json = false;
};

std::string csv_text(const Trace& trace, const OpTable& table, std::size_t limit) {
  std::string out = "name,device,count,self_cpu_us,cpu_us,self_cuda_us,cuda_us,user_annotation,input_shapes\n";
  for (std::size_t i = 0; i < std::min(limit, table.rows.size()); ++i) {
    const OpTableRow& r = table.rows[i];
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_cell(r.name), r.on_gpu ? "CUDA" : "CPU", r.count,
                       format_file_us(r.self_cpu), format_file_us(r.cpu), format_file_us(r.self_cuda), format_file_us(r.cuda),
                       r.annotation ? "true" : "false", csv_cell(trace.strings[r.input_dims]));
  }
  return out;
}

int table(const TableOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const TraceSession session(loaded);
  const OpEvents events(trace, session.lanes(), session.links(), options.mode, KeepTree::yes);
  const OpTableOptions rows{options.range, options.by_shape};
  OpTable table = make_op_table(trace, events, rows);
  if (table.rows.empty() && !options.json && !options.csv) {
    std::fprintf(stderr,
                 "gapscope: no operator, call or GPU event is in %s. Record with activities=[ProfilerActivity.CPU, "
                 "ProfilerActivity.CUDA].\n",
                 options.range ? "that range" : "this trace");
    return kOk;
  }
  const OpTableSort sort = op_table_sort_from_word(options.sort).value_or(OpTableSort::none);
  std::string out;
  if (options.json || options.csv) {
    sort_op_table(table.rows, sort);
    const OpTableRows shown = op_table_rows(trace, table, options.by_shape);
    out = options.json ? json_text(json_of(shown, first_rows(shown, options.limit))) : csv_text(trace, table, options.limit);
  } else {
    // print(prof.key_averages().table()) ends with an empty line: table() brings one newline, print() the other.
    const OpTableText text{sort, options.limit, options.max_name_column_width};
    out = doubts_line(session) + print_op_table(trace, events, table, rows, text) + '\n';
  }
  return print(out);
}

}  // namespace

std::function<int()> declare_table(CLI::App& arguments) {
  auto options = std::make_shared<TableOptions>();
  add_trace(arguments, options->trace);
  arguments.add_option("--sort", options->sort, "a column as PyTorch names it; default: order of first appearance")
      ->check(CLI::IsMember(op_table_sort_words()));
  arguments.add_option("--limit", options->limit, "the maximum number of rows")->check(whole_number(0, kMostRows));
  arguments.add_option("--max-name-column-width", options->max_name_column_width, "characters of the name column")
      ->check(whole_number(0, kMostRows));
  arguments
      .add_option_function<std::string>(
          "--mode",
          [options](const std::string& mode) { options->mode = mode == "exact" ? TableMode::exact : TableMode::corrected; },
          "exact: as torch 2.11 prints it; corrected: GPU time counted once, under operators and annotations only")
      ->check(CLI::IsMember({"exact", "corrected"}))
      ->default_str("exact");
  add_range(arguments, options->range, "only events that begin in this time");
  arguments.add_flag("--shapes", options->by_shape, "one row per operator and input shapes");
  auto* csv = arguments.add_flag("--csv", options->csv, "print CSV");
  arguments.add_flag("--json", options->json, "print JSON")->excludes(csv);
  return [options] { return table(*options); };
}

}  // namespace gapscope
