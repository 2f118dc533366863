#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// The limit that Kineto computes with: what a block gets without opting in.
constexpr std::uint32_t kDefaultSharedMemory = 48 * 1024;

// The limit is of NVIDIA's GPUs. A file that does not describe its GPU is taken for one of these.
bool is_other_gpu(const Facts& facts, const GpuRow& row) {
  const DeviceProperties* device = facts.trace.device(row.device);
  return device != nullptr && device->warp_size != 0 && device->warp_size != 32;
}

// "For the first, ..., it is 12 % of warp slots, limited by registers": where the file describes the GPU.
std::string true_value(const Facts& facts, const GpuRow& row) {
  const DeviceProperties* device = facts.trace.device(row.device);
  const auto sm = device != nullptr ? sm_limits(*device) : std::nullopt;
  if (!sm) return {};
  const std::string words = occupancy_words(*sm, needs_of(row), grid_blocks(row));
  return words.empty() ? words : fmt::format(" For the first, {}, it is {}.", shown_kernel(facts.trace.name(row.slice)), words);
}

std::vector<Finding> check_occupancy_zero_artifact(const Facts& facts) {
  std::vector<SliceId> zeros;
  const GpuRow* first = nullptr;
  Ns time = 0, all = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.is_kernel()) continue;
    const GpuRow& row = facts.row(op);
    const bool counts = op.linked() || facts.linked == 0;  // a recording of the GPU alone has no launches
    if (counts) add_saturating(all, op.span.length());
    if (row.occupancy_percent != 0 || row.shared_memory <= kDefaultSharedMemory || is_other_gpu(facts, row)) continue;
    zeros.push_back(op.slice);
    if (first == nullptr) first = &row;
    if (counts) add_saturating(time, op.span.length());
  }
  if (first == nullptr) return {};
  const double share = all > 0 ? static_cast<double>(time) / static_cast<double>(all) : 0;
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary =
      fmt::format(
          "{} with {} of the kernel time {} an occupancy of 0 %, because a block uses more than 48 KiB of shared memory.",
          counted(zeros.size(), "kernel"), format_share(share), zeros.size() == 1 ? "states" : "state") +
      true_value(facts, *first);
  finding.evidence = Evidence({{"n", zeros.size()}, {"share", share}});
  mark_slices(finding, facts.trace, zeros);
  return {std::move(finding)};
}

}  // namespace

extern const Rule occupancy_zero_artifact = {
    .id = "occupancy_zero_artifact",
    .rule_class = RuleClass::table_trap,
    .severity = Severity::informational,
    .needs = kNeedsGpuWork,
    .title = "A wrong occupancy of 0 %",
    .meaning =
        "The profiler computes occupancy with the default limit of 48 KiB of shared memory per block. It writes 0 for every "
        "kernel above it.",
    .remedy = "Use the value that Gapscope computes, and leave the zeros out of averages.",
    .check = check_occupancy_zero_artifact,
};

}  // namespace gapscope
