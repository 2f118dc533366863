#pragma once
// The trace of the run that a memory snapshot was taken of: its annotations become the snapshot's, and a moment of one is a
// moment of the other. Both say when they were by the same clock, that of the host.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/snapshot/snapshot.h"
#include "core/trace/trace.h"

namespace gapscope {

struct ProgramTrace {
  std::string path;
  Ns epoch = 0;  // of the trace's time 0, since 1970
  Span span;     // of the trace, by its own times

  // The trace's time of a moment of the snapshot; none where the trace was not recorded then.
  std::optional<Ns> time_of(std::int64_t time_us) const;
};

// Adds steps and annotations of the program to each device of the snapshot. An Error, a sentence, where the trace does not say
// when it was, or nothing of the snapshot's history happened while it was recorded.
Result<ProgramTrace> add_program(Snapshot& snapshot, const Trace& trace);
// What the program was in, the outermost first: names of annotations.
std::vector<StringId> program_at(const Snapshot& snapshot, std::int64_t device, std::int64_t time_us);

}  // namespace gapscope
