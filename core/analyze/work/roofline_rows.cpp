#include "core/analyze/work/roofline_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "core/analyze/modules/region_frames.h"
#include "core/analyze/modules/work_moments.h"
#include "core/analyze/operators/flops.h"
#include "core/base/parse_json.h"
#include "core/base/saturating.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;
using Context = RooflineContext;
using Row = RooflineRow;
using enum Quantity;

CellValue whole(const std::optional<double>& number) {
  return number ? CellValue(static_cast<std::int64_t>(std::llround(*number))) : CellValue();
}

CellValue text_of(const Context& of, StringId id) { return id ? CellValue(of.trace.strings[id]) : CellValue(); }

template <StringId WorkRow::*Member>
void list_json(const Context& of, const Row& row, Json& out) {
  const StringId id = row.work.*Member;
  const Result<Json> list = id ? parse_json(of.trace.strings[id]) : Result<Json>(Error{});
  out = list ? *list : Json(nullptr);
}

constexpr ColumnOf<RooflineRow, RooflineContext> kColumns[] = {
    {"operator",
     "Operator",
     "Whose calls these are: all with the same shapes, types and work.",
     symbol,
     [](const Context& of, const Row& row) -> CellValue { return of.trace.strings[row.work.op]; },
     {.text = 38, .chars = 24}},
    {"input_dims",
     "Input shapes",
     "Sizes of its arguments.",
     text,
     [](const Context& of, const Row& row) -> CellValue {
       return row.work.input_dims ? CellValue(shapes_text(of.trace.strings[row.work.input_dims])) : CellValue();
     },
     {.text = -60, .chars = 0},
     nullptr,
     list_json<&WorkRow::input_dims>},
    {"input_types",
     "Types",
     "Types of its arguments.",
     text,
     [](const Context& of, const Row& row) -> CellValue { return text_of(of, row.work.input_types); },
     {.hidden = true},
     nullptr,
     list_json<&WorkRow::input_types>},
    {"math",
     "Math",
     "What it multiplies in, as its kernel's name tells; else the type of its inputs.",
     text,
     [](const Context&, const Row& row) -> CellValue {
       return row.work.math ? CellValue(math_type_name(*row.work.math)) : CellValue();
     },
     {.text = 5, .chars = 6, .spare = 3}},
    {"device",
     "GPU",
     "The GPU that it ran on.",
     id,
     [](const Context&, const Row& row) -> CellValue { return row.work.device; },
     {.hidden = true}},
    {"count",
     "Calls",
     "How often it was called.",
     count,
     [](const Context&, const Row& row) -> CellValue { return row.work.count; },
     {.text = 7, .spare = 1, .sum = true}},
    {"flops",
     "Operations",
     "Operations of one call; a multiplication and an addition count as two.",
     real,
     [](const Context&, const Row& row) -> CellValue { return row.work.each.flops; },
     {.text = 10, .spare = 2}},
    {"bytes",
     "Bytes",
     "What one call must move to and from memory.",
     bytes,
     [](const Context&, const Row& row) -> CellValue { return whole(row.work.each.bytes); },
     {.key = "bytes", .text = 9, .spare = 2}},
    {"kernels",
     "Kernels",
     "Kernels of all calls.",
     count,
     [](const Context&, const Row& row) -> CellValue { return row.work.kernels; },
     {.hidden = true}},
    {"kernel",
     "GPU time",
     "Time of the kernels of all calls.",
     ns,
     [](const Context&, const Row& row) -> CellValue { return row.work.kernel_ns; },
     {.text = 9, .spare = 1, .sum = true}},
    {"floor",
     "Floor",
     "How long that had to take at least: operations at the GPU's peak, or bytes at its bandwidth.",
     ns,
     [](const Context&, const Row& row) -> CellValue { return whole(row.floor.floor_ns); },
     {.text = 9, .spare = 1, .sum = true}},
    {"bound",
     "Bound by",
     "What the floor is made of: compute, memory; launch, where both are under the 2 us that starting a kernel takes; link, "
     "between GPUs.",
     text,
     [](const Context&, const Row& row) -> CellValue {
       return row.floor.bound == FloorBound::unknown ? CellValue() : CellValue(floor_bound_name(row.floor.bound));
     },
     {.text = 8, .chars = 8, .spare = 4}},
    {"reached",
     "Reached",
     "Floor of the time that its kernels took.",
     share,
     [](const Context&, const Row& row) -> CellValue { return row.floor.reached; },
     {.text = 8}},
    {"headroom",
     "Headroom",
     "Time of its kernels above the floor.",
     ns,
     [](const Context&, const Row& row) -> CellValue { return whole(row.floor.headroom_ns); },
     {.text = 9, .sorted = true, .sum = true}},
    {"note",
     "Note",
     "Why something of the row is not known.",
     text,
     [](const Context&, const Row& row) -> CellValue {
       return row.floor.note.empty() ? CellValue() : CellValue(row.floor.note);
     },
     {.text = -70, .hidden = true}},
};

