#include <set>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Less is not worth a change of shapes.
constexpr double kLeastMisalignedShare = 0.03;

// Of their time, at most: products in bfloat16 for a vocabulary of 50,257 took 8.81 ms and 11.7 ms backward on an H200, 1.13
// and 2.07 for 50,304.
constexpr double kSparedByPadding = 7.0 / 8;

// Kernels on the ordinary cores load single elements by nature and always say align1.
bool is_misaligned_product(const KernelName& name) {
  return name.kind == KernelKind::gemm && name.tensor_core != false && (name.alignment == "1" || name.alignment == "2");
}

std::vector<Finding> check_gemm_misaligned(const Facts& facts) {
  Ns total = 0;
  std::size_t count = 0;
  std::set<std::uint32_t> names;
  std::string_view kernel;
  std::vector<SliceId> slices;
  for (const NameTotal& name : facts.by_name) {
    if (!is_misaligned_product(facts.decoded(name.name))) continue;
    if (count == 0) kernel = facts.trace.strings[name.name];
    add_saturating(total, name.total);
    count += name.count;
    names.insert(name.name.value);
  }
  const double share = share_of(total, facts.gpu_sum);
  if (count == 0 || share < kLeastMisalignedShare) return {};
  for (const GpuOp& op : facts.ops)
    if (op.linked() && names.count(facts.trace.name_id(op.slice).value) > 0) slices.push_back(op.slice);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = static_cast<Ns>(kSparedByPadding * static_cast<double>(total));
  finding.summary = fmt::format("{} for operands that are not aligned {} {} of the GPU time ({}){}{}.",
                                counted(count, "matmul kernel"), count == 1 ? "takes" : "take", format_share(share),
                                format_duration(total), names.size() == 1 ? ": " : ", most of it in ", shown_kernel(kernel));
  finding.evidence = Evidence({{"n", count}, {"total_us", as_us(total)}, {"share", share}, {"kernel", printable(kernel)}});
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule gemm_misaligned = {
    .id = "gemm_misaligned",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "A matmul has a misaligned size",
    .meaning =
        "align1 or align2 in the kernel's name means that a dimension is not a multiple of 8. The library then uses a kernel "
        "with smaller loads, usually an older and slower one.",
    .remedy = "Pad that dimension to a multiple of 8, or a vocabulary to a multiple of 64.",
    .check = check_gemm_misaligned,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 280},
    .code = "words = (words + 63) // 64 * 64",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
