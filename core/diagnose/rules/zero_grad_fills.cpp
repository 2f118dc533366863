#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastFillShare = 0.02;  // of the GPU time or of the window

std::vector<Finding> check_zero_grad_fills(const Facts& facts) {
  std::vector<SliceId> calls;
  std::vector<Span> spans;
  Ns host = 0;
  for (const SliceId s : cpu_slices_called(facts, "Optimizer.zero_grad#", kIsAnnotation)) {
    if ((facts.below(s) & kIsLaunch) == 0) continue;
    calls.push_back(s);
    spans.push_back(facts.trace.span_of(s));
    add_saturating(host, facts.trace.duration(s));
  }
  const SpanSet inside = span_set(std::move(spans));
  Ns gpu = 0;
  std::size_t kernels = 0;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && contains(inside, op.launch_span.begin)) ++kernels, add_saturating(gpu, op.span.length());
  const double share = std::max(share_of(gpu, facts.gpu_sum), share_of(host, facts.window_length));
  if (calls.empty() || share < kLeastFillShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = sum_saturating(host, gpu);
  finding.summary = fmt::format("{} of zero_grad() filled the gradients with zeros: {}, {} on the GPU and {} on the host.",
                                sentence_start(counted(calls.size(), "call")), counted(kernels, "GPU operation"),
                                format_duration(gpu), format_duration(host));
  finding.evidence = Evidence({{"n", calls.size()}, {"gpu_us", as_us(gpu)}, {"host_us", as_us(host)}});
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule zero_grad_fills = {
    .id = "zero_grad_fills",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Gradients are filled with zeros",
    .meaning =
        "zero_grad(set_to_none=False) writes zeros into every gradient. The backward pass reads them again to add to them.",
    .remedy = "Release the gradients: zero_grad() sets them to None by default in PyTorch 2.",
    .check = check_zero_grad_fills,
    .claim = Claim{.time = ClaimedTime::idle, .causes = kHostCauses | cause_set({IdleCause::starting}), .turn = 95},
    .code = "optimizer.zero_grad(set_to_none=True)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
