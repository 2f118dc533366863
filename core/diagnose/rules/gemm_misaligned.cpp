#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/rules/conditions.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {
namespace {

// Less is not worth a change of shapes.
constexpr double kLeastShare = 0.03;

// align1 or align2, not align16. simt kernels load single elements by nature and always say align1.
bool is_misaligned_gemm(std::string_view name) {
  constexpr std::string_view kAlign = "align";
  if (name.find("simt") != name.npos || rule_family(name) != RuleFamily::gemm) return false;
  for (std::size_t at = name.find(kAlign); at != name.npos; at = name.find(kAlign, at + 1)) {
    const std::string_view rest = name.substr(at + kAlign.size());
    const bool small = !rest.empty() && (rest[0] == '1' || rest[0] == '2');
    if (small && (rest.size() == 1 || rest[1] < '0' || rest[1] > '9')) return true;
  }
  return false;
}

std::vector<Finding> check(const Facts& facts) {
  Ns total = 0;
  std::size_t count = 0;
  std::string_view kernel;
  std::vector<SliceId> slices;
  for (const NameTotal& name : facts.by_name) {
    if (!is_misaligned_gemm(facts.trace.strings[name.name])) continue;
    if (count == 0) kernel = facts.trace.strings[name.name];
    total += name.total;
    count += name.count;
    const auto named = facts.names.slices_named(name.name);
    slices.insert(slices.end(), named.begin(), named.end());
  }
  const double share = share_of(total, facts.gpu_sum);
  if (count == 0 || share < kLeastShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = total;
  finding.summary = fmt::format("Matmul kernels for operands that are not aligned: {}, with {} of GPU time ({}); most of it in {}.",
                                shown_count(count), format_percent(share), format_duration(total), shown_name(kernel));
  finding.evidence = Evidence({{"n", count}, {"total_us", as_us(total)}, {"share", share}, {"kernel", printable(kernel)}});
  finding.spans = spans_of_slices(facts.trace, std::move(slices));
  return {std::move(finding)};
}

}  // namespace

const Rule gemm_misaligned = {
    "gemm_misaligned", RuleClass::problem, Severity::notable, kNeedsLaunches,
    "A matmul with an awkward size",
    "align1 or align2 in the kernel's name: a dimension is no multiple of 8, so the library falls back to an older, slower kernel.",
    "Pad that dimension to a multiple of 8.",
    check};

}  // namespace gapscope
