#include "core/view/details/details_kernel.h"

#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/text.h"
#include "core/view/details/details_gpu.h"

namespace gapscope {
namespace {

DetailsLine unknown_occupancy(std::string why) {
  DetailsLine line = absent_line("theoretical occupancy");
  line.value = "not known";
  line.hover = std::move(why);
  return line;
}

std::string limit_text(std::int64_t blocks) { return blocks == kUnlimited ? "any number" : format_count(blocks); }

DetailsLine theoretical_line(const Occupancy& fit) {
  return number_line(
      "theoretical occupancy",
      fmt::format("{}, limited by {}", format_percent(fit.theoretical), limiter_text(fit.limiters)),
      fmt::format(
          "{} of {} warps fit on one SM, in {} blocks. Blocks allowed by warps: {}, by registers: {}, by shared "
          "memory: {}, by the number of blocks: {}.",
          fit.active_warps, fit.max_warps, fit.active_blocks, limit_text(fit.by_warps), limit_text(fit.by_registers),
          limit_text(fit.by_shared_memory), limit_text(fit.by_blocks)));
}

bool stated_as_zero(const SmLimits& sm, const GpuRow& row) {
  return row.occupancy_percent == 0 && row.shared_memory > sm.default_block_memory;
}

DetailsLine achieved_line(const SmLimits& sm, const GpuRow& row, int percent) {
  if (!stated_as_zero(sm, row))
    return number_line("occupancy, recomputed", fmt::format("{} %", percent),
                       "The theoretical occupancy, or less where the grid is too small to fill every SM.");
  return number_line("occupancy, recomputed",
                     fmt::format("{} % - the stated 0 % is the profiler's 48 KiB limit, not the kernel", percent),
                     "The profiler assumes that a block gets at most 48 KiB of shared memory and states 0 % above that. "
                     "This value drops the assumption.");
}

}  // namespace

DetailsSection decoded_name(std::string_view name) {
  DetailsSection section{"What the name tells", {}, {}};
  const KernelName decoded = decode(name);
  for (const KernelFieldValue& field : told_fields(decoded))
    section.lines.push_back(
        text_line(std::string(field_name(field.field)), field.value, std::string(explain(field.field))));
  if (decoded.kind == KernelKind::other)
    section.note = "The name follows no naming scheme that says what the kernel computes.";
  return section;
}

std::vector<DetailsLine> occupancy_lines(const Document& doc, const GpuRow& row) {
  const DeviceProperties* device = doc.trace.device(row.device);
  if (!row.has_launch_config()) return {unknown_occupancy("The file does not state the kernel's grid and block.")};
  if (!device) return {unknown_occupancy("The file does not describe this GPU (deviceProperties).")};
  const auto sm = sm_limits(*device);
  if (!sm)
    return {unknown_occupancy(
        "It takes the registers, shared memory and threads of an NVIDIA SM (Volta or later), which the file does not "
        "state for this GPU.")};
  const auto fit = occupancy(*sm, needs_of(row));
  if (!fit) return {unknown_occupancy("The block is larger than one SM of this GPU holds.")};
  std::vector<DetailsLine> lines = {theoretical_line(*fit)};
  if (const auto percent = achieved_percent(*sm, needs_of(row), grid_blocks(row), OccupancyRule::true_value))
    lines.push_back(achieved_line(*sm, row, *percent));
  return lines;
}

}  // namespace gapscope
