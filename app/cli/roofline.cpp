#include "app/cli/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/operators/flops.h"
#include "core/analyze/work/floors.h"
#include "core/base/parallel.h"
#include "core/base/parse_json.h"
#include "core/base/text.h"
#include "core/load/arg_texts.h"
#include "core/view/details/details_flops.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json whole(const std::optional<double>& ns) { return ns ? Json(std::llround(*ns)) : Json(nullptr); }

// Lists as the file has them; null where not recorded.
Json list_of(const Trace& trace, StringId text) {
  const Result<Json> out = text ? parse_json(trace.strings[text]) : Error{};
  return out ? *out : Json(nullptr);
}

Json row_json(const Trace& trace, const WorkRow& row, const Floor& floor) {
  Json out = {{"operator", trace.strings[row.op]},
              {"input_dims", list_of(trace, row.input_dims)},
              {"input_types", list_of(trace, row.input_types)},
              {"math", row.math ? Json(math_type_name(*row.math)) : Json(nullptr)},
              {"device", row.device},
              {"count", row.count},
              {"flops", or_null(row.each.flops)},
              {"bytes", or_null(row.each.bytes)},
              {"kernels", row.kernels},
              {"kernel_ns", row.kernel_ns},
              {"floor_ns", whole(floor.floor_ns)},
              {"bound", floor.bound == Bound::unknown ? Json(nullptr) : Json(bound_name(floor.bound))},
              {"reached", or_null(floor.reached)},
              {"headroom_ns", whole(floor.headroom_ns)}};
  if (!floor.note.empty()) out["note"] = floor.note;
  return out;
}

struct Rated {
  const WorkRow* row;
  Floor floor;
};

// The most headroom first, then what is not known, by kernel time.
std::vector<Rated> rated_rows(const Trace& trace, const WorkTable& table, const RoofOptions& roofs) {
  std::vector<Rated> out;
  for (const WorkRow& row : table.rows) out.push_back({&row, floor_of(trace, row, roofs)});
  std::stable_sort(out.begin(), out.end(), [](const Rated& a, const Rated& b) {
    return a.floor.headroom_ns.value_or(-1) > b.floor.headroom_ns.value_or(-1);
  });
  return out;
}

std::string_view missing(const WorkTable& table) {
  if (table.kernel_ns == 0) return "No kernel is recorded.";
  if (!table.shapes_recorded)
    return "No operator of this trace states its shapes: PyTorch writes them with record_shapes=True.";
  return {};
}

std::string text(const Trace& trace, const WorkTable& table, const std::vector<Rated>& rows, const RoofOptions& roofs) {
  if (const std::string_view said = missing(table); !said.empty()) return std::string(said) + '\n';
  std::string out =
      fmt::format("{:<36} {:>7} {:>6} {:>12} {:>10} {:>11} {:>11} {:>8} {:>8} {:>11}  {}\n", "operator", "calls", "math",
                  "operations", "bytes", "GPU time", "floor", "reached", "bound", "headroom", "input shapes");
  for (const auto& [row, floor] : rows) {
    const std::string dims =
        row->input_dims ? elide_middle(printable(shapes_text(trace.strings[row->input_dims])), 60) : "not recorded";
    out += fmt::format(
        "{:<36} {:>7} {:>6} {:>12} {:>10} {:>11} {:>11} {:>8} {:>8} {:>11}  {}\n",
        elide_middle(printable(trace.strings[row->op]), 36), row->count, row->math ? math_type_name(*row->math) : "-",
        row->each.flops ? flop_text(*row->each.flops) : "-",
        row->each.bytes ? format_bytes(static_cast<std::uint64_t>(*row->each.bytes)) : "-", format_duration(row->kernel_ns),
        floor.floor_ns ? format_duration(static_cast<Ns>(*floor.floor_ns)) : "-",
        floor.reached ? format_percent(*floor.reached) : "-", floor.bound == Bound::unknown ? "-" : bound_name(floor.bound),
        floor.headroom_ns ? format_duration(static_cast<Ns>(*floor.headroom_ns)) : "-",
        floor.note.empty() ? dims : dims + "  " + std::string(floor.note));
  }
  const FloorSum sum = sum_floors(trace, table, roofs);
  if (sum.kernel_ns > 0)
    out += fmt::format("{} of kernels had to take {} at least: {} reached.\n", format_duration(sum.kernel_ns),
                       format_duration(static_cast<Ns>(sum.floor_ns)), format_percent(sum.reached()));
  if (const auto coverage = table.coverage())
    out += fmt::format("Counted: {} of the time of kernels with an operator.", format_percent(*coverage));
  if (table.without_operator_ns > 0)
    out += fmt::format(" {} of kernels have no operator in this file.", format_duration(table.without_operator_ns));
  return out + '\n';
}

std::string json(const Trace& trace, const WorkTable& table, const std::vector<Rated>& rows, const RoofOptions& roofs) {
  const FloorSum sum = sum_floors(trace, table, roofs);
  Json out = {{"coverage", or_null(table.coverage())},
              {"kernel_ns", table.kernel_ns},
              {"counted_ns", table.counted_ns},
              {"without_operator_ns", table.without_operator_ns},
              {"rated_ns", sum.kernel_ns},
              {"floor_ns", std::llround(sum.floor_ns)},
              {"rows", Json::array()}};
  for (const auto& [row, floor] : rows) out["rows"].push_back(row_json(trace, *row, floor));
  if (const std::string_view said = missing(table); !said.empty()) out["missing"] = said;
  return json_text(out);
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
  const std::vector<Rated> rows = rated_rows(trace, table, options.roofs);
  return print(options.json ? json(trace, table, rows, options.roofs) : text(trace, table, rows, options.roofs));
}

}  // namespace gapscope
