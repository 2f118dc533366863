#pragma once
// The tab "Modules": time by nn.Module or record_function region (core/analyze/modules), as a tree, by instance or by class.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/modules/module_columns.h"
#include "core/view/table/table_look.h"

namespace gapscope {

struct Document;
struct ModulesQuestion {
  using Answer = ModuleUse;
  static constexpr const char* kToDo = "add up the modules";
  friend bool operator==(const ModulesQuestion&, const ModulesQuestion&) = default;
};
std::shared_ptr<const ModuleUse> answer(const Document& document, const ModulesQuestion& question,
                                        const std::atomic<bool>* cancel);

// The frames of a row in the trace, in order of begin.
std::vector<SliceId> slices_of_row(const Document& document, const ModuleUse& use, ModuleList list, std::uint32_t row);

// What a recording lacks for rates and memory of the modules, and what records it, a sentence each; empty where a module has
// both, and where there are no modules.
std::string missing_figures(const ModuleUse& use);

// Owned by TraceView.
struct ModulesState {
  ModuleList list = ModuleList::tree;
  TableLook look;
  std::int64_t selected = -1;  // position in the list
  ArrangedRows arranged;
};
// The tree keeps its own order.
void arrange_modules(const std::shared_ptr<const ModuleUse>& use, ModulesState& state);

}  // namespace gapscope
