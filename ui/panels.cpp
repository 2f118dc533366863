#include "ui/panels.h"

#include <array>

namespace gapscope {
namespace {

constexpr auto kPanels = std::to_array<Panel>({
    {"details", "Details", "Everything known about the selected slice.", draw_details},
    {"table", "Table", "PyTorch's profiler table: time of every operator, call and kernel.", draw_table},
    {"report", "Report", "What was odd about the file, and how it was read.", draw_report},
});

}  // namespace

std::span<const Panel> panels() { return kPanels; }

}  // namespace gapscope
