#include "core/load/kept_events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "core/build/flow_builder.h"
#include "core/build/half_slices.h"

namespace gapscope {
namespace {

std::string key_of(std::string_view process, std::string_view thread) {
  return std::string(process) + '\0' + std::string(thread);
}

// Binds flows to slices as the load did, then joins starts and ends, and drops what has lost its other end.
class KeptFlows {
 public:
  KeptFlows(const Trace& trace, const CropChoice& choice, std::vector<RawFlow> flows, const LocalTables& tables,
            LanesOfWalk& lanes)
      : trace_(trace), choice_(choice), flows_(std::move(flows)), tables_(tables), lanes_(lanes) {}

  void add_to(std::vector<std::uint64_t>& offsets) {
    bind();
    keep_.assign(flows_.size(), false);
    std::vector<std::uint32_t> order(flows_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](std::uint32_t i) { return std::tuple(flows_[i].category, flows_[i].name, flows_[i].id); };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(key(a), flows_[a].time, a) < std::tuple(key(b), flows_[b].time, b);
    });
    for (std::size_t i = 0; i < order.size();) {
      std::size_t j = i + 1;
      while (j < order.size() && key(order[j]) == key(order[i])) ++j;
      keep_group(std::span(order).subspan(i, j - i));
      i = j;
    }
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (keep_[i]) offsets.push_back(flows_[i].offset);
  }

 private:
  void bind() {
    std::vector<std::vector<RawFlow*>> of_lane(trace_.lanes.size());
    for (RawFlow& f : flows_) {
      f.wants_op = tables_.strings[StringId(f.category)] == "fwdbwd";
      if (const LaneId lane = lanes_.lane(tables_, f.lane)) of_lane[lane.index()].push_back(&f);
    }
    std::vector<std::uint8_t> kinds(trace_.slice_count());
    for (std::size_t s = 0; s < kinds.size(); ++s) kinds[s] = static_cast<std::uint8_t>(trace_.kind(SliceId(s)));
    for (std::size_t l = 0; l < of_lane.size(); ++l) {
      if (of_lane[l].empty()) continue;
      const std::vector<std::uint32_t> sorted = in_time_order(trace_.lanes[l]);
      FlowBinder binder(sorted, trace_.slices.begin, trace_.slices.end, kinds);
      for (RawFlow* flow : of_lane[l]) {
        flow->slice = binder.slice_at(flow->time, flow->wants_op);
        if (flow->slice == kUnbound && flow->phase == 's') flow->slice = binder.slice_ended_at(flow->time);
        if (flow->slice == kUnbound && flow->to_next) flow->slice = binder.next_slice(flow->time);
      }
    }
  }

  std::vector<std::uint32_t> in_time_order(const Lane& lane) const {
    std::vector<std::uint32_t> slices(lane.slice_count);
    for (std::uint32_t i = 0; i < lane.slice_count; ++i) slices[i] = lane.first_slice + i;
    const Slices& s = trace_.slices;
    std::sort(slices.begin(), slices.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(s.begin[a], -s.end[a], s.offset[a]) < std::tuple(s.begin[b], -s.end[b], s.offset[b]);
    });
    return slices;
  }

  bool own_kept(std::uint32_t flow) const {
    const RawFlow& f = flows_[flow];
    return f.slice == kUnbound ? choice_.window.contains(f.time) : choice_.slices[f.slice];
  }

  // The joins of join_flows (core/trace/flow_builder), each saved whole or not at all.
  void keep_group(std::span<const std::uint32_t> group) {
    constexpr std::size_t kNone = ~std::size_t{0};
    const auto phase = [&](std::size_t i) { return flows_[group[i]].phase; };
    const auto bound = [&](std::size_t i) { return flows_[group[i]].slice != kUnbound; };
    std::vector<bool> joined(group.size(), false);
    std::size_t current = kNone;
    for (std::size_t i = 0; i < group.size() && current == kNone; ++i)
      if (phase(i) == 's') current = i;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (phase(i) == 's') {
        current = i;
        continue;
      }
      const bool is_joined = current != kNone && bound(current) && bound(i);
      if (is_joined) {
        joined[current] = joined[i] = true;
        if (own_kept(group[current]) && own_kept(group[i])) keep_[group[current]] = keep_[group[i]] = true;
      }
      if (phase(i) == 't' && (is_joined || current == kNone)) current = i;
    }
    for (std::size_t i = 0; i < group.size(); ++i)
      if (!joined[i] && own_kept(group[i])) keep_[group[i]] = true;
  }

  const Trace& trace_;
  const CropChoice& choice_;
  std::vector<RawFlow> flows_;
  const LocalTables& tables_;
  LanesOfWalk& lanes_;
  std::vector<bool> keep_;
};

