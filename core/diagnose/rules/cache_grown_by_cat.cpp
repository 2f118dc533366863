#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastAppends = 8;
constexpr double kLeastAppendShare = 0.05;  // of the GPU time
// What is there is this many times as long as what is appended.
constexpr double kLeastGrown = 16;

// Two tensors that differ in one size alone, the first far longer there: a cache and what a token adds to it.
bool appends_little(const WorkCall& call) {
  const std::vector<Sizes>& tensors = call.at(0).list;
  if (tensors.size() != 2 || tensors[0].size() != tensors[1].size() || tensors[0].size() < 3) return false;
  std::size_t differ = 0;
  bool is_longer = false;
  for (std::size_t i = 0; i < tensors[0].size(); ++i) {
    if (tensors[0][i] == tensors[1][i]) continue;
    ++differ;
    is_longer = tensors[1][i] > 0 && tensors[0][i] >= kLeastGrown * tensors[1][i];
  }
  return differ == 1 && is_longer;
}

std::vector<Finding> check_cache_grown_by_cat(const Facts& facts) {
  std::vector<SliceId> appends;
  for (const SliceId s : cpu_slices_called(facts, "aten::cat", kIsOp)) {
    const OpRow* row = facts.trace.op_row(s);
    if (facts.trace.name(s) != "aten::cat" || row == nullptr || !row->input_dims) continue;
    const auto call = parse_call("aten::cat", facts.trace.strings[row->input_dims], {}, {});
    if (call && appends_little(*call)) appends.push_back(s);
  }
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
        "torch.cat makes a new tensor and copies the old one into it. A cache of keys and values that grows by one token each "
        "time is so copied whole for every token and layer.",
    .remedy =
        "Allocate the cache for the longest sequence once, and write each token to its place (StaticCache in Transformers).",
    .check = check_cache_grown_by_cat,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 254},
    .code = "cache[:, :, position] = key",
    .gives = {Cure::work},
};

}  // namespace gapscope
