#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "core/analyze/operators/flops.h"
#include "core/base/text.h"
#include "core/view/details/details_flops.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNoShapes =
    "No operator of this trace states its shapes: PyTorch writes them with record_shapes=True.";
constexpr std::string_view kNoneCounted =
    "No operator whose operations can be counted (products, convolutions, attention) owns GPU work in this trace.";

std::string_view missing(const FlopsTable& table) {
  if (!table.shapes_recorded) return kNoShapes;
  return table.rows.empty() ? kNoneCounted : std::string_view{};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_json(const Trace& trace, const FlopsRow& row) {
  Json json = {{"operator", trace.strings[row.op]},
               {"input_dims", row.input_dims ? Json(shapes_text(trace.strings[row.input_dims])) : Json(nullptr)},
               {"count", row.count},
               {"flops_each", or_null(row.each.count)},
               {"gpu_time_ns", row.gpu_time},
               {"math", row.math ? Json(math_type_name(*row.math)) : Json(nullptr)},
               {"flops_per_second", or_null(row.per_second)},
               {"share_of_dense_peak", or_null(row.peak_share)}};
  if (!row.each.count) json["missing"] = row.each.why;
  return json;
}

}  // namespace

std::string flops_report(const Trace& trace, const LaneIndex&, const LinkIndex& links, const AnalysisOptions& options) {
  const FlopsTable table = flops_table(trace, links);
  const std::string_view said = missing(table);
  if (options.json) {
    Json json = {{"rows", Json::array()}};
    for (const FlopsRow& row : table.rows) json["rows"].push_back(row_json(trace, row));
    if (!said.empty()) json["missing"] = said;
    return json_text(json);
  }
  if (!said.empty()) return std::string(said) + '\n';
  std::string out = fmt::format("{:<34} {:>7} {:>12} {:>10} {:>6} {:>14} {:>8}  {}\n", "operator", "calls", "each", "GPU time",
                                "math", "achieved", "of peak", "input shapes");
  for (const FlopsRow& row : table.rows) {
    const std::string dims =
        row.input_dims ? elide_middle(printable(shapes_text(trace.strings[row.input_dims])), 60) : "not recorded";
    out +=
        fmt::format("{:<34} {:>7} {:>12} {:>10} {:>6} {:>14} {:>8}  {}\n", elide_middle(printable(trace.strings[row.op]), 34),
                    format_count(static_cast<std::int64_t>(row.count)), row.each.count ? flop_text(*row.each.count) : "-",
                    format_duration(row.gpu_time), row.math ? math_type_name(*row.math) : "-",
                    row.per_second ? flop_text(*row.per_second) + "/s" : "-",
                    row.peak_share ? format_percent(*row.peak_share) : "-", row.each.count ? dims : std::string(row.each.why));
  }
  return out;
}

}  // namespace gapscope
