#include "core/build/half_slices.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gapscope {
namespace {

bool begins(char phase) { return phase == 'B' || phase == 'b'; }
bool is_async(char phase) { return phase == 'b' || phase == 'e' || phase == 'n'; }

}  // namespace

PairedHalves pair_halves(std::vector<RawHalf> halves, const std::function<std::uint32_t(const RawHalf&)>& async_lane,
                         LoadReport& report, const std::atomic<bool>* cancel) {
  PairedHalves out;
  for (RawHalf& h : halves) {
    if (is_async(h.phase)) h.lane = async_lane(h);
  }
  std::stable_sort(halves.begin(), halves.end(), [](const RawHalf& a, const RawHalf& b) { return a.time < b.time; });
  std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, std::vector<PairedSlice>> open;
  constexpr std::size_t kCancelEvery = 1u << 13;
  std::size_t seen = 0;
  for (const RawHalf& h : halves) {
    if (seen++ % kCancelEvery == 0 && cancel != nullptr && *cancel) return out;
    const bool async = is_async(h.phase);
    if (h.phase == 'n') {
      out.instants.push_back({h.time, h.offset, h.lane, h.name, h.category, false});
      continue;
    }
    std::vector<PairedSlice>& stack = open[{h.lane, async, async ? h.id : 0}];
    if (begins(h.phase)) {
      stack.push_back({h.time, h.time, h.offset, h.external_id, h.lane, h.name, h.category, true});
    } else if (stack.empty()) {
      report.add(async ? ImportIssue::async_unpaired : ImportIssue::end_without_begin, h.offset, "");
    } else {
      stack.back().end = h.time;
      stack.back().open = false;
      stack.back().end_offset = h.offset;
      out.slices.push_back(stack.back());
      stack.pop_back();
      out.matched += async ? 0 : 1;
    }
  }
  for (auto& [key, stack] : open) {
    for (const PairedSlice& s : stack) {
      report.add(std::get<1>(key) ? ImportIssue::async_unpaired : ImportIssue::begin_without_end, s.offset, "");
      out.slices.push_back(s);
    }
  }
  std::sort(out.slices.begin(), out.slices.end(),
            [](const PairedSlice& a, const PairedSlice& b) { return a.offset < b.offset; });
  return out;
}

}  // namespace gapscope
