#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/occupancy_queries.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Kernels that an operator launched after asking; the usual one first.
std::string kernel_after_query(const Facts& facts) {
  std::map<StringId, std::size_t> count;
  for (std::size_t i = 0; i < facts.ops.size(); ++i)
    if (const SliceId owner = facts.gpu[i].owner;
        owner && facts.ops[i].is_kernel() && (facts.below(owner) & kIsOccupancyQuery) != 0)
      ++count[facts.trace.name_id(facts.ops[i].slice)];
  const auto most =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == count.end() ? std::string() : shown_kernel(facts.trace.strings[most->first]);
}

std::vector<Finding> check_occupancy_query_before_launch(const Facts& facts) {
  const std::vector<SliceId> queries = occupancy_queries(facts);
  EvidenceMap names;
  Ns time = 0;
  for (std::size_t i = 0; i < queries.size();) {
    const std::size_t first = i;
    const StringId name = facts.trace.name_id(queries[i]);
    for (; i < queries.size() && facts.trace.name_id(queries[i]) == name; ++i)
      add_saturating(time, facts.trace.duration(queries[i]));
    names.emplace_back(std::string(facts.trace.strings[name]), i - first);
  }
  if (queries.empty()) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("{} queried occupancy, in {}.", counted(queries.size(), "call"), format_duration(time));
  if (const std::string kernel = kernel_after_query(facts); !kernel.empty())
    finding.summary += fmt::format(" The next kernel is mostly {}.", kernel);
  finding.evidence = Evidence({{"n", queries.size()}, {"names", std::move(names)}});
  mark_slices(finding, facts.trace, queries);
  return {std::move(finding)};
}

}  // namespace

extern const Rule occupancy_query_before_launch = {
    .id = "occupancy_query_before_launch",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "A library queries occupancy: a heavy kernel follows",
    .meaning =
        "Before it launches a matrix product, a convolution or a similar kernel, cuBLAS or cuDNN queries how many of its "
        "blocks fit on an SM.",
    .remedy = "Use it as a sign of heavy kernels. It costs almost nothing.",
    .check = check_occupancy_query_before_launch,
};

}  // namespace gapscope
