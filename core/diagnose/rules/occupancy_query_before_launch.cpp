#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
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

std::vector<Finding> check(const Facts& facts) {
  std::vector<SliceId> queries;
  EvidenceMap names;
  Ns time = 0;
  for (const StringId name : facts.names_matching([](std::string_view n) { return n.starts_with("cudaOccupancy"); })) {
    std::size_t count = 0;
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & kIsOccupancyQuery) == 0) continue;
      ++count, time += facts.trace.duration(s);
      queries.push_back(s);
    }
    if (count > 0) names.emplace_back(std::string(facts.trace.strings[name]), count);
  }
  if (queries.empty()) return {};
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary =
      fmt::format("{} how many blocks fit on an SM, {} in all.",
                  queries.size() == 1 ? "1 call asked" : shown_count(queries.size()) + " calls asked", format_duration(time));
  if (const std::string kernel = kernel_after_query(facts); !kernel.empty())
    finding.summary += fmt::format(" What follows is mostly {}.", kernel);
  finding.evidence = Evidence({{"n", queries.size()}, {"names", std::move(names)}});
  mark_slices(finding, facts.trace, queries);
  return {std::move(finding)};
}

}  // namespace

extern const Rule occupancy_query_before_launch = {"occupancy_query_before_launch",
                                                   RuleClass::reading_help,
                                                   Severity::informational,
                                                   kNeedsLaunches,
                                                   "A library asked for occupancy: a heavy kernel follows",
                                                   "cuBLAS or cuDNN asked the runtime how many blocks of a kernel fit on an SM "
                                                   "before it chose or launched it: a matrix product, a "
                                                   "convolution or their like.",
                                                   "Take it as a landmark of heavy kernels. It costs next to nothing.",
                                                   check};

}  // namespace gapscope
