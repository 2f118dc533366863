#include "core/analyze/work/roofline_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/counters/measured_work.h"
#include "core/analyze/gpu/gpu_ops.h"
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

template <std::string_view WorkRow::*Member>
void list_json(const Context&, const Row& row, Json& out) {
  const std::string_view text = row.work.*Member;
  const Result<Json> list = text.empty() ? Result<Json>(Error{}) : parse_json(text);
  out = list ? *list : Json(nullptr);
}

using TableColumn = ColumnOf<RooflineRow, RooflineContext>;
constexpr TableColumn kColumns[] = {
    TableColumn("operator", "Operator", "Whose calls these are: all with the same shapes, types and work.", symbol,
                [](const Context&, const Row& row) -> CellValue { return row.work.op; }, {.text = 38, .chars = 24}),
    TableColumn(
        "input_dims", "Input shapes", "Sizes of its arguments.", text,
        [](const Context&, const Row& row) -> CellValue {
          return row.work.input_dims.empty() ? CellValue() : CellValue(shapes_text(row.work.input_dims));
        },
        {.text = -60, .chars = 0}, nullptr, list_json<&WorkRow::input_dims>),
    TableColumn(
        "input_types", "Types", "Types of its arguments.", text,
        [](const Context&, const Row& row) -> CellValue {
          return row.work.input_types.empty() ? CellValue() : CellValue(row.work.input_types);
        },
        {.hidden = true}, nullptr, list_json<&WorkRow::input_types>),
    TableColumn("math", "Math", "The type that it multiplies in, by its kernel's name; else the type of its inputs.", text,
                [](const Context&, const Row& row) -> CellValue {
                  return row.work.math ? CellValue(math_type_name(*row.work.math)) : CellValue();
                },
                {.text = 5, .chars = 6, .spare = 3}),
    TableColumn("device", "GPU", "The GPU that it ran on.", id,
                [](const Context&, const Row& row) -> CellValue { return row.work.device; }, {.hidden = true}),
    TableColumn("count", "Calls", "How often it was called.", count,
                [](const Context&, const Row& row) -> CellValue { return row.work.count; },
                {.text = 7, .spare = 2, .sum = true}),
    TableColumn("flops", "Operations", "Operations of one call; a multiplication and an addition count as two.", real,
                [](const Context&, const Row& row) -> CellValue { return row.work.each.flops; }, {.text = 10, .spare = 2}),
    TableColumn("bytes", "Bytes", "What one call must move to and from memory.", bytes,
                [](const Context&, const Row& row) -> CellValue { return whole(row.work.each.bytes); },
                {.key = "bytes", .text = 9, .spare = 1}),
    TableColumn("bytes_measured", "Measured",
                "What DRAM moved for one call, by the GPU's counters: less than its bytes where data came from the cache.",
                bytes, [](const Context&, const Row& row) -> CellValue { return whole(row.measured); },
                {.key = "bytes_measured", .text = 9, .spare = 1}),
    TableColumn("kernels", "Kernels", "Kernels of all calls.", count,
                [](const Context&, const Row& row) -> CellValue { return row.work.kernels; }, {.hidden = true}),
    TableColumn("kernel", "GPU time", "Time of the kernels of all calls.", ns,
                [](const Context&, const Row& row) -> CellValue { return row.work.kernel_ns; },
                {.text = 9, .spare = 1, .sum = true}),
    TableColumn("floor", "Floor", "The least time for that: operations at the GPU's peak, or bytes at its bandwidth.", ns,
                [](const Context&, const Row& row) -> CellValue { return whole(row.floor.floor_ns); },
                {.text = 9, .spare = 1, .sum = true}),
    TableColumn(
        "bound", "Bound by",
        "What the floor is made of: compute, memory; launch, where both are under the 2 us that starting a kernel takes; link, "
        "between GPUs.",
        text,
        [](const Context&, const Row& row) -> CellValue {
          return row.floor.bound == FloorBound::unknown ? CellValue() : CellValue(floor_bound_name(row.floor.bound));
        },
        {.text = 8, .chars = 8, .spare = 4}),
    TableColumn("reached", "Reached", "Floor of the time that its kernels took.", share,
                [](const Context&, const Row& row) -> CellValue { return row.floor.reached; }, {.text = 8}),
    TableColumn("headroom", "Headroom", "Time of its kernels above the floor.", ns,
                [](const Context&, const Row& row) -> CellValue { return whole(row.floor.headroom_ns); },
                {.text = 9, .sorted = true, .sum = true}),
    TableColumn("joined", "Joined", "1 where a replayed graph did it: operator and shapes are then those of its capture.",
                count, [](const Context&, const Row& row) -> CellValue { return row.work.joined ? CellValue(1) : CellValue(); },
                {.hidden = true}),
    TableColumn("note", "Note", "Why something of the row is not known.", text,
                [](const Context&, const Row& row) -> CellValue {
                  return row.floor.note.empty() ? CellValue() : CellValue(row.floor.note);
                },
                {.text = -70, .hidden = true}),
};

