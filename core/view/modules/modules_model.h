#pragma once
// The tab "Modules": time by nn.Module or record_function region (core/analyze/modules), as a tree, by instance or by class.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/modules/modules.h"

namespace gapscope {

struct Document;
struct ModulesQuestion {
  using Answer = ModuleUse;
  static constexpr const char* kToDo = "add up the modules";
  friend bool operator==(const ModulesQuestion&, const ModulesQuestion&) = default;
};
std::shared_ptr<const ModuleUse> answer(const Document& document, const ModulesQuestion& question,
                                        const std::atomic<bool>* cancel);

enum class ModuleList : std::uint8_t { tree, instances, classes };
enum class ModuleColumn : std::uint8_t {
  name,
  calls,
  host,
  forward,
  backward,
  self_forward,
  self_backward,
  share,
  kernels,
  rate,
  allocated,
  at_peak,
  count_
};

struct ModuleOrder {
  ModuleColumn column = ModuleColumn::forward;
  bool descending = true;
  friend bool operator==(const ModuleOrder&, const ModuleOrder&) = default;
};

// A row of whichever list: its totals, and the instance or, of a class, all of it.
const ModuleTotals& totals_of(const ModuleUse& use, ModuleList list, std::uint32_t row);
std::string name_of(const ModuleUse& use, ModuleList list, std::uint32_t row);  // of a class with how many instances it has
std::uint32_t depth_of(const ModuleUse& use, ModuleList list, std::uint32_t row);
// Nanoseconds, a count, operations a second, or bytes.
std::int64_t column_value(const ModuleTotals& totals, ModuleColumn column);

// Positions in the list of what holds `filter`, in this order; the tree keeps its own order.
std::vector<std::uint32_t> arrange_modules(const ModuleUse& use, ModuleList list, const std::string& filter,
                                           const ModuleOrder& order);
// The frames of a row in the trace, in order of begin.
std::vector<SliceId> slices_of_row(const Document& document, const ModuleUse& use, ModuleList list, std::uint32_t row);
std::string modules_csv(const ModuleUse& use, ModuleList list, const std::vector<std::uint32_t>& rows);

// Owned by TraceView.
struct ModulesState {
  ModuleList list = ModuleList::tree;
  ModuleOrder order;
  std::string filter;
  std::int64_t selected = -1;  // position in the list

  // Made from the above when one of them changed.
  struct Arranged {
    std::shared_ptr<const ModuleUse> of;
    ModuleList list{};
    ModuleOrder order;
    std::string filter;
    std::vector<std::uint32_t> rows;
  } arranged;
};
void arrange_modules(const std::shared_ptr<const ModuleUse>& use, ModulesState& state);

}  // namespace gapscope
