#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/occupancy_queries.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kFamilies = static_cast<std::size_t>(RuleFamily::other) + 1;
using Counts = std::array<std::size_t, kFamilies>;

EvidenceMap by_family(const Counts& counts) {
  EvidenceMap out;
  for (std::size_t f = 0; f < kFamilies; ++f) {
    const auto family = static_cast<RuleFamily>(f);
    if (counts[f] > 0)
      out.emplace_back(family == RuleFamily::elementwise ? "elem" : std::string(rule_family_name(family)), counts[f]);
  }
  return out;
}

std::vector<Finding> check_launch_without_occupancy_query(const Facts& facts) {
  // Without any query nothing is known, least of all that a kernel is light.
  if (occupancy_queries(facts).empty()) return {};
  Counts queried{}, plain{};
  std::size_t plain_count = 0, all = 0;
  std::vector<SliceId> launches;
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const SliceId owner = facts.gpu[i].owner;
    if (!owner || !facts.ops[i].is_kernel()) continue;
    ++all;
    const bool asked = (facts.below(owner) & kIsOccupancyQuery) != 0;
    ++(asked ? queried : plain)[static_cast<std::size_t>(facts.gpu[i].family)];
    if (asked) continue;
    ++plain_count;
    launches.push_back(facts.ops[i].launch);
  }
  if (plain_count == 0) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("{} {} launched without an occupancy query.",
                                sentence_start(counted_of(plain_count, all, "kernel")), plain_count == 1 ? "was" : "were");
  if (const std::size_t gemms = plain[static_cast<std::size_t>(RuleFamily::gemm)]; gemms > 0)
    finding.summary += fmt::format(" {} of them {} nevertheless.", shown_count(gemms),
                                   gemms == 1 ? "is a matrix product" : "are matrix products");
  finding.evidence = Evidence({{"queried", by_family(queried)}, {"not_queried", by_family(plain)}});
  mark_slices(finding, facts.trace, launches);
  return {std::move(finding)};
}

}  // namespace

extern const Rule launch_without_occupancy_query = {
    .id = "launch_without_occupancy_query",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "A launch without an occupancy query: usually a light kernel",
    .meaning =
        "In a file with occupancy queries, a launch without one is mostly an elementwise kernel or a reduction with a small, "
        "fixed footprint.",
    .remedy =
        "Nothing to do. It helps to distinguish small kernels from matrix products. It is not proof: newer libraries often "
        "make no query.",
    .check = check_launch_without_occupancy_query,
};

}  // namespace gapscope
