// `gapscope roofline TRACE`: the least time of each operator, and how far the run was from it.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/subcommands.h"
#include "core/analyze/doubts.h"
#include "core/analyze/gpu/devices.h"
#include "core/analyze/work/real_clock.h"
#include "core/analyze/work/roofline_rows.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

struct RooflineOptions {
  std::string trace;  // "-" is standard input
  bool json = false, csv = false, by_module = false, by_step = false;
};

using Json = nlohmann::ordered_json;

std::string foot(const Trace& trace, const LinkIndex& links, const WorkTable& table) {
  std::string out;
  const FloorSum sum = sum_floors(trace, table);
  if (sum.kernel_ns > 0)
    out += fmt::format("Kernels took {}; their floor is {}: {} reached.\n", format_duration(sum.kernel_ns),
                       format_duration(static_cast<Ns>(sum.floor_ns)), format_percent(sum.reached()));
  if (const auto coverage = table.coverage())
    out += fmt::format("Counted: {} of the time of kernels with an operator.\n", format_percent(*coverage));
  if (table.joined_ns > 0)
    out += fmt::format("{} of kernels ran in replayed graphs: their operators are those of the capture.\n",
                       format_duration(table.joined_ns));
  if (table.without_operator_ns > 0)
    out += fmt::format("{} of kernels have no operator in this file.\n", format_duration(table.without_operator_ns));
  if (const std::string clock = clock_words(trace, links); !clock.empty()) out += clock + ".\n";
  return out;
}

Json whole_json(const Trace& trace, const LinkIndex& links, const WorkTable& table) {
  const FloorSum sum = sum_floors(trace, table);
  const auto coverage = table.coverage();
  Json out = {{"coverage", coverage ? Json(*coverage) : Json(nullptr)},
              {"kernel_ns", table.kernel_ns},
              {"counted_ns", table.counted_ns},
              {"without_operator_ns", table.without_operator_ns},
              {"joined_ns", table.joined_ns},
              {"rated_ns", sum.kernel_ns},
              {"floor_ns", std::llround(sum.floor_ns)}};
  if (const auto clock = real_clock(trace, links))
    out["clock"] = {{"device", clock->device}, {"mhz", clock->mhz}, {"peak_mhz", clock->peak_mhz}};
  if (const std::string_view said = missing_roofline(trace, table); !said.empty()) out["missing"] = said;
  return out;
}

// One table in the way that was asked for.
std::string written(const TableRows& rows, const char* key, const RooflineOptions& options, Json whole,
                    const std::vector<Doubt>& doubts, const std::string& foot) {
  const std::vector<std::uint32_t> all = first_rows(rows, rows.rows());
  if (options.csv) return csv_of(rows, all);
  if (!options.json) return doubts_line(doubts) + text_of(rows, all) + foot;
  whole[key] = json_of(rows, all);
  return json_text(with_doubts(std::move(whole), doubts));
}

int roofline(const RooflineOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const TraceSession session(loaded);
  const LinkIndex& links = session.links();
  const WorkTable& table = session.work();
  std::vector<RooflineRow> rows = roofline_rows(trace, table);
  measure_bytes(trace, links, table, rows);
  const std::string_view said = missing_roofline(trace, table);
  if (!said.empty() && !options.json && !options.csv) return print(doubts_line(session) + std::string(said) + '\n');
  const Json whole = whole_json(trace, links, table);
  const std::vector<Doubt> doubts = doubts_of(trace, session.ops());
  const std::string below = foot(trace, links, table);
  if (options.by_module) {
    const auto sums = roofline_by_module(trace, links, table, rows);
    return print(written(roofline_sums(trace, sums), "modules", options, whole, doubts, below));
  }
  if (options.by_step) {
    const auto sums = roofline_by_step(trace, session.steps(), table, rows);
    return print(written(roofline_sums(trace, sums), "steps", options, whole, doubts, below));
  }
  return print(written(roofline_table(trace, rows), "rows", options, whole, doubts, below));
}

}  // namespace

std::function<int()> declare_roofline(CLI::App& arguments) {
  auto options = std::make_shared<RooflineOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_flag("--csv", options->csv, "print CSV")->excludes(json);
  auto* module = arguments.add_flag("--module", options->by_module, "sums by nn.Module");
  arguments.add_flag("--step", options->by_step, "sums by step")->excludes(module);
  return [options] { return roofline(*options); };
}

}  // namespace gapscope
