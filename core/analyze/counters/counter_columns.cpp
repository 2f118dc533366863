#include "core/analyze/counters/counter_columns.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/analyze/counters/counter_words.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/demangle.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;
using Context = MeasuredContext;
using Row = MeasuredKernel;
using enum Quantity;

CellText title_text(const Context& of, const Row& row) {
  const std::string_view name = of.trace.strings[row.name];
  return {printable(kernel_title(name)), printable(demangle(name))};
}

CellText place_text(const Context&, const Row& row) {
  switch (row.place) {
    case KernelPlace::tensor_bound: return {"tensor", "The tensor pipe is what it uses most."};
    case KernelPlace::memory_bound: return {"memory", "DRAM is what it uses most."};
    case KernelPlace::latency_bound: return {"latency", "It uses neither the tensor pipe nor DRAM more than 60 %."};
    case KernelPlace::unmeasured: break;
  }
  return {"-", "Too short to measure: its launches never ran one after another for two samples.", 0, true};
}
CellValue place(const Context& of, const Row& row) {
  return row.place == KernelPlace::unmeasured ? CellValue() : CellValue(place_text(of, row).text);
}

template <CounterKind Kind>
CellValue used(const Context&, const Row& row) {
  return row.place == KernelPlace::unmeasured || !row.means.knows(Kind) ? CellValue() : CellValue(row.means[Kind]);
}
template <CounterKind Kind>
CellText used_text(const Context& of, const Row& row) {
  if (used<Kind>(of, row).absent()) return {"-", "", 0, true};
  return {fmt::format("{:.1f}", row.means[Kind]), "", static_cast<float>(row.means[Kind] / 100)};
}

// Of the kernel's own point under the roof.
template <double RooflinePoint::*Member>
CellValue of_point(const Context& of, const Row& row) {
  for (const RooflinePoint& point : of.facts.roofline())
    if (point.name == row.name && point.device == row.device) return point.*Member;
  return {};
}
CellText rate_text(const Context& of, const Row& row) {
  const CellValue rate = of_point<&RooflinePoint::per_second>(of, row);
  if (rate.absent()) return {"-", "Its operations are not known: no shapes were recorded, or it is no product.", 0, true};
  return {format_significant(rate.number() / 1e12)};
}
CellText intensity_text(const Context& of, const Row& row) {
  const CellValue intensity = of_point<&RooflinePoint::per_byte>(of, row);
  return intensity.absent() ? CellText{"-", "", 0, true} : CellText{format_significant(intensity.number())};
}

CellText sample_count_text(const Context&, const Row& row) {
  const auto text = [](auto n) { return format_count(static_cast<std::int64_t>(n)); };
  return {text(row.means.samples), fmt::format("In {} of {} launches.", text(row.pooled), text(row.launches))};
}

constexpr std::uint8_t kNotNested = kInGrid | kInCsv | kInText;  // JSON has it among the means
using TableColumn = ColumnOf<Row, Context>;
constexpr TableColumn kColumns[] = {
    TableColumn(
        "name", "Name", "The kernel.", symbol,
        [](const Context& of, const Row& row) -> CellValue { return of.trace.strings[row.name]; },
        {.text = -70, .head = "kernel"}, title_text),
    TableColumn("device", "GPU", "The GPU that it ran on.", id, &field<&Row::device>, {.in = kInCsv | kInJson}),
    TableColumn("bound_by", "Bound by",
                "What is used more than 60 % of its peak: the tensor pipe or DRAM; latency where neither is.", text, place,
                {.key = "place", .csv = "bound_by", .text = 8, .chars = 9}, place_text,
                [](const Context&, const Row& row, Json& out) { out = place_name(row.place); }),
    TableColumn("time", "Time", "Of all its launches.", ns, &field<&Row::time>, {.text = 10, .sorted = true}),
    TableColumn("launches", "Count", "Its launches.", count, &field<&Row::launches>,
                {.text = 9, .head = "launches", .spare = 4}),
    TableColumn("pooled_launches", "Pooled", "Launches that the means rest on.", count, &field<&Row::pooled>, {.in = kInJson}),
    TableColumn("sm_active_percent", "SM %", "Share of the cycles in which an SM has a warp.", real,
                used<CounterKind::sm_active>, {.in = kNotNested, .text = 8, .head = "SM %", .chars = 6, .spare = 1},
                used_text<CounterKind::sm_active>),
    TableColumn("tensor_pipe_percent", "Tensor %", "Share of the cycles in which the tensor pipes work.", real,
                used<CounterKind::tensor>, {.in = kNotNested, .text = 8}, used_text<CounterKind::tensor>),
    TableColumn("dram_of_peak_percent", "DRAM %", "Bytes read and written, of what the memory can move.", real,
                used<CounterKind::dram_share>, {.in = kNotNested, .text = 8, .head = "DRAM %", .chars = 7},
                used_text<CounterKind::dram_share>),
    TableColumn("flop_per_s", "TFLOP/s", "Operations by the recorded shapes of its products, over its time.", real,
                of_point<&RooflinePoint::per_second>, {.in = kNotNested, .spare = 2}, rate_text),
    TableColumn("flop_per_byte", "FLOP/B", "Operations by the recorded shapes, over the bytes that DRAM moved.", real,
                of_point<&RooflinePoint::per_byte>, {.in = kNotNested, .chars = 7, .spare = 3}, intensity_text),
    TableColumn(
        "samples", "Samples", "Samples behind the shares: those taken while launches of this name ran without other GPU work.",
        count, [](const Context&, const Row& row) -> CellValue { return row.means.samples; }, {.in = kNotNested, .spare = 5},
        sample_count_text),
    TableColumn(
        "means", "Means", "Everything that the counters show.", text,
        [](const Context&, const Row&) -> CellValue { return {}; }, {.in = kInJson}, nullptr,
        [](const Context&, const Row& row, Json& out) { out = means_json(row.means); }),
};

}  // namespace

MeasuredRows measured_rows(const Trace& trace, const CounterFacts& facts) {
  return table_of(kColumns, {trace, facts}, facts.kernels());
}

Json means_json(const CounterMeans& means) {
  Json out = {{"samples", means.samples}, {"measured", means.measured()}, {"driver_readings", means.readings}};
  for (const CounterWord& word : counter_words())
    if (means.knows(word.kind)) out[word.key] = means[word.kind];
  out["energy_j"] = std::isnan(means.joules) ? Json(nullptr) : Json(means.joules);
  return out;
}

}  // namespace gapscope
