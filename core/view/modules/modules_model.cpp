#include "core/view/modules/modules_model.h"

#include <algorithm>

#include "core/analyze/work/work_table.h"
#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const ModuleUse> answer(const Document& document, const ModulesQuestion&, const std::atomic<bool>* cancel) {
  document.analyze(cancel);
  if (!document.analysis() || (cancel && *cancel)) return nullptr;
  auto use = std::make_shared<const ModuleUse>(module_use(document.trace, document.session.ops(), document.session.work()));
  return cancel && *cancel ? nullptr : use;
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

void arrange_modules(const std::shared_ptr<const ModuleUse>& use, ModulesState& state) {
  ArrangedRows& made = state.arranged;
  const auto list = static_cast<std::size_t>(state.list);
  if (made.of != use || made.list != list) state.selected = -1;
  if (made.is_other(use, list, state.look))
    made.rows = arrange(module_rows(*use, state.list), state.look, state.list != ModuleList::tree);
}

std::string missing_figures(const ModuleUse& use) {
  if (use.rows.empty()) return {};
  const bool has_rates =
      std::any_of(use.rows.begin(), use.rows.end(), [](const ModuleRow& row) { return row.totals.flops_time > 0; });
  std::string out;
  if (!has_rates) out += "No rates: no product in them has its shapes recorded (record_shapes=True).";
  if (use.memory.allocations == 0)
    out += (out.empty() ? std::string() : " ") + "No memory: no GPU allocation is recorded (profile_memory=True).";
  return out;
}

}  // namespace gapscope
