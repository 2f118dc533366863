#include "core/analyze/account/gap_pieces.h"

#include "core/base/parallel.h"

namespace gapscope {

GapPieces::GapPieces(const TimeAccount& account, const DeviceAccount& device) : device_(device) {
  // Gaps: a reader begins with a search in every row, and pieces in one large column would be copied again and again as it
  // grows.
  constexpr std::size_t kEach = 1024;
  const std::size_t all = device.gaps.size();
  stretches_.resize(all / kEach + 1);
  parallel_for(hardware_threads(), stretches_.size(), [&](std::size_t i) {
    Stretch& stretch = stretches_[i];
    const std::size_t first = all * i / stretches_.size(), last = all * (i + 1) / stretches_.size();
    stretch.ends.reserve(last - first);
    account.each_gap(device, first, last, [&](std::size_t, std::span<const HostPiece> pieces) {
      stretch.pieces.insert(stretch.pieces.end(), pieces.begin(), pieces.end());
      stretch.ends.push_back(stretch.pieces.size());
    });
    stretch.pieces.shrink_to_fit();  // a third is room to grow
  });
}

}  // namespace gapscope
