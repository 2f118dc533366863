#include "core/view/memory/held_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/analyze/memory/memory.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/view/details/details_sections.h"
#include "core/view/document.h"
#include "core/view/memory/allocation_stack.h"
#include "core/view/source_place.h"

namespace gapscope {
namespace {

bool is_of(const MemoryRow& row, const HeldQuestion& question) {
  return row.device_type == question.device_type && row.device == question.device;
}

// The record that made the point.
std::optional<std::uint32_t> record_of(const Trace& trace, const HeldQuestion& question) {
  std::size_t points = 0;
  for (std::uint32_t i = 0; i < trace.memory.size(); ++i)
    if (is_of(trace.memory[i], question) && !trace.memory[i].out_of_memory && points++ == question.point) return i;
  return std::nullopt;
}

std::int64_t stated_total(const Document& document, const HeldQuestion& question) {
  for (const MemoryDevice& device : document.analysis()->memory().devices)
    if (device.device_type == question.device_type && device.device == question.device && device.states_totals)
      return device.points[question.point].allocated;
  return 0;
}

SliceId innermost_slice(const Document& document, const Allocation& allocation) {
  const MemoryRow& row = document.trace.memory[allocation.born];
  return row.lane ? document.lanes.innermost_at(row.lane, row.time) : SliceId{};
}

// Adds allocations up by operator, module and line.
class Holders {
 public:
  explicit Holders(const Document& document) : document_(document) {}

  void add(const Allocation& allocation) {
    const SliceId by = asked_by(document_, allocation), innermost = innermost_slice(document_, allocation);
    const StringId name = by ? document_.trace.name_id(by) : StringId{};
    HeldRow& row = rows_[{name, source_module(document_, innermost), source_frame(document_, innermost)}];
    row.name = name;
    row.allocations.push_back(allocation);
    add_saturating(row.bytes, allocation.bytes);
    if (by && (row.slices.empty() || row.slices.back() != by)) row.slices.push_back(by);
  }

  std::vector<HeldRow> take() {
    std::vector<HeldRow> out;
    for (auto& [key, row] : rows_) {
      std::tie(std::ignore, row.module, row.frame) = key;
      if (const std::optional<SourcePlace> place = source_place(row.frame)) row.place = place_text(*place);
      out.push_back(std::move(row));
    }
    return out;
  }

 private:
  const Document& document_;
  std::map<std::tuple<StringId, std::string, std::string>, HeldRow> rows_;
};

CellText name_cell(const HeldContext& of, const HeldRow& row) {
  const std::string name = printable(held_name(of.trace, row));
  return {name, name, 0, row.of == HeldRow::Of::before || !row.name};
}
CellText module_cell(const HeldContext&, const HeldRow& row) {
  const std::string name = printable(row.module);
  return {name, name};
}
CellText place_cell(const HeldContext&, const HeldRow& row) {
  if (row.place.empty()) return {};
  return {printable(row.place.substr(row.place.find_last_of('/') + 1)), printable(row.frame)};
}

using enum Quantity;
using TableColumn = ColumnOf<HeldRow, HeldContext>;
constexpr TableColumn kHeldColumns[] = {
    TableColumn(
        "operator", "Operator", "Innermost operator that asked for the memory.", text,
        [](const HeldContext& of, const HeldRow& row) -> CellValue { return held_name(of.trace, row); }, {.text = 40},
        name_cell),
    TableColumn("module", "Module", "Innermost nn.Module around it; of the backward pass that of the forward operator.", text,
                &field<&HeldRow::module>, {.text = 20, .chars = 14, .spare = 2}, module_cell),
    TableColumn("line", "Line", "Innermost line of the program around it; of the backward pass that of the forward operator.",
                text, &field<&HeldRow::place>, {.text = 28, .chars = 20, .spare = 1}, place_cell),
    TableColumn("allocations", "Allocations", "How many of its allocations are in use.", count,
                [](const HeldContext&, const HeldRow& row) -> CellValue {
                  return row.allocations.empty() ? CellValue() : CellValue(std::uint64_t{row.allocations.size()});
                },
                {.text = 11, .chars = 10, .spare = 3}),
    TableColumn("held", "Held", "Bytes of them: allocated by then, and not freed yet.", bytes, &field<&HeldRow::bytes>,
                {.text = 9, .sorted = true}),
};

}  // namespace

std::shared_ptr<const HeldMemory> answer(const Document& document, const HeldQuestion& question,
                                         const std::atomic<bool>* cancel) {
  constexpr std::size_t kCheckHeldEvery = 256;
  const Trace& trace = document.trace;
  auto held = std::make_shared<HeldMemory>();
  const std::optional<std::uint32_t> moment = record_of(trace, question);
  if (!moment || !document.analysis()) return held;
  held->states_addresses = trace.memory[*moment].address != 0;
  if (!held->states_addresses) return held;
  std::vector<Allocation> in_use = allocations(trace, cancel);
  std::erase_if(in_use, [&](const Allocation& a) {
    return a.born == kNoRecord || !is_of(trace.memory[a.born], question) || a.born > *moment || a.ended <= *moment;
  });
  Holders holders(document);
  std::int64_t known = 0;
  for (std::size_t i = 0; i < in_use.size(); ++i) {
    if (i % kCheckHeldEvery == 0 && cancel && *cancel) return nullptr;
    holders.add(in_use[i]);
    add_saturating(known, in_use[i].bytes);
  }
  held->rows = holders.take();
  if (const std::int64_t rest = difference_saturating(stated_total(document, question), known); rest > 0) {
    HeldRow before;
    before.of = HeldRow::Of::before;
    before.bytes = rest;
    held->rows.push_back(std::move(before));
  }
  std::stable_sort(held->rows.begin(), held->rows.end(), [](const HeldRow& a, const HeldRow& b) { return a.bytes > b.bytes; });
  return cancel && *cancel ? nullptr : held;
}

HeldRows held_rows(const Trace& trace, const HeldMemory& held) { return table_of(kHeldColumns, {trace}, held.rows); }

std::string held_name(const Trace& trace, const HeldRow& row) {
  if (row.of == HeldRow::Of::before) return "from before " + recorded_part(trace);
  return row.slices.empty() ? "outside every operator" : shown_name(trace, row.slices.front());
}

}  // namespace gapscope
