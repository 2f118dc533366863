#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/operators/flops.h"
#include "core/analyze/work/work_table.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"
#include "core/view/details/details_sections.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNoneCounted =
    "No operator whose operations can be counted (products, convolutions, attention) owns GPU work in this trace.";

// The products among the rows of the table of work, most GPU time first.
std::vector<WorkRow> products(const WorkTable& table) {
  std::vector<WorkRow> out;
  for (const WorkRow& row : table.rows)
    if (row.is_product) out.push_back(row);
  return out;
}

std::string_view missing(const Trace& trace, const WorkTable& table, const std::vector<WorkRow>& rows) {
  if (!table.shapes_recorded) return no_shapes_words(trace);
  return rows.empty() ? kNoneCounted : std::string_view{};
}

struct Rate {
  std::optional<double> per_second;  // operations
  std::optional<double> peak_share;  // of the dense peak; not known where it would be above it
};

Rate rate_of_row(const Trace& trace, const WorkRow& row) {
  if (!row.each.flops || row.kernel_ns <= 0) return {};
  const double per_second = *row.each.flops * static_cast<double>(row.count) / (static_cast<double>(row.kernel_ns) * 1e-9);
  const auto peak = row.math ? dense_peak(trace.stated.roofs, gpu_name(trace, row.device), *row.math) : std::nullopt;
  return {per_second, peak && per_second <= *peak ? std::optional(per_second / *peak) : std::nullopt};
}

Json row_json(const Trace& trace, const WorkRow& row) {
  const Rate rate = rate_of_row(trace, row);
  Json json = {{"operator", row.op},
               {"input_dims", row.input_dims.empty() ? Json(nullptr) : Json(shapes_text(row.input_dims))},
               {"count", row.count},
               {"flops_each", or_null(row.each.flops)},
               {"gpu_time_ns", row.kernel_ns},
               {"math", row.math ? Json(math_type_name(*row.math)) : Json(nullptr)},
               {"flops_per_second", or_null(rate.per_second)},
               {"share_of_dense_peak", or_null(rate.peak_share)}};
  if (row.joined) json["joined"] = true;
  if (!row.each.flops) json["missing"] = row.each.why;
  return json;
}

}  // namespace

std::string flops_report(const TraceSession& session, const AnalysisOptions& options) {
  const Trace& trace = session.trace();
  const WorkTable& table = session.work();
  const std::vector<WorkRow> rows = products(table);
  const std::string_view said = missing(trace, table, rows);
  if (options.json) {
    Json json = {{"rows", Json::array()}};
    for (const WorkRow& row : rows) json["rows"].push_back(row_json(trace, row));
    if (!said.empty()) json["missing"] = said;
    return json_text(with_doubts(std::move(json), session));
  }
  if (!said.empty()) return std::string(said) + '\n';
  std::string out = fmt::format("{:<34} {:>7} {:>12} {:>10} {:>6} {:>14} {:>8}  {}\n", "operator", "calls", "each", "GPU time",
                                "math", "achieved", "of peak", "input shapes");
  for (const WorkRow& row : rows) {
    const Rate rate = rate_of_row(trace, row);
    const std::string dims = row.input_dims.empty() ? "not recorded" : elide_middle(printable(shapes_text(row.input_dims)), 60);
    out += fmt::format("{:<34} {:>7} {:>12} {:>10} {:>6} {:>14} {:>8}  {}\n", elide_middle(printable(row.op), 34),
                       format_count(static_cast<std::int64_t>(row.count)), row.each.flops ? flop_text(*row.each.flops) : "-",
                       format_duration(row.kernel_ns), row.math ? math_type_name(*row.math) : "-",
                       rate.per_second ? flop_text(*rate.per_second) + "/s" : "-",
                       rate.peak_share ? format_percent(*rate.peak_share) : "-",
                       row.each.flops ? dims : std::string(row.each.why));
  }
  return out;
}

}  // namespace gapscope
