#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/gpu/occupancy_amd.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// What a block gets without opting in.
constexpr std::uint32_t kDefaultSharedMemory = 48 * 1024;
// At 128 registers a thread an SM holds 512 threads.
constexpr std::uint32_t kManyRegisters = 128;

bool is_heavy(const GpuRow& row) { return row.shared_memory > kDefaultSharedMemory || row.registers >= kManyRegisters; }

// "1 block fits on an SM, limited by registers": where the file describes the GPU.
std::string residency(const Facts& facts, const GpuRow& row) {
  const DeviceProperties* device = facts.trace.device(row.device);
  const auto sm = device != nullptr ? sm_limits(*device) : std::nullopt;
  const auto fit = sm ? occupancy(*sm, needs_of(row)) : std::nullopt;
  if (!fit) return {};
  const std::string_view block = is_amd(*sm) ? "workgroup" : "block";
  return fmt::format(
      " {} on {} ({} of its {}), limited by {}.",
      fit->active_blocks == 1 ? fmt::format("1 {} fits", block) : fmt::format("{} {}s fit", fit->active_blocks, block),
      is_amd(*sm) ? "a CU" : "an SM", format_share(fit->theoretical), is_amd(*sm) ? "waves" : "warps",
      limiter_text(*sm, fit->limiters));
}

std::vector<Finding> check_heavyweight_kernel(const Facts& facts) {
  std::vector<SliceId> heavy;
  std::size_t kernels = 0;
  const GpuRow* example = nullptr;
  bool example_computes = false;
  for (const GpuOp& op : facts.ops) {
    if (!op.is_kernel()) continue;
    ++kernels;
    const GpuRow& row = facts.row(op);
    if (!is_heavy(row)) continue;
    heavy.push_back(op.slice);
    // Collectives hold room for their buffers; a product or the like shows more.
    const bool computes = op.gpu_class == GpuClass::compute;
    if (example == nullptr || (computes && !example_computes)) example = &row, example_computes = computes;
  }
  if (example == nullptr) return {};
  const std::string_view name = facts.trace.name(example->slice);
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format(
                        "{} {} 128 registers per thread or more than 48 KiB of shared memory per block. Example: {} with {} "
                        "registers and {}.",
                        sentence_start(counted_of(heavy.size(), kernels, "kernel")), heavy.size() == 1 ? "needs" : "need",
                        shown_kernel(name), example->registers, format_shared_memory(example->shared_memory)) +
                    residency(facts, *example);
  finding.evidence = Evidence({{"n", heavy.size()},
                               {"of", kernels},
                               {"example", name},
                               {"registers", example->registers},
                               {"smem", example->shared_memory}});
  mark_slices(finding, facts.trace, heavy);
  return {std::move(finding)};
}

}  // namespace

extern const Rule heavyweight_kernel = {
    .id = "heavyweight_kernel",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork,
    .title = "A kernel with a large footprint",
    .meaning =
        "Each block uses many registers or much shared memory, as in a tiled matrix product, convolution or attention. By "
        "design only one or two blocks fit on an SM.",
    .remedy = "Compare its tile with the problem size. Low occupancy is normal here.",
    .check = check_heavyweight_kernel,
};

}  // namespace gapscope
