#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

struct Couple {
  std::uint32_t copy = 0, gemm = 0;  // positions in facts.ops
};

// On one stream: a copy, maybe a memset (workspace of the product), a matrix product, all of one operator.
std::vector<Couple> couples(const Facts& facts) {
  std::vector<Couple> out;
  for (const StreamOps& stream : streams_of(facts.ops))
    for (std::size_t i = 0; i + 1 < stream.ops.size(); ++i) {
      const std::uint32_t copy = stream.ops[i];
      if (facts.ops[copy].gpu_class != GpuClass::copy || !is_copy_on_device(facts.name(facts.ops[copy]))) continue;
      std::size_t after = i + 1;
      if (facts.ops[stream.ops[after]].gpu_class == GpuClass::memset) ++after;
      if (after >= stream.ops.size()) continue;
      const std::uint32_t gemm = stream.ops[after];
      if (facts.gpu[gemm].family != RuleFamily::gemm) continue;
      const WorkOrigin owner = origin_of(facts, facts.ops[copy]);
      if (owner.is_operator() && owner == origin_of(facts, facts.ops[gemm])) out.push_back({copy, gemm});
    }
  std::sort(out.begin(), out.end(), [](const Couple& a, const Couple& b) { return a.copy < b.copy; });
  return out;
}

template <class Which>
Ns median_time(const Facts& facts, const std::vector<Couple>& found, Which which) {
  std::vector<Ns> times;
  for (const Couple& c : found) times.push_back(facts.ops[c.*which].span.length());
  return median_of(std::move(times));
}

std::vector<Finding> check_dtod_before_gemm(const Facts& facts) {
  const std::vector<Couple> found = couples(facts);
  if (found.empty()) return {};
  const GpuOp& copy = facts.ops[found.front().copy];
  const GpuOp& gemm = facts.ops[found.front().gemm];
  const WorkOrigin owner = origin_of(facts, gemm);
  const std::string_view op = owner.name();
  const Ns copy_time = median_time(facts, found, &Couple::copy), gemm_time = median_time(facts, found, &Couple::gemm);
  Finding finding;
  finding.severity = Severity::notable;
  std::vector<SliceId> slices;
  for (const Couple& c : found)
    add_saturating(finding.cost, facts.ops[c.copy].span.length()), slices.push_back(facts.ops[c.copy].slice);
  const auto joined = static_cast<std::size_t>(std::count_if(
      found.begin(), found.end(), [&](const Couple& c) { return origin_of(facts, facts.ops[c.gemm]).by.joined; }));
  finding.summary = fmt::format("{} copies {} before its matrix product, {}. Copying takes {} and the product {} (medians).",
                                shown_name(op), facts.row(copy).bytes == 0 ? "its bias" : format_bytes(facts.row(copy).bytes),
                                counted(found.size(), "time"), format_duration(copy_time), format_duration(gemm_time));
  finding.evidence = Evidence({{"n", found.size()},
                               {"op", op},
                               {"copy_us", as_us(copy_time)},
                               {"bytes", facts.row(copy).bytes},
                               {"gemm", facts.name(gemm)},
                               {"gemm_us", as_us(gemm_time)}});
  mark_joined(finding, joined, found.size());
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule dtod_before_gemm = {
    .id = "dtod_before_gemm",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "The bias is copied before the matrix product",
    .meaning =
        "If the bias is as large as the result, addmm copies the bias into the result and lets the product add to it. That is "
        "one operator but not one kernel.",
    .remedy = "Use a one-dimensional bias, which the kernel adds itself, or a kernel that fuses both (mode=\"max-autotune\").",
    .check = check_dtod_before_gemm,
    .claim = Claim{.time = ClaimedTime::copies, .turn = 230},
    .other_remedy = "Use a one-dimensional bias, which the kernel adds itself.",
    .gives = {Cure::work, true},
};

}  // namespace gapscope
