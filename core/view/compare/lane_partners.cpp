#include "core/view/compare/lane_partners.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace gapscope {
namespace {

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

std::string process_kind(const Process& process) { return process.is_gpu ? "GPU" : without_digits(process.title); }

// Pairs what is left of `from` and `to` by equal keys, the k-th with the k-th.
template <class Id, class Key>
void pair_by(const std::vector<Id>& from, const std::vector<Id>& to, std::vector<Id>& partner, std::vector<bool>& taken,
             Key key) {
  std::map<std::string, std::vector<Id>> left;
  for (const Id id : to)
    if (!taken[id.index()]) left[key(id, false)].push_back(id);
  std::map<std::string, std::size_t> used;
  for (const Id id : from) {
    if (partner[id.index()]) continue;
    const auto at = left.find(key(id, true));
    if (at == left.end()) continue;
    std::size_t& next = used[at->first];
    if (next >= at->second.size()) continue;
    partner[id.index()] = at->second[next++];
    taken[partner[id.index()].index()] = true;
  }
}

// Flags by id: what changed is done to the partners.
template <class Id>
bool mirror(const std::vector<bool>& before, const std::vector<bool>& now, const std::vector<Id>& partner,
            std::vector<bool>& other) {
  bool any = false;
  for (std::size_t i = 0; i < now.size() && i < before.size() && i < partner.size(); ++i) {
    if (now[i] == before[i] || !partner[i] || other[partner[i].index()] == now[i]) continue;
    other[partner[i].index()] = now[i];
    any = true;
  }
  return any;
}

template <class T>
bool mirror_one(const T& before, const T& now, T& other) {
  if (now == before || other == now) return false;
  other = now;
  return true;
}

}  // namespace

LanePartners partners_of(const Trace& from, const LaneFolds& shown_from, const Trace& to, const LaneFolds& shown_to) {
  LanePartners out{std::vector<ProcessId>(from.processes.size()), std::vector<LaneId>(from.lanes.size())};
  std::vector<bool> process_taken(to.processes.size()), lane_taken(to.lanes.size());
  pair_by(shown_from.process_order, shown_to.process_order, out.process, process_taken,
          [&](ProcessId id, bool of_from) { return process_kind((of_from ? from : to).processes[id.index()]); });
  std::map<std::uint32_t, std::string> place;  // of a process of `to` that has a partner
  for (std::size_t p = 0; p < out.process.size(); ++p)
    if (out.process[p]) place[static_cast<std::uint32_t>(out.process[p].index())] = std::to_string(p);
  const auto key = [&](LaneId id, bool of_from, bool exact) {
    const Lane& lane = (of_from ? from : to).lane(id);
    const std::size_t process = lane.process.index();
    const auto at = place.find(static_cast<std::uint32_t>(process));
    const std::string where = of_from ? std::to_string(process) : at == place.end() ? "none" : at->second;
    return where + "/" + std::to_string(static_cast<int>(lane.kind)) + "/" + (exact ? lane.title : without_digits(lane.title));
  };
  for (const bool exact : {true, false})
    pair_by(shown_from.lane_order, shown_to.lane_order, out.lane, lane_taken,
            [&](LaneId id, bool of_from) { return key(id, of_from, exact); });
  return out;
}

void mirror_folds(const LaneFolds& before, const LaneFolds& now, const LanePartners& partners, LaneFolds& other) {
  bool any = mirror(before.process_collapsed, now.process_collapsed, partners.process, other.process_collapsed);
  any |= mirror(before.graph_streams_together, now.graph_streams_together, partners.process, other.graph_streams_together);
  any |= mirror(before.all_streams, now.all_streams, partners.process, other.all_streams);
  any |= mirror(before.all_counters, now.all_counters, partners.process, other.all_counters);
  any |= mirror(before.lane_collapsed, now.lane_collapsed, partners.lane, other.lane_collapsed);
  any |= mirror(before.lane_hidden, now.lane_hidden, partners.lane, other.lane_hidden);
  any |= mirror(before.lane_pinned, now.lane_pinned, partners.lane, other.lane_pinned);
  any |= mirror_one(before.filter, now.filter, other.filter);
  any |= mirror_one(before.python_folded, now.python_folded, other.python_folded);
  any |= mirror_one(before.compact, now.compact, other.compact);
  if (any) ++other.revision;
}

}  // namespace gapscope
