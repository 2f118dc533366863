#include "app/cli/roofline.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/work/roofline_rows.h"
#include "core/base/parallel.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/load/arg_texts.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

std::string foot(const Trace& trace, const WorkTable& table, const RoofOptions& roofs) {
  std::string out;
  const FloorSum sum = sum_floors(trace, table, roofs);
  if (sum.kernel_ns > 0)
    out += fmt::format("{} of kernels had to take {} at least: {} reached.\n", format_duration(sum.kernel_ns),
                       format_duration(static_cast<Ns>(sum.floor_ns)), format_percent(sum.reached()));
  if (const auto coverage = table.coverage())
    out += fmt::format("Counted: {} of the time of kernels with an operator.\n", format_percent(*coverage));
  if (table.without_operator_ns > 0)
    out += fmt::format("{} of kernels have no operator in this file.\n", format_duration(table.without_operator_ns));
  return out;
}

Json whole_json(const Trace& trace, const WorkTable& table, const RoofOptions& roofs) {
  const FloorSum sum = sum_floors(trace, table, roofs);
  const auto coverage = table.coverage();
  Json out = {{"coverage", coverage ? Json(*coverage) : Json(nullptr)},
              {"kernel_ns", table.kernel_ns},
              {"counted_ns", table.counted_ns},
              {"without_operator_ns", table.without_operator_ns},
              {"rated_ns", sum.kernel_ns},
              {"floor_ns", std::llround(sum.floor_ns)}};
  if (const std::string_view said = missing_roofline(table); !said.empty()) out["missing"] = said;
  return out;
}

// One table in the way that was asked for.
std::string written(const TableRows& rows, const char* key, const RooflineOptions& options, Json whole,
                    const std::string& foot) {
  const std::vector<std::uint32_t> all = first_rows(rows, rows.rows());
  if (options.csv) return csv_of(rows, all);
  if (!options.json) return text_of(rows, all) + foot;
  whole[key] = json_of(rows, all);
  return json_text(whole);
}

}  // namespace

int roofline(const RooflineOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const std::vector<OwnedWork> work = owned_work(trace, lanes, links);
  const Result<ArgTexts> values = read_arg(trace, values_needed(trace, lanes, work), "Concrete Inputs", hardware_threads());
  const WorkTable table = work_table(trace, lanes, work, values ? *values : ArgTexts{});
  const std::vector<RooflineRow> rows = roofline_rows(trace, table, options.roofs);
  const std::string_view said = missing_roofline(table);
  if (!said.empty() && !options.json && !options.csv) return print(std::string(said) + '\n');
  const Json whole = whole_json(trace, table, options.roofs);
  const std::string below = foot(trace, table, options.roofs);
  if (options.by_module) {
    const auto sums = roofline_by_module(trace, links, table, rows);
    return print(written(roofline_sums(trace, sums), "modules", options, whole, below));
  }
  if (options.by_step) {
    const auto sums = roofline_by_step(trace, make_steps(trace, gpu_ops(trace, links)), table, rows);
    return print(written(roofline_sums(trace, sums), "steps", options, whole, below));
  }
  return print(written(roofline_table(trace, rows), "rows", options, whole, below));
}

}  // namespace gapscope