using SumColumn = ColumnOf<RooflineSum, RooflineContext>;
constexpr SumColumn kSums[] = {
    SumColumn("name", "Name", "The module or step; empty is outside of all.", text,
              [](const Context&, const RooflineSum& sum) -> CellValue { return std::string_view(sum.name); }, {.text = 44}),
    SumColumn("calls", "Calls", "Calls of operators that own GPU work.", count, &field<&RooflineSum::calls>, {.text = 8}),
    SumColumn("kernel", "GPU time", "Time of their kernels.", ns, &field<&RooflineSum::kernel_ns>, {.text = 9}),
    SumColumn("rated", "Rated", "Of that, the time of calls whose floor is known.", ns, &field<&RooflineSum::rated_ns>,
              {.text = 9}),
    SumColumn("floor", "Floor", "The least time for these.", ns,
              [](const Context&, const RooflineSum& sum) -> CellValue { return whole(sum.floor); }, {.text = 9}),
    SumColumn("reached", "Reached", "Floor of the rated time.", share,
              [](const Context&, const RooflineSum& sum) -> CellValue { return sum.reached(); }, {.text = 8}),
    SumColumn("headroom", "Headroom", "Rated time above the floor.", ns,
              [](const Context&, const RooflineSum& sum) -> CellValue { return whole(sum.headroom()); }, {.text = 9}),
};

// The calls that launched or captured work, of one recording, with the calls of operators that the work belongs to.
struct LaunchesOf {
  std::vector<SliceId> launches;
  std::vector<std::size_t> call_of;
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

std::vector<RooflineRow> roofline_rows(const Trace& trace, const WorkTable& table) {
  std::vector<RooflineRow> out;
  for (std::uint32_t i = 0; i < table.rows.size(); ++i) out.push_back({table.rows[i], floor_of(trace, table.rows[i]), i});
  std::stable_sort(out.begin(), out.end(), [](const RooflineRow& a, const RooflineRow& b) {
    return a.floor.headroom_ns.value_or(-1) > b.floor.headroom_ns.value_or(-1);
  });
  return out;
}

void measure_bytes(const Trace& trace, const LinkIndex& links, const WorkTable& table, std::vector<RooflineRow>& rows) {
  const std::vector<DeviceCounters> counters = gpu_counters(trace);
  if (counters.empty()) return;
  const std::vector<GpuOp> ops = gpu_ops(trace, links);
  const auto row_of = [&](const GpuOp& op) {
    const CallWork* call = table.call_of_kernel(op.slice);
    return call ? call->row : kUnmeasuredKind;
  };
  std::map<std::uint32_t, double> bytes;  // of one call, by place
  for (const DeviceCounters& device : counters)
    for (const auto& [place, work] : measure_work(ops, device, row_of)) {
      const double each_ns = work.means[CounterKind::dram_read] + work.means[CounterKind::dram_write];  // GB/s
      if (!work.means.measured() || !(each_ns >= 0)) continue;
      const WorkRow& row = table.rows[place];
      bytes[place] = each_ns * static_cast<double>(row.kernel_ns) / static_cast<double>(row.count);
    }
  for (RooflineRow& row : rows)
    if (const auto at = bytes.find(row.place); at != bytes.end()) row.measured = at->second;
}

std::span<const ColumnOf<RooflineRow, RooflineContext>> roofline_columns() { return kColumns; }

RooflineTable roofline_table(const Trace& trace, const std::vector<RooflineRow>& rows) {
  RooflineTable table = table_of(roofline_columns(), RooflineContext{trace}, rows);
  if (std::none_of(rows.begin(), rows.end(), [](const RooflineRow& row) { return row.measured.has_value(); }))
    table.leave_out("bytes_measured", kInGrid | kInText);
  return table;
}

std::optional<double> RooflineSum::reached() const {
  return rated_ns > 0 ? std::optional(std::min(1.0, floor / static_cast<double>(rated_ns))) : std::nullopt;
}
std::optional<double> RooflineSum::headroom() const {
  return rated_ns > 0 ? std::optional(std::max(0.0, static_cast<double>(rated_ns) - floor)) : std::nullopt;
}

std::vector<std::string> modules_of_calls(const Trace& trace, const LinkIndex& links, const WorkTable& table) {
  const CapturedWork* const captured = trace.captured.get();
  std::map<const Trace*, LaunchesOf> recordings;
  for (std::size_t c = 0; c < table.calls.size(); ++c) {
    const OperatorCall by = operator_call(trace, links, captured, *trace.gpu_row(table.calls[c].gpu));
    if (!by.call) continue;
    recordings[by.trace].launches.push_back(by.call);
    recordings[by.trace].call_of.push_back(c);
  }
  std::vector<std::string> name(table.calls.size());
  for (const auto& [recording, of] : recordings) {
    const RegionFrames found = region_frames(*recording);
    const NestedSlices frames(*recording, found.slices);
    const std::vector<WorkMoment> moments = work_moments(*recording, frames, of.launches);
    for (std::size_t i = 0; i < moments.size(); ++i)
      if (moments[i].frame != NestedSlices::kNone)
        name[of.call_of[i]] = region_name(*recording, found.kind, recording->name_id(frames[moments[i].frame]));
  }
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
    add_call(call, places, sums[steps.at(trace.begin(call.moment())).value_or(steps.steps.size())]);
  if (sums.back().calls == 0) sums.pop_back();
  return sums;
}

RooflineSums roofline_sums(const Trace& trace, const std::vector<RooflineSum>& sums) {
  return table_of(std::span<const ColumnOf<RooflineSum, RooflineContext>>(kSums), RooflineContext{trace}, sums);
}

}  // namespace gapscope
