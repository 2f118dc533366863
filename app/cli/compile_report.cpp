#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"
#include "core/view/compile/compile_model.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsShown = 30;
constexpr std::size_t kCellChars = 60;

Json work_json(const CompiledWork& work) {
  return {{"gpu_pieces", work.pieces}, {"kernels", work.kernels}, {"gpu_ns", work.gpu}};
}

std::string use_json(const TraceSession& session, const CompileUse& use) {
  const Trace& trace = session.trace();
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
  return json_text(with_doubts(std::move(json), session));
}

// Words at the left, numbers at the right. The last column is whole: it may be a path to copy.
std::string table_text(const TableRows& table, const char* title) {
  if (table.rows() == 0) return {};
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.is_in(c, kInText)) columns.push_back(c);
  std::vector<std::vector<std::string>> lines(1);
  for (const std::size_t c : columns) lines[0].push_back(table.head(c).title);
  for (const std::uint32_t row : first_rows(table, kRowsShown)) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::size_t c : columns)
      line.push_back(c == columns.back() ? table.text(row, c).text : elide_middle(table.text(row, c).text, kCellChars));
  }
  const auto words = [&](std::size_t i) { return !is_number(table.head(columns[i]).quantity); };
  std::string out = fmt::format("\n{}\n", title) + aligned_text(lines, 1, words);
  if (table.rows() > kRowsShown) out += fmt::format("  and {} more: --json has all\n", table.rows() - kRowsShown);
  return out;
}

}  // namespace

std::string compile_report(const TraceSession& session, const AnalysisOptions& options) {
  const Trace& trace = session.trace();
  const CompileUse use = compile_use(trace, session.lanes(), session.links(), session.ops(), args_of_file(trace));
  if (options.json) return use_json(session, use);
  std::string out;
  for (const std::string& sentence : compile_summary(trace, use)) out += printable(sentence) + '\n';
  for (const CompileList list : kCompileLists) out += table_text(*compile_table(trace, use, list), compile_title(list));
  return out;
}

}  // namespace gapscope
