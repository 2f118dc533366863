#pragma once
// Work of well-known libraries of the host on a thread that launches GPU work, by Python's frames.
#include <string_view>
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

enum class LibraryTask : std::uint8_t { text, pictures, sound, tables, logging };
// "tokenizes text", "decodes or transforms pictures", ...
std::string_view task_words(LibraryTask task);
constexpr bool is_input(LibraryTask task) { return task != LibraryTask::logging; }

// The outermost frame of such a library, which launches nothing; none inside a DataLoader.
struct LibraryCall {
  SliceId frame;
  LibraryTask task{};
};
// Nothing without frames (with_stack=True). O(frames of those libraries).
std::vector<LibraryCall> library_calls(const Facts& facts);

}  // namespace gapscope
