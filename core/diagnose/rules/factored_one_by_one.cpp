#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastFactoredShare = 0.05;  // of the window on the host, or of the GPU time
constexpr double kLeastMatrices = 8;
constexpr std::size_t kLeastKernels = 64;           // of a call
constexpr std::size_t kLeastWithoutShapes = 1'000;  // one large matrix takes hundreds

// Matrices of a batch, by the sizes before the last two.
std::optional<double> matrices_of(const Facts& facts, SliceId op) {
  const auto call = recorded_call(facts, op);
  if (!call || call->sizes(0).size() < 2) return std::nullopt;
  const Sizes& sizes = call->sizes(0);
  return elements(Sizes(sizes.begin(), sizes.end() - 2));
}

std::vector<Finding> check_factored_one_by_one(const Facts& facts) {
  struct Called {
    std::vector<SliceId> calls;
    std::size_t kernels = 0;
    double matrices = 0;  // 0: not recorded
  };
  std::map<StringId, Called> by_name;
  std::map<SliceId, std::size_t> kernels;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.is_kernel()) {
      const SliceId outer = facts.outermost(op.launch, kIsAten);
      if (outer && facts.trace.name(outer).starts_with("aten::linalg_")) ++kernels[outer];
    }
  for (const auto& [op, n] : kernels) {
    const auto matrices = matrices_of(facts, op);
    if (matrices ? n < kLeastKernels || *matrices < kLeastMatrices : n < kLeastWithoutShapes) continue;
    Called& called = by_name[facts.trace.name_id(op)];
    called.calls.push_back(op);
    called.kernels += n;
    called.matrices += matrices.value_or(0);
  }
  std::vector<Finding> out;
  for (const auto& [name, called] : by_name) {
    std::vector<FindingSpan> places;
    for (const SliceId s : called.calls) places.push_back(span_of_slice(facts.trace, s));
    const std::size_t n = called.calls.size();
    const std::string op = shown_name(facts.trace.strings[name]);
    Finding finding;
    const SparedTime time = mark_spared(facts, finding, std::move(places));
    if (time.share < kLeastFactoredShare) continue;
    finding.severity = Severity::costly;
    finding.summary = fmt::format(
        "{} was called {} and launched {} kernels each time{}. This takes {}.", op, often(n), shown_count(called.kernels / n),
        called.matrices > 0 ? fmt::format(" for {} matrices", format_average(called.matrices / static_cast<double>(n))) : "",
        time.words());
    finding.evidence = time.evidence({{"n", n}, {"kernels", called.kernels}});
    if (op == "aten::linalg_qr") finding.code = "q, r = (part.to(x.device) for part in torch.linalg.qr(x.cpu()))";
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace

extern const Rule factored_one_by_one = {
    .id = "factored_one_by_one",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "The matrices of a batch are factored one after another",
    .meaning =
        "The GPU's library has no routine for a whole batch of these factorizations, so PyTorch calls it for one matrix "
        "after another. Small matrices then cost many tiny kernels each.",
    .remedy =
        "Factor small matrices on the CPU, where each takes microseconds. Or use functions that take a whole batch on the GPU: "
        "formulas for 2 x 2 and 3 x 3 matrices, torch.linalg.svd, or torch.linalg.eigh.",
    .check = check_factored_one_by_one,
    .claim = Claim{.time = ClaimedTime::work, .turn = 26, .explains = {"many_small_kernels", "overhead_bound", "host_gaps"}},
    .gives = {Cure::gone},
};

}  // namespace gapscope
