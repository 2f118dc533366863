#include "core/view/details/details_sections.h"

#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/ncu_command/ncu_command.h"
#include "core/base/text.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kDefaultSharedLimit = 48 * 1024;  // bytes a block may use without opting in, on every GPU so far

// What the profiler states, where the sum cannot be done again.
DetailsLine stated_occupancy(const GpuRow& row, std::string why) {
  if (row.occupancy_percent < 0) {
    DetailsLine line = absent_line("occupancy");
    line.hover = std::move(why);
    return line;
  }
  std::string hover = "An upper bound from registers, shared memory and launch size, not a measurement.";
  if (row.occupancy_percent == 0 && row.shared_memory > kDefaultSharedLimit)
    hover += " The profiler states 0 % for every block with more than 48 KiB of shared memory; the true value is higher.";
  return text_line("occupancy", fmt::format("{:g} %, as the profiler states", row.occupancy_percent),
                   hover + " It cannot be worked out again here: " + why);
}

std::string limit_text(std::int64_t blocks) { return blocks == kUnlimited ? "any number" : format_count(blocks); }

// How the headline comes about, and what the file states.
std::string occupancy_hover(const SmLimits& sm, const Occupancy& fit, const GpuRow& row) {
  std::string hover = fmt::format(
      "An upper bound from the launch, not a measurement. {} of {} warps fit on one SM, in {} blocks. Blocks allowed by "
      "warps: {}, by registers: {}, by shared memory: {}, by the number of blocks: {}.",
      fit.active_warps, fit.max_warps, fit.active_blocks, limit_text(fit.by_warps), limit_text(fit.by_registers),
      limit_text(fit.by_shared_memory), limit_text(fit.by_blocks));
  if (row.occupancy_percent < 0) return hover;
  hover += fmt::format("\nThe file states {:g} %", row.occupancy_percent);
  const bool limited = row.occupancy_percent == 0 && row.shared_memory > sm.default_block_memory;
  return hover + (limited
                      ? ": the profiler assumes that a block gets at most 48 KiB of shared memory, and states 0 % above that."
                      : ".");
}

}  // namespace

DetailsSection decoded_name(std::string_view name) {
  DetailsSection section{"What the name shows", {}, {}};
  const KernelName decoded = decode(name);
  for (const KernelFieldValue& field : decoded_fields(decoded))
    section.lines.push_back(text_line(std::string(field_name(field.field)), field.value, std::string(explain(field.field))));
  if (decoded.kind == KernelKind::other) section.note = "The name follows no naming scheme that says what the kernel computes.";
  return section;
}

DetailsLine occupancy_line(const Document& doc, const GpuRow& row) {
  const DeviceProperties* device = doc.trace.device(row.device);
  if (!row.has_launch_config()) return stated_occupancy(row, "The file does not state the kernel's grid and block.");
  if (!device) return stated_occupancy(row, "The file does not describe this GPU (deviceProperties).");
  const auto sm = sm_limits(*device);
  if (!sm)
    return stated_occupancy(
        row,
        "It takes the registers, shared memory and threads of an NVIDIA SM (Volta or later), which the file does not "
        "state for this GPU.");
  const auto fit = occupancy(*sm, needs_of(row));
  const std::string words = occupancy_words(*sm, needs_of(row), grid_blocks(row));
  if (!fit || words.empty()) return stated_occupancy(row, "The block is larger than one SM of this GPU holds.");
  return text_line("occupancy", words, occupancy_hover(*sm, *fit, row));
}

DetailsSection ncu_section(const Document& doc, SliceId kernel, const KernelCommand* command) {
  if (!may_have_ncu_command(doc.trace, kernel)) return {};
  DetailsSection section{"Nsight Compute", {}, {}};
  section.code_hover = ncu_note(program_kind(doc.trace));
  if (!command) {
    section.note = "Counting the launches of this kernel...";
    return section;
  }
  const std::optional<NcuCommand>& ncu = command->ncu;
  if (!ncu) return {};
  const auto count = [](std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); };
  section.note = ncu->of == 1 ? fmt::format("Profiles this launch again: the only one of {} in this recording.", ncu->function)
                              : fmt::format("Profiles this launch again: number {} of the {} of {} in this recording.",
                                            count(ncu->skip + 1), count(ncu->of), ncu->function);
  section.code = ncu->command;
  return section;
}

}  // namespace gapscope
