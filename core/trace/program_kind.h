#pragma once
// What kind of program a trace is of, as far as that decides the words for it.
#include <cstdint>

#include "core/trace/trace.h"

namespace gapscope {

enum class ProgramKind : std::uint8_t {
  python,
  other,  // nothing shows that it is Python: words for it suppose neither Python nor PyTorch, and are true of those, too
};

// Other: `gapscope record` made the trace of a command that is no python, and no Python frame is in it; or another profiler
// than PyTorch's wrote it. O(categories).
ProgramKind program_kind(const Trace& trace);

// Whether PyTorch's own profiler wrote it: what is to be recorded next time may name its options. Not of what gapscope record
// saw, of a Python program either.
bool by_torch_profiler(const Trace& trace);

// For words about two programs at once.
constexpr ProgramKind kind_of_both(ProgramKind a, ProgramKind b) { return a == b ? a : ProgramKind::other; }

}  // namespace gapscope
