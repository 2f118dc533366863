#pragma once
// Two sequences of what two ranks called in one group, aligned. See match.h.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

struct SequenceItem {
  std::uint32_t key = 0;  // equal for what may be one collective
  std::int64_t seq = -1;  // "Seq"; -1 where not recorded
  Ns end = 0;             // on its rank's clock
  bool waits_for_all = false;
};

struct SequenceFit {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // positions, ascending in both
  std::uint64_t other_order = 0;                               // places where the same few follow in another order
  std::uint64_t different = 0;                                 // places where others stand
  std::pair<std::uint32_t, std::uint32_t> first_trouble{};     // positions there
  bool first_is_order = false;
};

SequenceFit fit_sequences(std::span<const SequenceItem> a, std::span<const SequenceItem> b);

}  // namespace gapscope
