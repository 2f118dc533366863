#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/compiled/compile_id.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

std::vector<Finding> check_compiled_region(const Facts& facts) {
  std::vector<SliceId> regions = compiled_regions(facts);
  if (regions.empty()) return {};
  std::vector<CompileId> ids;
  for (const SliceId s : regions)
    if (const auto id = compile_id_of(facts.trace.name(s))) ids.push_back(*id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::size_t gpu_ops = 0;
  Ns host = 0, compiling = 0;
  for (const RegionCall& call : region_calls(facts)) {
    gpu_ops += call.gpu_ops;
    add_saturating(host, facts.trace.duration(call.region));
    add_saturating(compiling, length_within(facts.compile_time, facts.trace.span_of(call.region)));
  }
  Finding finding;
  EvidenceList list;
  std::string text;
  for (const CompileId& id : ids) {
    list.emplace_back(to_text(id));
    if (list.size() <= 8) text += (text.empty() ? " (" : ", ") + to_text(id);
  }
  if (!text.empty()) text += list.size() > 8 ? ", ...)" : ")";
  finding.summary =
      fmt::format("{} of compiled code{}, {} on the host{}, with {} in {}.", counted(regions.size(), "call"), text,
                  format_duration(host), compiling > 0 ? fmt::format(" ({} of it compiling)", format_duration(compiling)) : "",
                  gpu_ops == 0 ? "no GPU operation" : counted(gpu_ops, "GPU operation"), regions.size() == 1 ? "it" : "them");
  finding.evidence.add("n", regions.size());
  finding.evidence.add("ids", std::move(list));
  mark_slices(finding, facts.trace, regions);
  return {std::move(finding)};
}

}  // namespace

extern const Rule compiled_region = {
    .id = "compiled_region",
    .rule_class = RuleClass::reading_help,
    .severity = Severity::informational,
    .needs = kNeedsOperators,
    .title = "Compiled code of torch.compile runs here",
    .meaning = "The span runs a compiled region. In K/M, K is the compiled function and M its version, both from 0.",
    .remedy = "More than one K in a step means a graph break. An M above 0 means a recompilation.",
    .check = check_compiled_region,
};

}  // namespace gapscope
