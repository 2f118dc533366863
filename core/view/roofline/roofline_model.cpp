#include "core/view/roofline/roofline_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/analyze/operators/flops.h"
#include "core/analyze/work/real_clock.h"
#include "core/base/text.h"
#include "core/load/arg_texts.h"
#include "core/view/details/details_sections.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// Only the calls of a module.
OwnedCalls of_module(const OwnedCalls& calls, const WorkTable& table, const std::vector<std::string>& names,
                     const std::string& module) {
  OwnedCalls out{calls.recordings, {}};
  for (const OwnedWork& w : calls.work) {
    const CallWork* call = table.call_of_kernel(w.gpu->slice);
    if (call && names[static_cast<std::size_t>(call - table.calls.data())] == module) out.work.push_back(w);
  }
  return out;
}

void add_roof(RooflineChart& chart, const StatedRoofs& stated, std::string_view device, MathType math) {
  const std::optional<double> peak = dense_peak(stated, device, math);
  const auto same = [&](const RooflineChart::Roof& roof) { return peak && roof.per_second == *peak; };
  if (!peak || std::any_of(chart.roofs.begin(), chart.roofs.end(), same)) return;
  chart.roofs.push_back({std::string(math_type_name(math)) + " " + rate_text(*peak, "FLOP/s"), *peak});
}

std::string bytes_words(double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

void widen(LogAxis& axis, double value) {
  axis.low = std::min(axis.low, value);
  axis.high = std::max(axis.high, value);
}

}  // namespace

std::shared_ptr<const RooflineAnswer> answer(const Document& document, const RooflineQuestion& question,
                                             const std::atomic<bool>* cancel) {
  const Trace& trace = document.trace;
  document.analyze(cancel);
  if (!document.analysis() || (cancel && *cancel)) return nullptr;
  auto out = std::make_shared<RooflineAnswer>();
  out->module = question.module;
  out->clock = clock_words(trace, document.links);
  out->table = document.analysis()->work();
  out->rows = roofline_rows(trace, out->table);
  out->modules = roofline_by_module(trace, document.links, out->table, out->rows);
  if (question.module.empty()) {
    measure_bytes(trace, document.links, out->table, out->rows);
    return out;
  }
  const OwnedCalls calls = owned_work(trace, document.lanes, document.links);
  const std::vector<ArgTexts> values = values_of_calls(calls, concrete_inputs(cancel));
  if (cancel && *cancel) return nullptr;
  const std::vector<std::string> names = modules_of_calls(trace, document.links, out->table);
  out->table = work_of_calls(of_module(calls, out->table, names, question.module), values);
  out->rows = roofline_rows(trace, out->table);
  measure_bytes(trace, document.links, out->table, out->rows);
  return out;
}

RooflineChart row_chart(const Trace& trace, const std::vector<RooflineRow>& rows) {
  RooflineChart chart;
  const auto longest = std::max_element(
      rows.begin(), rows.end(), [](const RooflineRow& a, const RooflineRow& b) { return a.work.kernel_ns < b.work.kernel_ns; });
  if (longest == rows.end()) return chart;
  chart.device = longest->work.device;
  const std::string_view device = gpu_name(trace, chart.device);
  chart.bytes_per_second = memory_bandwidth(trace.stated.roofs, device);
  chart.per_byte = {0.1, 1000};
  chart.per_second = {1e10, 1e12};
  for (const RooflineRow& row : rows) {
    if (row.work.is_product && row.work.math) add_roof(chart, trace.stated.roofs, device, *row.work.math);
    const auto x = row.intensity(), y = row.per_second();
    if (!x || !y || *x <= 0 || *y <= 0) continue;
    widen(chart.per_byte, std::max(*x, 1e-3) / 2);
    widen(chart.per_byte, std::min(*x, 1e6) * 2);
    widen(chart.per_second, std::max(*y, 1e6) / 2);
  }
  add_roof(chart, trace.stated.roofs, device, MathType::fp32);
  for (const RooflineChart::Roof& roof : chart.roofs) widen(chart.per_second, roof.per_second * 3);
  std::sort(chart.roofs.begin(), chart.roofs.end(), [](const auto& a, const auto& b) { return a.per_second > b.per_second; });
  return chart;
}

float dot_size(const RooflineRow& row, const std::vector<RooflineRow>& rows) {
  Ns longest = 1;
  for (const RooflineRow& other : rows) longest = std::max(longest, other.work.kernel_ns);
  return static_cast<float>(std::sqrt(static_cast<double>(row.work.kernel_ns) / static_cast<double>(longest)));
}

std::string row_text(const RooflineRow& row) {
  std::string text = printable(row.work.op);
  if (!row.work.input_dims.empty()) text += "\n" + elide_middle(printable(shapes_text(row.work.input_dims)), 100);
  if (row.work.joined) text += "\nreplayed in a graph: operator and shapes of its capture";
  text += fmt::format("\n{} calls, {} on the GPU", row.work.count, format_duration(row.work.kernel_ns));
  if (row.work.each.bytes) text += fmt::format("\n{} a call by its shapes", bytes_words(*row.work.each.bytes));
  if (row.measured) text += fmt::format(", {} measured", bytes_words(*row.measured));
  if (row.floor.floor_ns)
    text += fmt::format("\nfloor {}: {} reached, bound by {}", format_duration(static_cast<Ns>(*row.floor.floor_ns)),
                        format_percent(*row.floor.reached), floor_bound_name(row.floor.bound));
  if (const auto rate = row.per_second(); rate && row.intensity())
    text += fmt::format("\n{}, {} operations a byte", rate_text(*rate, "FLOP/s"), format_significant(*row.intensity()));
  if (!row.floor.note.empty()) text += "\n" + std::string(row.floor.note);
  return text;
}

std::string coverage_words(const Trace& trace, const WorkTable& table) {
  std::string text;
  if (const auto coverage = table.coverage()) text += format_percent(*coverage) + " of kernel time is counted";
  if (table.joined_ns > 0)
    text +=
        fmt::format("{}{} replayed in graphs, by their capture", text.empty() ? "" : ", ", format_duration(table.joined_ns));
  if (table.without_operator_ns > 0)
    text +=
        fmt::format("{}{} have no operator in this file", text.empty() ? "" : ", ", format_duration(table.without_operator_ns));
  const FloorSum sum = sum_floors(trace, table);
  if (sum.kernel_ns > 0)
    text += fmt::format("; kernels took {}, their floor is {}: {} reached", format_duration(sum.kernel_ns),
                        format_duration(static_cast<Ns>(sum.floor_ns)), format_percent(sum.reached()));
  return text;
}

std::vector<SliceId> calls_of_row(const Trace& trace, const RooflineAnswer& answer, std::size_t row) {
  std::vector<SliceId> out;
  for (const CallWork& call : answer.table.calls)
    if (call.row == answer.rows[row].place) out.push_back(call.replay ? call.gpu : call.op);
  std::sort(out.begin(), out.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
  return out;
}

std::optional<std::size_t> row_of_slice(const RooflineAnswer& answer, SliceId slice) {
  const CallWork* call = answer.table.call(slice);
  if (!call) call = answer.table.call_of_kernel(slice);
  if (!call) return {};
  const auto at =
      std::find_if(answer.rows.begin(), answer.rows.end(), [&](const RooflineRow& r) { return r.place == call->row; });
  return at == answer.rows.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - answer.rows.begin()));
}

}  // namespace gapscope
