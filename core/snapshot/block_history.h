#pragma once
// The life of every block of a device, and how much each holder had at any time: made once, off the UI thread, so that a frame
// asks for what its pixels show and takes no longer than they are many.
//
// Only what allocates or frees changes the sums. "After n changes" is a moment between two events; 0 is before the first.
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/column.h"
#include "core/snapshot/holders.h"

namespace gapscope {

struct BlockLife {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  StackId stack = 0;
  std::uint32_t from = 0, until = 0;  // in use after event `from` until event `until`, which frees it; past the last one: held
  std::uint8_t band = 0;              // in BlockHistory::bands
  bool before_history = false;        // `from` is 0, and it is unknown when it was allocated
};

inline constexpr std::size_t kHolderBands = 24;  // holders by line that have a band of their own; the last is all others

struct HolderBand {
  std::string place;  // as LineHolder; "other lines" of the last where there are more
  MemoryUseKind kind = MemoryUseKind::other;
  std::int64_t most = 0;  // bytes at the peak
};

class BlockHistory {
 public:
  using Bytes = std::array<std::int64_t, kHolderBands>;  // by band

  // Null when cancelled.
  static std::optional<BlockHistory> make(const Snapshot& snapshot, const SnapshotDevice& device,
                                          const std::atomic<bool>* cancel = nullptr);

  const std::vector<HolderBand>& bands() const { return bands_; }  // what holds most for longest first
  const Column<BlockLife>& blocks() const { return blocks_; }      // by `from`
  std::size_t changes() const { return events_.size(); }
  std::uint32_t event_of(std::size_t change) const { return events_[change]; }
  // How many changes the events before this one make.
  std::size_t changes_before(std::uint32_t event) const;
  std::int64_t total(std::size_t changes) const { return changes == 0 ? first_total_ : totals_[changes - 1]; }
  std::int64_t peak() const { return total(peak_); }
  std::size_t peak_change() const { return peak_; }  // the first moment that reaches it

  // Of all moments from `first` to `last` changes the first at which most is in use.
  std::size_t highest(std::size_t first, std::size_t last) const;
  Bytes bytes_at(std::size_t changes) const;

  // Blocks that are in use within events [first, last), at least that large and that long (in events), at most `most` of them:
  // positions in blocks(). Where there are more, the larger ones.
  std::vector<std::uint32_t> blocks_in(std::uint32_t first, std::uint32_t last, std::int64_t least_bytes,
                                       std::uint32_t least_events, std::size_t most) const;

 private:
  static constexpr std::size_t kBucket = 64;  // changes
  static constexpr std::size_t kGroup = 16;   // blocks, or groups of them
  struct Group {
    std::int64_t size = 0;    // largest of its blocks
    std::uint32_t until = 0;  // latest
    std::uint32_t life = 0;   // longest
  };
  void replay(const SnapshotDevice& device, const Snapshot& snapshot);
  void choose_bands(const Snapshot& snapshot, std::uint32_t events);
  void sum(std::uint32_t events);
  void group();

  std::vector<HolderBand> bands_;
  Column<BlockLife> blocks_;
  Column<std::uint32_t> events_;                     // of each change
  Column<std::uint8_t> change_bands_;                // of each change
  Column<std::int64_t> totals_;                      // after each change
  std::vector<Bytes> bucket_bytes_;                  // before each bucket of changes
  std::vector<std::vector<std::uint32_t>> highest_;  // by level: of 2^level buckets the one with the highest total
  std::vector<std::vector<Group>> groups_;           // by level, the finest first
  std::int64_t first_total_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace gapscope
