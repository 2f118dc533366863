#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Two around each algorithm that is timed; a convolution that is not measured records none.
constexpr std::size_t kLeastRecords = 10;
constexpr double kLeastMeasuredShare = 0.02;  // of the window

std::vector<Finding> check_cudnn_measures_sizes(const Facts& facts) {
  std::map<SliceId, std::size_t> records;  // by outermost convolution
  for (const char* prefix : {"cudaEventRecord", "hipEventRecord"})
    for (const SliceId s : cpu_slices_called(facts, prefix, kIsCall)) {
      SliceId convolution;
      for (SliceId op = facts.ancestor(s, kIsAten); op; op = facts.ancestor(op, kIsAten))
        if (facts.trace.name(op).find("convolution") != std::string_view::npos) convolution = op;
      if (convolution) ++records[convolution];
    }
  std::vector<SliceId> measured;
  Ns time = 0;
  for (const auto& [convolution, count] : records) {
    if (count < kLeastRecords) continue;
    measured.push_back(convolution);
    add_saturating(time, facts.trace.duration(convolution));
  }
  const double share = share_of(time, facts.window_length);
  if (measured.empty() || share < kLeastMeasuredShare) return {};
  std::size_t kernels = 0;
  const SpanSet work = gpu_work_inside(facts, measured);
  for (const GpuOp& op : facts.ops) kernels += op.is_kernel() && contains(work, op.span.begin) ? 1 : 0;
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary =
      fmt::format("{} benchmarked the library's algorithms: {} on the host, {} of the window, with about {} kernels each.",
                  sentence_start(counted(measured.size(), "convolution")), format_duration(time), format_share(share),
                  shown_count(kernels / measured.size()));
  finding.evidence = Evidence({{"n", measured.size()}, {"total_us", as_us(time)}, {"share", share}, {"kernels", kernels}});
  mark_slices(finding, facts.trace, measured);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cudnn_measures_sizes = {
    .id = "cudnn_measures_sizes",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Convolutions are benchmarked for each input size",
    .meaning =
        "With torch.backends.cudnn.benchmark = True the library times its algorithms for each new input size. If sizes change "
        "from step to step, it does so in every step.",
    .remedy =
        "Set torch.backends.cudnn.benchmark = False, or pad the inputs to a few sizes. If the sizes do not change, record "
        "after a few warm-up steps: each size is benchmarked once.",
    .check = check_cudnn_measures_sizes,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 21, .explains = {"many_calls", "overhead_bound"}},
    .code = "torch.backends.cudnn.benchmark = False",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
