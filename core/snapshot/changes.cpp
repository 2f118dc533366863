#include "core/snapshot/changes.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace gapscope {
namespace {

template <class Holder, class PlaceOf>
std::vector<HolderChange> changes(const std::vector<Holder>& before, const std::vector<Holder>& after, PlaceOf place_of) {
  std::map<std::string, HolderChange, std::less<>> by_place;
  for (const Holder& holder : before) {
    HolderChange& change = by_place[std::string(place_of(holder))];
    change.before = holder.bytes;
    change.blocks_before = holder.blocks;
  }
  for (const Holder& holder : after) {
    HolderChange& change = by_place[std::string(place_of(holder))];
    change.after = holder.bytes;
    change.blocks_after = holder.blocks;
  }
  std::vector<HolderChange> out;
  for (auto& [place, change] : by_place) {
    if (change.before == change.after && change.blocks_before == change.blocks_after) continue;
    change.place = place;
    out.push_back(std::move(change));
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, [](const HolderChange& c) { return std::abs(c.difference()); });
  return out;
}

}  // namespace

std::vector<HolderChange> changed_lines(const MemoryHolders& before, const MemoryHolders& after) {
  return changes(before.lines, after.lines, [](const LineHolder& h) { return h.place; });
}

std::vector<HolderChange> changed_kinds(const MemoryHolders& before, const MemoryHolders& after) {
  return changes(before.kinds, after.kinds, [](const KindHolder& h) { return name_of(h.kind); });
}

}  // namespace gapscope
