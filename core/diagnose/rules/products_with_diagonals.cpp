#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastDiagonalShare = 0.05;  // of the GPU time
constexpr std::size_t kMostProducts = 2;      // that one diagonal is used for, right behind it: D @ A @ D
constexpr std::size_t kMostBetween = 2;       // other operators between

bool makes_diagonal(std::string_view name) {
  return name == "aten::diag" || name == "aten::diag_embed" || name == "aten::diagflat";
}
bool is_product(std::string_view name) { return name == "aten::mm" || name == "aten::matmul" || name == "aten::bmm"; }

std::vector<Finding> check_products_with_diagonals(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> theirs;
  std::size_t times = 0;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!makes_diagonal(facts.trace.name(ops[i])) || (facts.below(ops[i]) & kIsLaunch) == 0) continue;
      std::vector<SliceId> products;
      std::size_t between = 0;
      for (std::size_t at = i + 1; at < ops.size() && products.size() < kMostProducts && between <= kMostBetween; ++at)
        if (is_product(facts.trace.name(ops[at])))
          products.push_back(ops[at]);
        else
          ++between;
      if (products.empty()) continue;
      theirs.push_back(ops[i]);
      theirs.insert(theirs.end(), products.begin(), products.end());
      times += products.size();
    }
  if (theirs.empty()) return {};
  const LaunchedWork work = work_launched_in(facts, theirs);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastDiagonalShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = work.time;
  finding.summary = fmt::format("{} with a matrix that was made from its diagonal {} {} of the GPU time ({}).",
                                sentence_start(counted(times, "product")), times == 1 ? "takes" : "take", format_share(share),
                                format_duration(work.time));
  finding.evidence = Evidence({{"n", times}, {"total_us", as_us(work.time)}, {"share", share}});
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule products_with_diagonals = {
    .id = "products_with_diagonals",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Products with diagonal matrices",
    .meaning =
        "torch.diag(d) stores a whole matrix, nearly all of it zeros, and a product with it multiplies all of them. Scaling "
        "the rows or columns gives the same.",
    .remedy =
        "Scale the rows and columns: d[:, None] * a for torch.diag(d) @ a, a * d for a @ torch.diag(d). If the result is the "
        "same in each step, compute it once before the loop.",
    .check = check_products_with_diagonals,
    .claim = Claim{.time = ClaimedTime::kernels,
                   .turn = 249,
                   .explains = {"fp32_gemm_cuda_cores", "tf32_gemm", "double_precision_work"}},
    .code = "out = d[:, None] * a * d  # for torch.diag(d) @ a @ torch.diag(d)",
    .gives = {Cure::work},
};

}  // namespace gapscope
