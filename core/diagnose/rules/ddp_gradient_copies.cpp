#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastBackShare = 0.01;  // of the GPU time

std::vector<Finding> check_ddp_gradient_copies(const Facts& facts) {
  const std::vector<SliceId> copies =
      cpu_slices_called(facts, "torch.distributed.ddp.reducer::copy_bucket_to_grad", kIsOp | kIsAnnotation);
  if (copies.empty()) return {};
  LaunchedWork work = work_launched_in(facts, copies);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastBackShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = work.time;
  finding.summary =
      fmt::format("{} copied gradients out of the reduced buckets: {} of the GPU time ({}).",
                  sentence_start(counted(copies.size(), "call")), format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", copies.size()}, {"total_us", as_us(work.time)}, {"share", share}});
  mark_slices(finding, facts.trace, copies);
  return {std::move(finding)};
}

}  // namespace

extern const Rule ddp_gradient_copies = {
    .id = "ddp_gradient_copies",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "DDP copies every gradient back from its bucket",
    .meaning =
        "DistributedDataParallel sends gradients in buckets. Unless gradients are views of these, each one is copied in before "
        "the all-reduce and out after it.",
    .remedy =
        "Pass gradient_as_bucket_view=True to DistributedDataParallel{bucket_views!}, which also saves the memory of one set "
        "of gradients.",
    .check = check_ddp_gradient_copies,
    .claim = Claim{.time = ClaimedTime::work, .turn = 147},
    .code = "{bucket_views!}DistributedDataParallel(model, gradient_as_bucket_view=True)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
