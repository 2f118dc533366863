#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace gapscope {

// Bytes that can still be had: of the machine, of the group of processes that this one belongs to, and of its own limit (ulimit
// -v), whichever is least. As much as there can be where nothing is known. Takes some 30 us and no memory.
std::uint64_t free_memory_bytes() noexcept;

// Of these the bytes below the process's own limit; as much as there can be where it has none.
std::uint64_t free_of_limit() noexcept;

// Bytes that there are at all: of the machine, or of the group of processes that this one belongs to where that has fewer.
std::uint64_t whole_memory_bytes();
// The least limit of the memory group that `groups` (the text of /proc/self/cgroup) names, and of those around it, as files
// below `root` (/sys/fs/cgroup) say them; as much as there can be where there is none.
std::uint64_t group_limit_bytes(std::string_view groups, const std::string& root);

// From here on so much of the process's own limit counts as taken: for those who would not outlive a refusal (graphics
// drivers).
void set_aside_below_limit(std::uint64_t bytes) noexcept;

// So much of that is left to small things; large pieces are refused before (allocate_large). The sentence that says so, and the
// window that shows it, must still find room; and where the system promises more than it has, it ends the program when it is
// used.
inline constexpr std::uint64_t kRoomForSmallThings = std::uint64_t{64} << 20;

}  // namespace gapscope
