#include "core/diagnose/conditions/occupancy_queries.h"

#include <algorithm>
#include <unordered_map>

#include "core/analyze/gpu/launches.h"

namespace gapscope {
namespace {

// Kernel launches of a thread, in time order.
using Launches = std::unordered_map<std::uint32_t, std::vector<Span>>;

Launches launches_by_lane(const Facts& facts) {
  Launches out;
  for (const StringId name : facts.names_matching(is_kernel_launch_name))
    for (const SliceId s : facts.names.slices_named(name))
      if (facts.own(s) & kIsCall) out[facts.trace.lane_id(s).value].push_back(facts.trace.span_of(s));
  for (auto& [lane, spans] : out)
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return out;
}

bool launch_follows(const Facts& facts, const Launches& launches, SliceId query) {
  const SliceId op = facts.ancestor(query, kIsOp);
  const auto lane = launches.find(facts.trace.lane_id(query).value);
  if (!op || lane == launches.end()) return false;
  const auto next = std::lower_bound(lane->second.begin(), lane->second.end(), facts.trace.end(query),
                                     [](const Span& launch, Ns t) { return launch.begin < t; });
  return next != lane->second.end() && next->end <= facts.trace.end(op);
}

}  // namespace

std::vector<SliceId> occupancy_queries(const Facts& facts) {
  std::vector<SliceId> out;
  const auto names = facts.names_matching([](std::string_view n) { return n.starts_with("cudaOccupancy"); });
  if (names.empty()) return out;
  const Launches launches = launches_by_lane(facts);
  for (const StringId name : names)
    for (const SliceId s : facts.names.slices_named(name))
      if ((facts.own(s) & kIsOccupancyQuery) != 0 && launch_follows(facts, launches, s)) out.push_back(s);
  return out;
}

}  // namespace gapscope