constexpr ColumnOf<RooflineSum, RooflineContext> kSums[] = {
    {"name",
     "Name",
     "The module or step; empty is outside of all.",
     text,
     [](const Context&, const RooflineSum& sum) -> CellValue { return std::string_view(sum.name); },
     {.text = 44}},
    {"calls", "Calls", "Calls of operators that own GPU work.", count, &field<&RooflineSum::calls>, {.text = 8}},
    {"kernel", "GPU time", "Time of their kernels.", ns, &field<&RooflineSum::kernel_ns>, {.text = 9}},
    {"rated", "Rated", "Of that, the time of calls whose floor is known.", ns, &field<&RooflineSum::rated_ns>, {.text = 9}},
    {"floor",
     "Floor",
     "How long these had to take at least.",
     ns,
     [](const Context&, const RooflineSum& sum) -> CellValue { return whole(sum.floor); },
     {.text = 9}},
    {"reached",
     "Reached",
     "Floor of the rated time.",
     share,
     [](const Context&, const RooflineSum& sum) -> CellValue { return sum.reached(); },
     {.text = 8}},
    {"headroom",
     "Headroom",
     "Rated time above the floor.",
     ns,
     [](const Context&, const RooflineSum& sum) -> CellValue { return whole(sum.headroom()); },
     {.text = 9}},
};

// A call adds its kernels' time, and its part of its row's floor.
void add_call(const CallWork& call, const std::vector<const RooflineRow*>& by_place, RooflineSum& sum) {
  ++sum.calls;
  add_saturating(sum.kernel_ns, call.kernel_ns);
  const RooflineRow& row = *by_place[call.row];
  if (!row.floor.floor_ns || row.work.count == 0) return;
  add_saturating(sum.rated_ns, call.kernel_ns);
  sum.floor += *row.floor.floor_ns / static_cast<double>(row.work.count);
}

std::vector<const RooflineRow*> by_place(const std::vector<RooflineRow>& rows) {
  std::vector<const RooflineRow*> out(rows.size());
  for (const RooflineRow& row : rows) out[row.place] = &row;
  return out;
}

}  // namespace

std::optional<double> RooflineRow::intensity() const {
  if (!work.each.flops || !work.each.bytes || *work.each.bytes <= 0) return {};
  return *work.each.flops / *work.each.bytes;
}

std::optional<double> RooflineRow::per_second() const {
  if (!work.each.flops || work.kernel_ns <= 0) return {};
  return *work.each.flops * static_cast<double>(work.count) / (static_cast<double>(work.kernel_ns) * 1e-9);
}

std::vector<RooflineRow> roofline_rows(const Trace& trace, const WorkTable& table, const RoofOptions& options) {
  std::vector<RooflineRow> out;
  for (std::uint32_t i = 0; i < table.rows.size(); ++i)
    out.push_back({table.rows[i], floor_of(trace, table.rows[i], options), i});
  std::stable_sort(out.begin(), out.end(), [](const RooflineRow& a, const RooflineRow& b) {
    return a.floor.headroom_ns.value_or(-1) > b.floor.headroom_ns.value_or(-1);
  });
  return out;
}

