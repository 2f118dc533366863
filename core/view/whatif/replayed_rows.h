#pragma once
// The GPUs of a replayed run as the timeline draws them: a row each.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/index/row_window.h"
#include "core/replay/replay.h"
#include "core/view/timeline/row_busy.h"

namespace gapscope {

// When a device is busy, by the operation that runs: of those that run at the same time the one that began first, then what the
// next has left. Busy for as long as the device is.
class ReplayedRow {
 public:
  ReplayedRow(std::int32_t device, std::vector<Ns> begin, std::vector<Ns> end, std::vector<SliceId> ids);
  ReplayedRow(const ReplayedRow&) = delete;
  ReplayedRow& operator=(const ReplayedRow&) = delete;

  std::int32_t device() const { return device_; }
  RowSlices slices() const { return {begin_, end_, &levels_, 0, ids_}; }
  const RowBusy& busy() const { return busy_; }

 private:
  std::int32_t device_;
  std::vector<Ns> begin_, end_;
  std::vector<SliceId> ids_;
  RowLevels levels_;
  RowBusy busy_;
};

// By device. Operations of no length are left out. O(n log n).
std::vector<std::unique_ptr<const ReplayedRow>> replayed_rows(const ReplayModel& model, const std::vector<Span>& ops);

}  // namespace gapscope
