#include "core/build/half_slices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
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

namespace {

// Each pair of a process and a category is looked up once: texts may be long and halves many.
class AsyncLanes {
 public:
  explicit AsyncLanes(RowStore& rows) : rows_(rows) {}
  std::uint32_t of(const RawHalf& h) {
    const auto [known, is_new] = lanes_.try_emplace((std::uint64_t{h.lane} << 32) | h.category, 0u);
    if (is_new) {
      const std::string process = rows_.lanes[h.lane].process;
      const std::string name(rows_.strings[rows_.categories[h.category].name]);
      known->second = rows_.lane(process, name.empty() ? "async" : "async " + name, true);
    }
    return known->second;
  }

 private:
  RowStore& rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> lanes_;
};

// As the parser puts down what a whole slice says.
void put_side_row(RowStore& rows, const PairedSlice& s, GpuRow* said, SideTables::Writer& side) {
  const Kind kind = rows.categories[s.category].kind;
  const SliceId slice(rows.slices.size() - 1);
  if (said != nullptr && is_call(kind)) {
    if (said->correlation != 0) rows.calls.push_back(pack(Call{slice, said->correlation}, side));
    return;
  }
  const bool has_row = is_gpu_work(kind) || (said != nullptr && (kind == Kind::sync || kind == Kind::other));
  if (!has_row || rows.lanes[s.lane].is_async) return;
  GpuRow row = said != nullptr ? *said : GpuRow{};
  row.slice = slice;
  rows.gpu.push_back(pack(row, side));
  if (is_gpu_work(kind)) ++rows.work_in_halves;
  if (is_gpu_work(kind) && row.device < 0 && row.stream < 0) ++rows.bare_work;
  if (kind == Kind::other) ++rows.foreign_gpu;
}

}  // namespace

bool pair_half_slices(RowStore& rows, Trace& out, const std::atomic<bool>* cancel) {
  if (rows.halves.empty()) return true;
  Ns last = std::numeric_limits<Ns>::min();
  for (const RawHalf& h : rows.halves) last = std::max(last, h.time);
  rows.slices.each([&](const StoredSlice& s, std::size_t) { last = std::max(last, end_of(s, *rows.side)); });
  std::unordered_map<std::uint64_t, GpuRow*> said;  // by offset
  for (GpuRow& row : rows.half_gpu) said.emplace(rows.halves[row.slice.index()].offset, &row);
  AsyncLanes lanes(rows);
  const PairedHalves paired = pair_halves(
      std::exchange(rows.halves, {}), [&](const RawHalf& h) { return lanes.of(h); }, rows.report, cancel);
  if (cancel != nullptr && *cancel) return false;
  out.figures.matched_begin_end = paired.matched;
  SideTables::Writer side(*rows.side);
  for (const PairedSlice& s : paired.slices) {
    StoredSlice stored{s.begin, 0, side.overflow.pack(s.external_id),     s.name, s.lane,
                       0,       0, static_cast<std::uint16_t>(s.category)};
    set_end(stored, s.open ? last : s.end, side);
    set_offset(stored, s.offset);
    rows.slices.push_back(stored);
    const auto at = said.find(s.offset);
    put_side_row(rows, s, at != said.end() ? at->second : nullptr, side);
    if (s.open) out.never_ended.push_back(s.offset);
  }
  rows.halves_as_slices = paired.slices.size();
  std::sort(out.never_ended.begin(), out.never_ended.end());
  for (const RawInstant& i : paired.instants) rows.instants.push_back(pack(i));
  return true;
}

}  // namespace gapscope