// The ends of saved begins; instants and lonely ends where their time is.
void add_halves(std::vector<RawHalf> halves, const CropChoice& choice, const LocalTables& tables,
                std::vector<std::uint64_t>& kept) {
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> async_lanes;
  const auto async_lane = [&](const RawHalf& h) {
    const auto key = std::pair(tables.lanes()[h.lane].process, h.category);
    return async_lanes.try_emplace(key, static_cast<std::uint32_t>(async_lanes.size())).first->second;
  };
  std::vector<std::uint64_t> ended;
  for (const RawHalf& h : halves)
    if (h.phase == 'E' || h.phase == 'e') ended.push_back(h.offset);
  std::vector<std::uint64_t> paired;
  const std::vector<RawHalf> all = halves;
  LoadReport ignored;
  const PairedHalves pairs = pair_halves(std::move(halves), async_lane, ignored);
  std::vector<std::uint64_t> ends;
  for (const PairedSlice& s : pairs.slices) {
    if (s.end_offset == kNoOffset) continue;
    paired.push_back(s.end_offset);
    if (std::binary_search(kept.begin(), kept.end(), s.offset)) ends.push_back(s.end_offset);
  }
  std::sort(paired.begin(), paired.end());
  for (const RawHalf& h : all) {
    const bool alone =
        h.phase == 'n' || ((h.phase == 'E' || h.phase == 'e') && !std::binary_search(paired.begin(), paired.end(), h.offset));
    if (alone && choice.window.contains(h.time)) ends.push_back(h.offset);
  }
  kept.insert(kept.end(), ends.begin(), ends.end());
}

}  // namespace

LanesOfWalk::LanesOfWalk(const Trace& trace, const CropChoice& choice) : choice_(choice) {
  for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
    const Lane& lane = trace.lanes[l];
    const std::string& process = trace.processes[lane.process.index()].key;
    if (!lane.is_async) lanes_.emplace(key_of(process, lane.key), LaneId(l));
    processes_[process] = processes_[process] || choice.lanes[l];
  }
}

LaneId LanesOfWalk::lane(const LocalTables& tables, std::uint32_t local) {
  const LaneKey& key = tables.lanes()[local];
  const auto at = lanes_.find(key_of(key.process, key.thread));
  return at == lanes_.end() ? LaneId{} : at->second;
}

bool LanesOfWalk::lane_wanted(const LocalTables& tables, std::uint32_t local) {
  const LaneId id = lane(tables, local);
  return id.valid() ? choice_.lanes[id.index()] : process_wanted(tables, local);
}

// A process that has only counters has no lane to be chosen by: it is wanted when all are.
bool LanesOfWalk::process_wanted(const LocalTables& tables, std::uint32_t local) {
  const auto at = processes_.find(tables.lanes()[local].process);
  if (at != processes_.end()) return at->second;
  return std::find(choice_.lanes.begin(), choice_.lanes.end(), false) == choice_.lanes.end();
}

bool needs_walk(const Trace& trace) {
  for (const char phase : {'s', 't', 'f', 'B', 'E', 'b', 'n', 'e'})
    if (trace.figures.phases[static_cast<unsigned char>(phase)] != 0) return true;
  return false;
}

std::vector<std::uint64_t> offsets_of_slices(const Trace& trace, const CropChoice& choice) {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(choice.slice_count);
  for (std::size_t s = 0; s < trace.slice_count(); ++s)
    if (choice.slices[s]) offsets.push_back(trace.slices.offset[s]);
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

Result<std::vector<std::uint64_t>> kept_offsets(const Trace& trace, const CropChoice& choice, ByteSource& source,
                                                std::atomic<bool>* cancel) {
  EventWalk walk(source, cancel, nullptr);
  std::vector<RawFlow> flows;
  std::vector<RawHalf> halves;
  const auto error = walk.run([&](const EventWalk::Stretch& stretch) {
    std::copy_if(stretch.chunk.flows.begin(), stretch.chunk.flows.end(), std::back_inserter(flows),
                 [](const RawFlow& flow) { return flow.slice == kUnbound; });  // a slice's own goes with it
    halves.insert(halves.end(), stretch.chunk.halves.begin(), stretch.chunk.halves.end());
  });
  if (error) return *error;
  std::vector<std::uint64_t> offsets = offsets_of_slices(trace, choice);
  add_halves(std::move(halves), choice, walk.tables(), offsets);
  LanesOfWalk lanes(trace, choice);
  KeptFlows(trace, choice, std::move(flows), walk.tables(), lanes).add_to(offsets);
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

}  // namespace gapscope
