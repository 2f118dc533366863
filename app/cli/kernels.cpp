#include "app/cli/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/gpu/kernel_columns.h"
#include "core/analyze/ncu_command/ncu_command.h"
#include "core/analyze/overview/missing_words.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/view/table/table_look.h"

namespace gapscope {
namespace {

std::string foot(const KernelTable& table, std::size_t shown) {
  std::string text =
      fmt::format("{} name{}, {} slices, {} of GPU work in all", table.rows.size(), table.rows.size() == 1 ? "" : "s",
                  format_count(static_cast<std::int64_t>(table.count)), format_duration(table.total));
  if (shown < table.rows.size()) text += fmt::format("; {} names are not shown", table.rows.size() - shown);
  return text + '\n';
}

std::string no_rows_text(const Trace& trace, const KernelTable& table) {
  if (table.trace_has_gpu_work) return "No GPU work begins in that range.\n";
  return std::string(no_gpu_work_words(program_kind(trace))) + '\n';
}

}  // namespace

int kernels(const KernelsOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const KernelTable table = kernel_table(trace, links, options.range);
  const NcuCommands commands(trace, gpu_ops(trace, links));
  const KernelRows shown = kernel_rows(table, {trace, &commands});
  std::vector<std::uint32_t> rows = arrange(shown, {{}, RowOrder{column_at(kernel_columns(), options.sort), true}});
  rows.resize(std::min(rows.size(), options.limit));
  if (options.json) return print(json_text(json_of(shown, rows)));
  return print(table.rows.empty() ? no_rows_text(trace, table) : text_of(shown, rows) + foot(table, rows.size()));
}

}  // namespace gapscope
