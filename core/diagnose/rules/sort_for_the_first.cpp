#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastSortShare = 0.05;  // of the GPU time
// Sorts of many long rows. On an H200 torch.topk took a sixth of their time (2,048 rows of 50,000, the first 100), and no less
// than others: of a single row, or of rows of some thousand.
constexpr std::string_view kSegmented = "SegmentedRadixSort";
constexpr double kSparedByTopk = 5.0 / 6;
constexpr double kMostOfRow = 0.25;   // of a row that is used
constexpr std::size_t kFirstUse = 6;  // operators within which it is

bool is_sort(std::string_view name) { return name == "aten::sort" || name == "aten::argsort"; }
bool takes_part(std::string_view name) { return name == "aten::slice" || name == "aten::narrow"; }

// Whether an argument has the sorted tensor's sizes but for one that is a small part of it.
bool is_small_part(const Sizes& part, const Sizes& whole) {
  if (part.size() != whole.size()) return false;
  std::size_t others = 0;
  bool is_small = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    others += part[i] != whole[i] ? 1 : 0;
    is_small |= part[i] < kMostOfRow * whole[i];
  }
  return others == 1 && is_small;
}

// Whether only the first of what `ops[at]` sorts are used: a part is taken right behind it, by shapes a small one.
bool uses_the_first(const Facts& facts, const Operators& ops, std::size_t at) {
  if (at + 1 >= ops.size() || !takes_part(facts.trace.name(ops[at + 1]))) return false;
  const auto sorted = recorded_call(facts, ops[at]);
  if (!sorted) return true;
  for (std::size_t i = at + 2; i < ops.size() && i <= at + 1 + kFirstUse; ++i) {
    const auto call = recorded_call(facts, ops[i]);
    for (std::size_t a = 0; call && a < call->size(); ++a)
      if (is_small_part(call->sizes(a), sorted->sizes(0))) return true;
  }
  return false;
}

std::vector<Finding> check_sort_for_the_first(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> sorts;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (is_sort(facts.trace.name(ops[i])) && (facts.below(ops[i]) & kIsLaunch) != 0 && uses_the_first(facts, ops, i))
        sorts.push_back(ops[i]);
  const LaunchedWork work = work_launched_in(facts, sorts);
  const bool is_segmented = std::any_of(work.slices.begin(), work.slices.end(), [&](SliceId s) {
    return facts.trace.name(s).find(kSegmented) != std::string_view::npos;
  });
  const double share = share_of(work.time, facts.gpu_sum);
  if (!is_segmented || share < kLeastSortShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = static_cast<Ns>(kSparedByTopk * static_cast<double>(work.time));
  finding.summary = fmt::format("{} whole rows, and only a part is used: {} of the GPU time ({}).",
                                counted(sorts.size(), "call") + (sorts.size() == 1 ? " sorts" : " sort"), format_share(share),
                                format_duration(work.time));
  finding.evidence = Evidence({{"n", sorts.size()}, {"total_us", as_us(work.time)}, {"share", share}});
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule sort_for_the_first = {
    .id = "sort_for_the_first",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Whole rows are sorted for a few elements",
    .meaning =
        "A part is taken right after the sort. torch.topk finds the largest or smallest k elements without sorting the rest.",
    .remedy =
        "Use torch.topk: x.topk(k) gives the k largest in descending order, x.topk(k, largest=False) the k smallest in "
        "ascending order, both with their indices.",
    .check = check_sort_for_the_first,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 267, .explains = {"gpu_hotspot"}},
    .code = "values, indices = x.topk(k, largest=False)",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