std::span<const ColumnOf<RooflineRow, RooflineContext>> roofline_columns() { return kColumns; }

RooflineTable roofline_table(const Trace& trace, const std::vector<RooflineRow>& rows) {
  return table_of(roofline_columns(), RooflineContext{trace}, rows);
}

std::optional<double> RooflineSum::reached() const {
  return rated_ns > 0 ? std::optional(std::min(1.0, floor / static_cast<double>(rated_ns))) : std::nullopt;
}
std::optional<double> RooflineSum::headroom() const {
  return rated_ns > 0 ? std::optional(std::max(0.0, static_cast<double>(rated_ns) - floor)) : std::nullopt;
}

std::vector<std::string> modules_of_calls(const Trace& trace, const LinkIndex& links, const WorkTable& table) {
  const RegionFrames found = region_frames(trace);
  const NestedSlices frames(trace, found.slices);
  std::vector<SliceId> launches(table.calls.size());
  for (const KernelOwner& owner : table.kernels)
    if (!launches[owner.call]) launches[owner.call] = links.call_of(owner.kernel);
  std::vector<SliceId> known;
  std::vector<std::size_t> call_of;
  for (std::size_t c = 0; c < launches.size(); ++c)
    if (launches[c]) known.push_back(launches[c]), call_of.push_back(c);
  const std::vector<WorkMoment> moments = work_moments(trace, frames, known);
  std::vector<std::string> name(launches.size());
  for (std::size_t i = 0; i < moments.size(); ++i)
    if (moments[i].frame != NestedSlices::kNone)
      name[call_of[i]] = region_name(trace, found.kind, trace.name_id(frames[moments[i].frame]));
  return name;
}

std::vector<RooflineSum> roofline_by_module(const Trace& trace, const LinkIndex& links, const WorkTable& table,
                                            const std::vector<RooflineRow>& rows) {
  const std::vector<std::string> name = modules_of_calls(trace, links, table);
  std::map<std::string, RooflineSum> sums;
  const auto places = by_place(rows);
  for (std::size_t c = 0; c < table.calls.size(); ++c) add_call(table.calls[c], places, sums[name[c]]);
  std::vector<RooflineSum> out;
  for (auto& [of, sum] : sums) out.push_back(sum), out.back().name = of;
  std::stable_sort(out.begin(), out.end(), [](const RooflineSum& a, const RooflineSum& b) {
    return a.headroom().value_or(-1) > b.headroom().value_or(-1);
  });
  return out;
}

std::vector<RooflineSum> roofline_by_step(const Trace& trace, const Steps& steps, const WorkTable& table,
                                          const std::vector<RooflineRow>& rows) {
  std::vector<RooflineSum> sums(steps.steps.size() + 1);  // the last is outside of all
  for (std::size_t s = 0; s < steps.steps.size(); ++s) sums[s].name = steps.steps[s].name;
  const auto places = by_place(rows);
  for (const CallWork& call : table.calls)
    add_call(call, places, sums[steps.at(trace.begin(call.op)).value_or(steps.steps.size())]);
  if (sums.back().calls == 0) sums.pop_back();
  return sums;
}

RooflineSums roofline_sums(const Trace& trace, const std::vector<RooflineSum>& sums) {
  return table_of(std::span<const ColumnOf<RooflineSum, RooflineContext>>(kSums), RooflineContext{trace}, sums);
}

std::string_view missing_roofline(const WorkTable& table) {
  if (table.kernel_ns == 0) return "No kernel is recorded.";
  if (!table.shapes_recorded)
    return "No operator of this trace states its shapes: PyTorch writes them with record_shapes=True.";
  return {};
}

}  // namespace gapscope
