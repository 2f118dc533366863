#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastRowSortShare = 0.05;  // of the GPU time
constexpr std::size_t kLeastRowUniques = 3;  // fewer are a preparation

std::vector<Finding> check_row_unique(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> calls;
  for (const SliceId s : cpu_slices_called(facts, "aten::unique_dim", kIsOp))
    if ((facts.below(s) & kIsLaunch) != 0) calls.push_back(s);
  if (calls.size() < kLeastRowUniques) return {};
  const LaunchedWork work = work_launched_in(facts, calls);
  std::vector<SliceId> sorts;
  Ns time = 0;
  for (const SliceId s : work.slices) {
    const std::string_view name = facts.trace.name(s);
    if (name.find("merge_sort") == name.npos && name.find("MergeSort") == name.npos) continue;
    sorts.push_back(s);
    add_saturating(time, facts.trace.duration(s));
  }
  const double share = share_of(time, facts.gpu_sum);
  if (share < kLeastRowSortShare) return {};
  Ns host = 0;
  for (const SliceId s : calls) add_saturating(host, facts.trace.duration(s));
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "{} of torch.unique(dim=...) sorted rows by comparison: {} of the GPU time ({}) in {}. The calls took {} on the host.",
      sentence_start(counted(calls.size(), "call")), format_share(share), format_duration(time),
      counted(sorts.size(), "kernel"), format_duration(host));
  finding.evidence = Evidence(
      {{"n", calls.size()}, {"kernels", sorts.size()}, {"total_us", as_us(time)}, {"share", share}, {"host_us", as_us(host)}});
  mark_slices(finding, facts.trace, sorts);
  return {std::move(finding)};
}

}  // namespace

extern const Rule row_unique = {
    .id = "row_unique",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "torch.unique compares whole rows",
    .meaning =
        "With dim=0, torch.unique sorts rows by a merge sort whose kernels compare one element after the other. A tensor of "
        "single integers is sorted by its bits, which takes a fraction of that.",
    .remedy =
        "Pack each row into one int64 key (row times the size of the next column, plus that column) and call torch.unique on "
        "the keys. Division and remainder give the columns back.",
    .check = check_row_unique,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 261, .explains = {"gpu_hotspot"}},
    .code = "keys, inverse = torch.unique(x[:, 0] * n + x[:, 1], return_inverse=True)",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
