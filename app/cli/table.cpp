#include "app/cli/table.h"

#include <charconv>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/op_table/op_columns.h"
#include "core/analyze/op_table/op_table_text.h"
#include "core/base/table/csv.h"
#include "core/base/table/output.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

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

}  // namespace

std::optional<Span> parse_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto number = [](std::string_view digits, Ns& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc{} && end == digits.data() + digits.size();
  };
  Span span;
  const bool ok =
      number(std::string_view(text).substr(0, colon), span.begin) && number(std::string_view(text).substr(colon + 1), span.end);
  return ok && span.begin < span.end ? std::optional(span) : std::nullopt;
}

int table(const TableOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const OpEvents events(trace, lanes, links, options.mode, KeepTree::yes);
  const OpTableOptions rows{options.range, options.by_shape};
  OpTable table = make_op_table(trace, events, rows);
  if (table.rows.empty() && !options.json && !options.csv) {
    std::fprintf(stderr,
                 "gapscope: no operator, call or GPU event lies in %s. Record with activities=[ProfilerActivity.CPU, "
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
    out = print_op_table(trace, events, table, rows, text) + '\n';
  }
  return print(out);
}

}  // namespace gapscope
