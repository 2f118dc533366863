#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/span_set.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// As of values that are read one by one (item_in_loop).
constexpr std::size_t kLeastMasks = 8;

// What looks for the places of a mask, and what it belongs to.
constexpr std::string_view kPlacesOfMask = "aten::nonzero";
bool takes_mask(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"aten::index",         "aten::index_put_",     "aten::_index_put_impl_",
                                                    "aten::masked_select", "aten::masked_scatter", "aten::where"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

// The outermost of such operators around it.
SliceId index_around(const Facts& facts, SliceId places) {
  SliceId index;
  for (SliceId at = facts.parent(places); at && takes_mask(facts.trace.name(at)); at = facts.parent(at)) index = at;
  return index;
}

// What the selected elements become, by most of the calls: they are replaced, or a mean or sum is near, or neither.
std::string_view code_for(const Facts& facts, const std::vector<SliceId>& calls) {
  constexpr std::size_t kNear = 3;  // operators
  std::size_t replaced = 0, reduced = 0;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!std::binary_search(calls.begin(), calls.end(), ops[i])) continue;
      replaced += facts.trace.name(ops[i]).ends_with('_') ? 1 : 0;  // index_put_
      for (std::size_t next = i + 1; next < ops.size() && next <= i + kNear; ++next)
        if (const std::string_view name = facts.trace.name(ops[next]); name == "aten::mean" || name == "aten::sum") {
          ++reduced;
          break;
        }
    }
  if (replaced >= reduced && replaced > 0) return "x = torch.where(mask, f(x), x)  # for x[mask] = f(x[mask])";
  return reduced > 0 ? "mean = (x * mask).sum() / mask.sum()" : "y = f(x) * mask  # for f(x[mask])";
}

std::vector<Finding> check_mask_index(const Facts& facts) {
  std::vector<SliceId> calls;
  std::size_t found = 0;
  Ns time = 0;
  for (const SliceId s : cpu_slices_called(facts, kPlacesOfMask, kIsOp)) {
    if ((facts.below(s) & kIsSync) == 0 || (facts.above(s) & kIsCompileFrame) != 0) continue;
    const SliceId index = index_around(facts, s);
    if (!index) continue;
    ++found;
    if (!calls.empty() && calls.back() == index) continue;  // two masks of one call
    calls.push_back(index);
    add_saturating(time, facts.trace.duration(index));
  }
  if (found < kLeastMasks) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format("{} with a mask, {} on the host, waited for the GPU {} to count the selected elements.",
                                counted(calls.size(), "call"), format_duration(time), often(found));
  finding.evidence = Evidence({{"n", found}, {"calls", calls.size()}, {"total_us", as_us(time)}});
  if (!facts.steps.empty())
    finding.evidence.add("per_step", static_cast<double>(found) / static_cast<double>(facts.step_count()));
  mark_slices(finding, facts.trace, calls);
  std::sort(calls.begin(), calls.end());
  finding.code = code_for(facts, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule mask_index = {
    .id = "mask_index",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators,
    .title = "Indexing with masks synchronizes with the GPU",
    .meaning =
        "The mask decides the size of x[mask], so the host waits until the GPU has counted the elements, and again in a "
        "backward pass. A step with such a wait cannot become a CUDA graph.",
    .remedy =
        "Use fixed sizes: multiply by the mask, or use torch.where() or masked_fill(). A mean is (x * mask).sum() / "
        "mask.sum().",
    .check = check_mask_index,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::synchronizing}),
                   .turn = 76,
                   .explains = {"implicit_sync"}},
    .code = "mean = (x * mask).sum() / mask.sum()",
    .gives = {Cure::gone},
};

}  // namespace gapscope
