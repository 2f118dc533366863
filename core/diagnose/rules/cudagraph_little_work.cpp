#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/graph_launches.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A handful of launches costs the host about as much as one replay with its checks.
constexpr double kMostNodes = 5;
// Longer work hides the cost of a replay.
constexpr Ns kMostTime = 50 * kNsPerUs;

struct Middle {
  double nodes = 0;
  Ns gpu = 0, host = 0;
  bool in_region = true;  // every launch belongs to a compiled region, which `host` is about; else it is the call's
};

Middle middle_launch(const Facts& facts, const std::vector<GraphLaunch>& launches) {
  std::vector<Ns> nodes, gpu, host;
  Middle out;
  for (const GraphLaunch& launch : launches) {
    const SliceId region = facts.outermost(launch.call, kIsRegion);
    out.in_region &= region.valid();
    nodes.push_back(static_cast<Ns>(launch.nodes) * 2);  // doubled: the mean of two middle ones may be a half
    gpu.push_back(launch.gpu_time);
    host.push_back(facts.trace.duration(region ? region : launch.call));
  }
  out.nodes = static_cast<double>(median_of(std::move(nodes))) / 2;
  out.gpu = median_of(std::move(gpu));
  out.host = median_of(std::move(host));
  return out;
}

std::vector<Finding> check_cudagraph_little_work(const Facts& facts) {
  std::vector<GraphLaunch> launches = graph_launches(facts);
  std::erase_if(launches, [](const GraphLaunch& launch) { return launch.nodes == 0; });  // its work is not in the file
  if (launches.empty()) return {};
  const Middle middle = middle_launch(facts, launches);
  if (middle.nodes > kMostNodes || middle.gpu >= kMostTime) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = std::max<Ns>(middle.host - middle.gpu, 0) * static_cast<Ns>(launches.size());
  finding.summary = fmt::format("A CUDA graph holds {} of {}{}, but {} takes {} on the host.",
                                middle.nodes == 1 ? "1 GPU operation" : fmt::format("{:g} GPU operations", middle.nodes),
                                format_duration(middle.gpu), middle.nodes == 1 ? "" : " in total",
                                middle.in_region ? "the region around it" : "its launch", format_duration(middle.host));
  finding.evidence =
      Evidence({{"nodes", middle.nodes}, {"graph_gpu_us", as_us(middle.gpu)}, {"host_region_us", as_us(middle.host)}});
  std::vector<SliceId> calls;
  for (const GraphLaunch& launch : launches) calls.push_back(launch.call);
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cudagraph_little_work = {
    .id = "cudagraph_little_work",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "A CUDA graph holds very little work",
    .meaning = "The graph has few and short kernels. Its replay may cost the host more than it saves.",
    .remedy = "Compare with a run without graphs. Then remove the graph, or put more work into it.",
    .check = check_cudagraph_little_work,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 410},
    .gives = {Cure::idle},
};

}  // namespace gapscope
