#include "ui/panels.h"

#include <array>

namespace gapscope {
namespace {

constexpr auto kPanels = std::to_array<Panel>({
    {"details", "Details", "Everything known about the selected slice.", draw_details},
    {"table", "Table", "PyTorch's profiler table: time of every operator, call and kernel.", draw_table},
    {"kernels", "Kernels", "GPU work by name: how often, how long, how even, and what limits it.", draw_kernels},
    {"steps", "Steps", "What the time of each step went into.", draw_steps},
    {"gpu", "GPU", "How busy each GPU was, and why it stood still.", draw_gpu},
    {"memory", "Memory", "Memory over time, its peak, and who asked for it.", draw_memory},
    {"report", "Report", "What was odd about the file, and how it was read.", draw_report},
});

}  // namespace

std::span<const Panel> panels() { return kPanels; }

}  // namespace gapscope
