#pragma once
// What the user changed in the tab "Counters".
#include <cstdint>

#include "core/view/table/row_order.h"

namespace gapscope {

enum class CountersColumn : std::uint8_t { name, place, time, sm, tensor, dram, rate, intensity, launches, samples };

struct CountersState {
  RowOrder order{static_cast<std::size_t>(CountersColumn::time), true};
};

}  // namespace gapscope
