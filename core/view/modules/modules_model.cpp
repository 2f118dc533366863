#include "core/view/modules/modules_model.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/base/table/csv.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::size_t size_of(const ModuleUse& use, ModuleList list) {
  return list == ModuleList::tree ? use.tree.size() : list == ModuleList::instances ? use.rows.size() : use.classes.size();
}

}  // namespace

std::shared_ptr<const ModuleUse> answer(const Document& document, const ModulesQuestion&, const std::atomic<bool>* cancel) {
  if (cancel && *cancel) return nullptr;
  auto use =
      std::make_shared<const ModuleUse>(module_use(document.trace, document.links, gpu_ops(document.trace, document.links)));
  return cancel && *cancel ? nullptr : use;
}

const ModuleTotals& totals_of(const ModuleUse& use, ModuleList list, std::uint32_t row) {
  if (list == ModuleList::tree) return use.tree[row].totals;
  return list == ModuleList::instances ? use.rows[row].totals : use.classes[row].totals;
}

std::string name_of(const ModuleUse& use, ModuleList list, std::uint32_t row) {
  if (list == ModuleList::tree) return use.rows[use.tree[row].row].name;
  if (list == ModuleList::instances) return use.rows[row].name;
  return fmt::format("{} ({})", use.classes[row].name, use.classes[row].instances);
}

std::uint32_t depth_of(const ModuleUse& use, ModuleList list, std::uint32_t row) {
  return list == ModuleList::tree ? use.tree[row].depth : 0;
}

std::int64_t column_value(const ModuleTotals& totals, ModuleColumn column) {
  switch (column) {
    case ModuleColumn::calls: return static_cast<std::int64_t>(totals.calls);
    case ModuleColumn::host: return totals.host;
    case ModuleColumn::forward: return totals.forward;
    case ModuleColumn::backward: return totals.backward;
    case ModuleColumn::self_forward: return totals.self_forward;
    case ModuleColumn::self_backward: return totals.self_backward;
    case ModuleColumn::kernels: return static_cast<std::int64_t>(totals.kernels);
    case ModuleColumn::allocated: return totals.allocated;
    case ModuleColumn::at_peak: return totals.at_peak;
    case ModuleColumn::rate: return static_cast<std::int64_t>(totals.flops_per_second());
    default: return totals.gpu();
  }
}

std::vector<std::uint32_t> arrange_modules(const ModuleUse& use, ModuleList list, const std::string& filter,
                                           const ModuleOrder& order) {
  std::vector<std::uint32_t> rows(size_of(use, list));
  std::iota(rows.begin(), rows.end(), 0u);
  std::erase_if(rows, [&](std::uint32_t row) { return name_of(use, list, row).find(filter) == std::string::npos; });
  if (list == ModuleList::tree) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (order.descending) std::swap(a, b);
    if (order.column == ModuleColumn::name) return name_of(use, list, a) < name_of(use, list, b);
    return column_value(totals_of(use, list, a), order.column) < column_value(totals_of(use, list, b), order.column);
  });
  return rows;
}

std::vector<SliceId> slices_of_row(const Document& document, const ModuleUse& use, ModuleList list, std::uint32_t row) {
  std::vector<SliceId> slices;
  const auto add = [&](const ModuleRow& of) {
    if (!of.frame_name) return;
    const auto named = document.names.slices_named(of.frame_name);
    slices.insert(slices.end(), named.begin(), named.end());
  };
  if (list == ModuleList::classes) {
    for (const ModuleRow& of : use.rows)
      if (of.class_name == use.classes[row].name) add(of);
  } else {
    add(use.rows[list == ModuleList::tree ? use.tree[row].row : row]);
  }
  const Trace& trace = document.trace;
  std::stable_sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
  return slices;
}

std::string modules_csv(const ModuleUse& use, ModuleList list, const std::vector<std::uint32_t>& rows) {
  std::string out =
      "Name,Depth,Calls,Host (ns),Forward GPU (ns),Backward GPU (ns),Self forward GPU (ns),Self backward GPU "
      "(ns),Kernels,FLOPs,GPU time of these (ns),Allocated (bytes),At peak (bytes)\n";
  for (const std::uint32_t row : rows) {
    const ModuleTotals& t = totals_of(use, list, row);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(name_of(use, list, row)), depth_of(use, list, row),
                       t.calls, t.host, t.forward, t.backward, t.self_forward, t.self_backward, t.kernels, t.flops,
                       t.flops_time, t.allocated, t.at_peak);
  }
  return out;
}

void arrange_modules(const std::shared_ptr<const ModuleUse>& use, ModulesState& state) {
  ModulesState::Arranged& made = state.arranged;
  if (made.of == use && made.list == state.list && made.order == state.order && made.filter == state.filter) return;
  if (made.of != use || made.list != state.list) state.selected = -1;
  made = {use, state.list, state.order, state.filter, arrange_modules(*use, state.list, state.filter, state.order)};
}

}  // namespace gapscope
