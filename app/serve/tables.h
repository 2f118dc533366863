#pragma once
// What a command's JSON says of a recording, as tables for a browser: a row each, sorted by a click on a column's head. Numbers
// are written as everywhere else in the program. Every name is escaped.
#include <array>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace gapscope {

struct TableKind {
  std::string_view name;                 // in its address
  std::string_view tool;                 // of app/mcp/tools.cpp
  std::string_view title;                // of a link
  std::string_view argument{}, value{};  // of the tool, besides the trace
};
inline constexpr std::array<TableKind, 9> kTableKinds = {{
    {"findings", "diagnose", "Findings"},
    {"why", "why", "Time account", "by_step", "true"},
    {"kernels", "kernels", "Kernels"},
    {"modules", "modules", "Modules"},
    {"gaps", "sql", "Gaps", "query",
     "select device, ts - (select min(ts) from slice) as begin_ns, dur as dur_ns, main_cause, ended_by_name, operator_ns, "
     "python_ns, launching_ns, starting_ns, synchronizing_ns, data_loading_ns from gpu_gap order by dur desc limit 1000"},
    {"steps", "steps", "Steps"},
    {"whatif", "whatif", "What if"},
    {"table", "table", "Table"},
    {"roofline", "roofline", "Roofline"},
}};
const TableKind* table_kind(std::string_view name);  // null: there is none

// An Error, a sentence, where this is not what the tool answers.
Result<std::string> table_html(const TableKind& kind, const std::string& json);
Result<std::string> ranks_html(const std::string& json);

}  // namespace gapscope
