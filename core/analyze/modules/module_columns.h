#pragma once
// The columns of time by module: of the tab Modules and `gapscope modules`. One list for instances, classes and the tree.
#include <cstdint>
#include <string>

#include "core/analyze/modules/modules.h"
#include "core/base/table/columns.h"

namespace gapscope {

enum class ModuleList : std::uint8_t { tree, instances, classes };

struct ModuleContext {
  const ModuleUse& use;
  ModuleList list;
};
struct ModuleLine {
  std::uint32_t row;  // position in the list
  const ModuleTotals& totals;
};
struct ModuleLines {
  const ModuleUse& use;
  ModuleList list;
  ModuleLine operator()(std::size_t row) const;
};
using ModuleRows = RowsOf<ModuleLine, ModuleContext, ModuleLines>;

// `use` must outlive it.
ModuleRows module_rows(const ModuleUse& use, ModuleList list);

std::string name_of(const ModuleUse& use, ModuleList list, std::uint32_t row);  // of a class with how many instances it has

}  // namespace gapscope
