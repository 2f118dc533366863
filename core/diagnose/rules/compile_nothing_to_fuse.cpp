#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_compile_nothing_to_fuse(const Facts& facts) {
  if (!facts.compile_frames.empty()) return {};
  std::size_t gpu_ops = 0;
  std::vector<SliceId> regions;
  for (const RegionCall& call : region_calls(facts)) {
    // Inductor did fuse something, or the backend never does.
    if (call.triton > 0 || call.replays_graph(facts)) return {};
    if (call.gpu_ops == 0) continue;
    gpu_ops += call.gpu_ops;
    regions.push_back(call.region);
  }
  if (regions.empty()) return {};
  Finding finding;
  finding.summary = fmt::format("{} of compiled code with {}. None is a fused kernel.", counted(regions.size(), "call"),
                                counted(gpu_ops, "GPU operation"));
  finding.evidence = Evidence({{"triton_kernels", 0}, {"gpu_ops", gpu_ops}});
  mark_slices(finding, facts.trace, regions);
  return {std::move(finding)};
}

}  // namespace

extern const Rule compile_nothing_to_fuse = {
    .id = "compile_nothing_to_fuse",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "torch.compile found nothing to fuse",
    .meaning = "The compiled region has only library kernels, as eager code has.",
    .remedy = "Leave it eager, or compile a larger function that has kernels to fuse.",
    .check = check_compile_nothing_to_fuse,
};

}  // namespace gapscope
