#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastFactoredShare = 0.05;  // of the window on the host, or of the GPU time
constexpr std::size_t kLeastFactored = 8;

std::vector<Finding> check_multivariate_normal(const Facts& facts) {
  if (facts.compiling() || cpu_slices_called(facts, "aten::linalg_cholesky", kIsOp).empty()) return {};
  std::vector<FindingSpan> places;
  Ns end = 0;
  for (const SliceId s : cpu_slices_called(facts, "torch/distributions/multivariate_normal.py(", kIsPython)) {
    if (!places.empty() && facts.trace.begin(s) < end) continue;  // in the function before
    end = facts.trace.end(s);
    places.push_back(span_of_slice(facts.trace, s));
  }
  const std::size_t times = places.size();
  if (times < kLeastFactored) return {};
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastFactoredShare) return {};
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "Functions of MultivariateNormal ran {}: its covariance is factored and checked, and each density solves with the "
      "factor. This takes {}.",
      often(times), time.words());
  finding.evidence = time.evidence({{"n", times}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule multivariate_normal = {
    .id = "multivariate_normal",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "A covariance matrix is factored in each step",
    .meaning =
        "MultivariateNormal with a covariance matrix takes its Cholesky factor, checks it on the CPU, and solves with it for "
        "each density. Dimensions that are independent need none of that.",
    .remedy =
        "If the covariance is diagonal, use Independent(Normal(mean, std), 1): it is the same distribution. Else pass "
        "scale_tril, which is not factored, and validate_args=False.",
    .check = check_multivariate_normal,
    .claim = Claim{.time = ClaimedTime::work,
                   .turn = 268,
                   .explains = {"distribution_checks", "many_small_kernels", "implicit_sync", "item_in_loop"}},
    .code = "policy = Independent(Normal(mean, std), 1)",
    .gives = {Cure::gone, false},
};

}  // namespace gapscope
