// `gapscope kernels TRACE`: GPU work by name, with what the names show and how well each fits the GPU.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/subcommands.h"
#include "core/analyze/gpu/kernel_columns.h"
#include "core/analyze/ncu_command/ncu_command.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/base/time.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"
#include "core/view/table/table_look.h"

namespace gapscope {
namespace {

struct KernelsOptions {
  std::string trace;
  bool json = false;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  std::string sort = "total";  // id of a column
  std::optional<Span> range;
};

std::string foot(const KernelTable& table, std::size_t shown) {
  std::string text =
      fmt::format("{} name{}, {} slices, {} of GPU work in total", table.rows.size(), table.rows.size() == 1 ? "" : "s",
                  format_count(static_cast<std::int64_t>(table.count)), format_duration(table.total));
  if (shown < table.rows.size()) text += fmt::format("; {} names are not shown", table.rows.size() - shown);
  return text + '\n';
}

// Which of the operators above captured graphs.
std::string joined_text(const Trace& trace) {
  const CapturedWork* captured = trace.captured.get();
  const std::string words = captured != nullptr ? captured_text(*captured) : std::string();
  return words.empty() ? words : words + '\n';
}

std::string no_rows_text(const Trace& trace, const KernelTable& table) {
  if (table.trace_has_gpu_work) return "No GPU work begins in that range.\n";
  return std::string(trace.producer->no_gpu_work) + '\n';
}

int kernels(const KernelsOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const TraceSession session(loaded);
  const LinkIndex& links = session.links();
  const KernelTable table = kernel_table(trace, links, options.range);
  const NcuCommands commands(trace, session.ops());
  const KernelRows shown = kernel_rows(table, {trace, &links, &commands});
  std::vector<std::uint32_t> rows = arrange(shown, {{}, RowOrder{column_at(kernel_columns(), options.sort), true}});
  rows.resize(std::min(rows.size(), options.limit));
  if (options.json) return print(json_text(json_of(shown, rows)));
  return print(doubts_line(session) + (table.rows.empty()
                                           ? no_rows_text(trace, table)
                                           : text_of(shown, rows) + foot(table, rows.size()) + joined_text(trace)));
}

}  // namespace

std::function<int()> declare_kernels(CLI::App& arguments) {
  auto options = std::make_shared<KernelsOptions>();
  add_trace(arguments, options->trace);
  arguments.add_option("--sort", options->sort, "largest first; cv is the coefficient of variation")
      ->check(CLI::IsMember({"total", "mean", "count", "max", "cv"}))
      ->capture_default_str();
  arguments.add_option("--limit", options->limit, "the maximum number of rows")->check(whole_number(0, kMostRows));
  add_range(arguments, options->range, "only GPU work that begins in this time");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return kernels(*options); };
}

}  // namespace gapscope
