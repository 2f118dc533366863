#pragma once
// Work of a GPU stream that lasts past whole other work of the stream: its duration is wrong, as a stream does one thing after
// the other. It is cut off where the next work begins.
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

// `members`: positions in `begin`, `end` and `kinds`, ordered by begin, the longer first. With `has_graphs` the nodes of a
// graph, which may run side by side on one stream, are let be. O(n).
bool lasts_past_other_work(std::span<const std::uint32_t> members, std::span<const Ns> begin, std::span<const Ns> end,
                           std::span<const std::uint8_t> kinds, bool has_graphs);
// The same where `stream` says which of several streams that share a lane each is of: cuts off and gives those it did so to.
std::vector<std::uint32_t> clip_work(std::span<const std::uint32_t> members, std::span<const Ns> begin, std::span<Ns> end,
                                     std::span<const std::uint8_t> kinds, bool has_graphs,
                                     std::span<const std::int32_t> stream);

}  // namespace gapscope
