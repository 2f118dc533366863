#include <algorithm>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/graph_launches.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Time between one node and the next; nodes of parallel branches overlap and count as none.
struct BetweenNodes {
  Ns median = 0, total = 0;
};
BetweenNodes between_nodes(const Facts& facts, const std::vector<GraphLaunch>& launches) {
  std::vector<Ns> gaps;
  BetweenNodes out;
  for (const GraphLaunch& launch : launches) {
    const auto nodes = facts.links.launched_by(launch.call);
    for (std::size_t i = 1; i < nodes.size(); ++i)
      gaps.push_back(std::max<Ns>(facts.trace.begin(nodes[i]) - facts.trace.end(nodes[i - 1]), 0));
  }
  for (const Ns gap : gaps) add_saturating(out.total, gap);
  out.median = median_of(std::move(gaps));
  return out;
}

std::vector<Finding> check_cuda_graph_launch(const Facts& facts) {
  const std::vector<GraphLaunch> launches = graph_launches(facts);
  if (launches.empty()) return {};
  std::vector<Ns> times;
  std::vector<std::size_t> nodes;
  std::vector<SliceId> calls;
  for (const GraphLaunch& launch : launches) {
    times.push_back(facts.trace.duration(launch.call));
    nodes.push_back(launch.nodes);
    calls.push_back(launch.call);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const Ns median = median_of(std::move(times));
  Finding finding;
  const std::string sizes = nodes.size() == 1 ? shown_count(nodes.front())
                                              : fmt::format("{} to {}", shown_count(nodes.front()), shown_count(nodes.back()));
  finding.summary = fmt::format("{} of {}{}. A launch takes {} on the host.", counted(launches.size(), "graph launch"),
                                nodes.size() == 1 && nodes.front() == 1 ? "1 GPU operation" : sizes + " GPU operations",
                                launches.size() == 1 ? "" : " each", format_duration(median));
  if (nodes.back() > 1) {
    const BetweenNodes between = between_nodes(facts, launches);
    finding.summary += fmt::format(" The pauses between operations of a graph are {} (median), {} in total.",
                                   format_duration(between.median), format_duration(between.total));
  }
  EvidenceList per_launch;
  for (const std::size_t n : nodes)
    if (per_launch.size() < kMostFindingSpans) per_launch.emplace_back(n);
  finding.evidence.add("n", launches.size());
  finding.evidence.add("nodes_per_launch", std::move(per_launch));
  finding.evidence.add("launch_us", as_us(median));
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cuda_graph_launch = {
    .id = "cuda_graph_launch",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "A graph of GPU work is replayed",
    .meaning =
        "One call starts a whole captured sequence of GPU work, so the host makes one launch. Only the first operation shows "
        "the launch latency.",
    .remedy = "Compare the CPU time and the gaps with a run without graphs.",
    .check = check_cuda_graph_launch,
};

}  // namespace gapscope
