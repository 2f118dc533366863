#include "core/view/whatif/replayed_rows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gapscope {

ReplayedRow::ReplayedRow(std::int32_t device, std::vector<Ns> begin, std::vector<Ns> end, std::vector<SliceId> ids)
    : device_(device),
      begin_(std::move(begin)),
      end_(std::move(end)),
      ids_(std::move(ids)),
      levels_(begin_, end_),
      busy_(RowSlices{begin_, end_, &levels_, 0, ids_}) {}

std::vector<std::unique_ptr<const ReplayedRow>> replayed_rows(const ReplayModel& model, const std::vector<Span>& ops) {
  std::map<std::int32_t, std::vector<std::uint32_t>> by_device;
  for (std::uint32_t o = 0; o < ops.size(); ++o)
    if (!ops[o].empty()) by_device[model.ops()[o].device].push_back(o);
  std::vector<std::unique_ptr<const ReplayedRow>> out;
  for (auto& [device, of_device] : by_device) {
    std::stable_sort(of_device.begin(), of_device.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ops[a].begin < ops[b].begin; });
    std::vector<Ns> begin, end;
    std::vector<SliceId> ids;
    for (const std::uint32_t o : of_device) {
      const Ns from = end.empty() ? ops[o].begin : std::max(ops[o].begin, end.back());
      if (from >= ops[o].end) continue;
      begin.push_back(from);
      end.push_back(ops[o].end);
      ids.push_back(model.ops()[o].slice);
    }
    out.push_back(std::make_unique<const ReplayedRow>(device, std::move(begin), std::move(end), std::move(ids)));
  }
  return out;
}

}  // namespace gapscope
