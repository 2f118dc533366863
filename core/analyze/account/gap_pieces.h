#pragma once
// What the host was in during all gaps of a device, read once by all cores, for those who ask again and again: reading it anew
// takes each of them as long as the account itself.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/analyze/account/time_account.h"

namespace gapscope {

class GapPieces {
 public:
  // Refers to the device, which must outlive it. 24 bytes a piece, about as many as slices of the threads
  // that launch.
  GapPieces(const TimeAccount& account, const DeviceAccount& device);

  const DeviceAccount& device() const { return device_; }
  // As TimeAccount::each_gap(): visit(position of the gap, its pieces), in time order.
  template <class Visit>
  void each_gap(Visit visit) const {
    std::size_t gap = 0;
    for (const Stretch& stretch : stretches_) {
      std::size_t first = 0;
      for (const std::size_t end : stretch.ends) {
        visit(gap++, std::span<const HostPiece>(stretch.pieces.data() + first, end - first));
        first = end;
      }
    }
  }

 private:
  // Gaps that follow each other.
  struct Stretch {
    std::vector<HostPiece> pieces;
    std::vector<std::size_t> ends;  // by gap: behind its last piece
  };

  const DeviceAccount& device_;
  std::vector<Stretch> stretches_;
};

}  // namespace gapscope
