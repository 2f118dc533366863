#include "core/diagnose/conditions/graph_launches.h"
#include "core/analyze/gpu/launches.h"
#include "core/base/saturating.h"

#include <algorithm>

namespace gapscope {

std::vector<GraphLaunch> graph_launches(const Facts& facts) {
  std::vector<GraphLaunch> out;
  for (const StringId name : facts.names_matching(launches_graph)) {
    for (const SliceId call : facts.names.slices_named(name)) {
      if ((facts.own(call) & kIsGraphLaunch) == 0) continue;
      GraphLaunch launch{call, 0, 0};
      for (const SliceId node : facts.links.launched_by(call)) {
        if (!is_gpu_work(facts.trace.kind(node))) continue;
        ++launch.nodes;
        add_saturating(launch.gpu_time, facts.trace.duration(node));
      }
      out.push_back(launch);
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](const GraphLaunch& a, const GraphLaunch& b) {
    return facts.trace.begin(a.call) < facts.trace.begin(b.call);
  });
  return out;
}

}  // namespace gapscope
