#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Below this the copies hardly show in the time of a step.
constexpr double kLeastInputCopyShare = 0.15;

std::vector<Finding> check_cudagraph_input_copy(const Facts& facts) {
  Ns copies = 0, graphs = 0;
  std::size_t count = 0, pieces = 0;
  std::vector<SliceId> regions;
  for (const RegionCall& call : region_calls(facts)) {
    if (!call.replays_graph(facts)) continue;
    copies += call.copy_time;
    graphs += call.graph_time;
    pieces += call.copies;
    ++count;
    if (call.copies > 0) regions.push_back(call.region);
  }
  const double share = share_of(copies, copies + graphs);
  if (copies == 0 || share < kLeastInputCopyShare) return {};
  const auto calls = static_cast<Ns>(count);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = copies;
  finding.summary = fmt::format(
      "Before each replay, {} of copies move the inputs into the graph's buffers: {} of {} for copies and graph ({} in total).",
      format_duration(copies / calls), format_share(share), format_duration((copies + graphs) / calls),
      counted(pieces, "copy"));
  finding.evidence = Evidence({{"copy_us", as_us(copies) / static_cast<double>(calls)},
                               {"graph_us", as_us(graphs) / static_cast<double>(calls)},
                               {"share", share}});
  mark_slices(finding, facts.trace, regions);
  finding.covers = gpu_work_inside(facts, regions, GraphWork::leave_out);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cudagraph_input_copy = {
    .id = "cudagraph_input_copy",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Inputs are copied before each replay of the graph",
    .meaning =
        "A CUDA graph reads from fixed addresses. Inputs at changing addresses are first copied into its buffers. Parameters "
        "are not copied.",
    .remedy =
        "Give the graph inputs at fixed addresses: {|torch._dynamo.mark_static_address(tensor)}, {|copy_ into the same tensor, "
        "only where it changes}. If the work is bound by memory, do not use the graph.",
    .check = check_cudagraph_input_copy,
    .claim = Claim{.time = ClaimedTime::work, .turn = 240},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
