#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/growing_cache.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastAppendShare = 0.05;  // of the GPU time

std::vector<Finding> check_cache_grown_by_cat(const Facts& facts) {
  const std::vector<SliceId> appends = cache_appends(facts);
  if (appends.size() < kLeastAppends) return {};
  const SpanSet inside = [&] {
    std::vector<Span> spans;
    for (const SliceId s : appends) spans.push_back(facts.trace.span_of(s));
    return span_set(std::move(spans));
  }();
  std::vector<SliceId> work;
  Ns time = 0;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && contains(inside, op.launch_span.begin)) {
      work.push_back(op.slice);
      add_saturating(time, op.span.length());
    }
  const double share = share_of(time, facts.gpu_sum);
  if (share < kLeastAppendShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format("{} of aten::cat copied a long tensor to append a little: {} of the GPU time ({}).",
                                sentence_start(counted(appends.size(), "call")), format_share(share), format_duration(time));
  finding.evidence = Evidence({{"n", appends.size()}, {"total_us", as_us(time)}, {"share", share}});
  mark_slices(finding, facts.trace, work);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cache_grown_by_cat = {
    .id = "cache_grown_by_cat",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators | kNeedsLaunches | kNeedsShapes,
    .title = "A cache is copied to append to it",
    .meaning =
        "torch.cat makes a new tensor and copies the old one into it. A KV cache that grows by one token at a time is copied "
        "in full for each token and layer.",
    .remedy =
        "Allocate the cache once for the longest sequence, and write each token at its position (StaticCache in Transformers).",
    .check = check_cache_grown_by_cat,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 254},
    .code = "cache[:, :, position] = key",
    .gives = {Cure::work},
};

}  // namespace gapscope
