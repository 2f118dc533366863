#include "core/diagnose/conditions/compiled_calls.h"

#include <algorithm>
#include <tuple>

#include "core/diagnose/conditions/recorded_calls.h"

namespace gapscope {
namespace {

bool is_copy(const Facts& facts, SliceId owner) {
  if (!owner) return false;
  const std::string_view name = facts.trace.name(owner);
  return name == "aten::copy_" || name == "aten::_foreach_copy_";
}

// By lane and time, so that the call around a launch is found without a walk up deep Python stacks.
struct Place {
  LaneId lane;
  Ns begin;
  std::size_t call;
  auto key() const { return std::tuple(lane.value, begin); }
};

std::vector<Place> places_of(const Facts& facts, const std::vector<RegionCall>& calls) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < calls.size(); ++i)
    places.push_back({facts.trace.lane_id(calls[i].region), facts.trace.begin(calls[i].region), i});
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.key() < b.key(); });
  return places;
}

void add(const Facts& facts, std::size_t i, RegionCall& call) {
  const GpuOp& op = facts.ops[i];
  const Ns time = op.span.length();
  ++call.gpu_ops;
  call.gpu_time += time;
  if (facts.gpu[i].family == RuleFamily::triton) ++call.triton;
  if (facts.own(op.launch) & kIsGraphLaunch) {
    ++call.graph_nodes;
    call.graph_time += time;
  } else if (is_copy(facts, facts.gpu[i].owner)) {
    ++call.copies;
    call.copy_time += time;
  }
}

}  // namespace

std::vector<SliceId> compiled_regions(const Facts& facts) {
  return cpu_slices_called(facts, "Torch-Compiled Region", kIsRegion);
}

std::vector<RegionCall> region_calls(const Facts& facts) {
  std::vector<RegionCall> calls;
  for (const SliceId region : compiled_regions(facts)) {
    if (facts.above(region) & kIsRegion) continue;
    RegionCall call;
    call.region = region;
    call.compiles = ((facts.below(region) | facts.above(region)) & kIsCompileFrame) != 0;
    calls.push_back(call);
  }
  if (calls.empty()) return calls;
  const std::vector<Place> places = places_of(facts, calls);
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const GpuOp& op = facts.ops[i];
    if (!op.linked() || (facts.above(op.launch) & kIsRegion) == 0) continue;
    const Place at{facts.trace.lane_id(op.launch), op.launch_span.begin, 0};
    const auto after =
        std::upper_bound(places.begin(), places.end(), at, [](const Place& a, const Place& b) { return a.key() < b.key(); });
    if (after != places.begin() && (after - 1)->lane == at.lane) add(facts, i, calls[(after - 1)->call]);
  }
  return calls;
}

}  // namespace gapscope
