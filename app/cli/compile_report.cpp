#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/view/compile/compile_model.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsShown = 30;
constexpr std::size_t kCellChars = 60;

Json work_json(const CompiledWork& work) {
  return {{"gpu_pieces", work.pieces}, {"kernels", work.kernels}, {"gpu_ns", work.gpu}};
}

std::string use_json(const Trace& trace, const CompileUse& use) {
  const GuardChecks& guards = use.guards;
  Json json = {{"guard_checks",
                {{"count", guards.slices.size()},
                 {"ns", guards.time},
                 {"hits", guards.hits},
                 {"compiled_next", guards.compiled},
                 {"neither", guards.other}}},
               {"compile_ns", use.compile_time},
               {"in_regions", work_json(use.in_regions)},
               {"in_graphs", work_json(use.in_graphs)}};
  constexpr const char* kKeys[] = {"regions", "breaks", "graphs", "triton_kernels", "compilations"};
  for (const CompileList list : kCompileLists) {
    const std::unique_ptr<TableRows> table = compile_table(trace, use, list);
    json[kKeys[static_cast<std::size_t>(list)]] = json_of(*table, first_rows(*table, table->rows()));
  }
  return json_text(json);
}

// Columns as wide as their widest cell; words at the left, numbers at the right.
std::string table_text(const TableRows& table, const char* title) {
  if (table.rows() == 0) return {};
  std::vector<std::size_t> columns, width;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.is_in(c, kInText)) columns.push_back(c), width.push_back(utf8_length(table.head(c).title));
  const std::vector<std::uint32_t> rows = first_rows(table, kRowsShown);
  // The last column is whole: it may be a path to copy.
  const auto shown = [&](std::size_t row, std::size_t i) {
    const std::string text = table.text(row, columns[i]).text;
    return i + 1 < columns.size() ? elide_middle(text, kCellChars) : text;
  };
  for (const std::uint32_t row : rows)
    for (std::size_t i = 0; i < columns.size(); ++i) width[i] = std::max(width[i], utf8_length(shown(row, i)));
  const auto line = [&](const auto& cell_of) {
    std::string out = " ";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = cell_of(i), space(width[i] - utf8_length(cell), ' ');
      out += ' ' + (is_number(table.head(columns[i]).quantity) ? space + cell : cell + space);
    }
    return out.erase(out.find_last_not_of(' ') + 1) + '\n';
  };
  std::string out =
      fmt::format("\n{}\n", title) + line([&](std::size_t i) { return std::string(table.head(columns[i]).title); });
  for (const std::uint32_t row : rows) out += line([&](std::size_t i) { return shown(row, i); });
  if (table.rows() > rows.size()) out += fmt::format("  and {} more: --json has all\n", table.rows() - rows.size());
  return out;
}

}  // namespace

std::string compile_report(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const AnalysisOptions& options) {
  const CompileUse use = compile_use(trace, lanes, links, gpu_ops(trace, links), args_of_file(trace));
  if (options.json) return use_json(trace, use);
  std::string out;
  for (const std::string& sentence : compile_summary(trace, use)) out += printable(sentence) + '\n';
  for (const CompileList list : kCompileLists) out += table_text(*compile_table(trace, use, list), compile_title(list));
  return out;
}

}  // namespace gapscope
