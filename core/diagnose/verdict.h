#pragma once
// What limits a run, decided by the time account of its busiest device: the one line that everything else explains.
//
// Compute of at least 70 % of the window is compute-bound. Otherwise it is the largest of the other parts, the host's own parts
// counted together, if that is at least 25 % of the window, else mixed. Work that was launched and had not begun
// limits a run from 70 % of the window on: less of it is the usual latency of launches. One step that holds the process's first
// CUDA call and takes ten times as long as the others, or is the only one, is start-up, and so is a first iteration
// (iterations(), where no step is marked) that loads code and takes ten times as long as the others. So are loading kernels,
// allocating memory and the profiler where they are the largest part, but for memory that is allocated all through the
// recording.
#include <cstdint>
#include <optional>
#include <string>

#include "core/analyze/account/time_account.h"
#include "core/diagnose/trust.h"

namespace gapscope {

enum class Bound : std::uint8_t {
  compute,
  communication,
  transfer,
  host,
  input,
  synchronization,
  compiling,
  start_up,
  allocating,  // driver memory, again and again
  latency,     // launched work that had not begun
  mixed,
  no_gpu_work,
  not_judged,
};
// "Compute-bound", "Start-up", "No GPU work", "Not judged", ...
std::string_view bound_name(Bound bound);

// A verdict where its parts stand below it: what limits the run, and what is to be known before that is believed, as how much
// of it may be the profiler's own work; empty where nothing is.
struct VerdictWords {
  std::string what, caveat;
};

struct Verdict {
  Bound bound = Bound::not_judged;
  std::string text;  // begins with bound_name() and a colon; one line
  VerdictWords words;
};

// By the sizes of the parts alone, as above.
Bound bound_of(const AccountTimes& times);
// The time that the verdict names: of computing, of the host's own work. None where it names no single part.
std::optional<Ns> bound_time(Bound bound, const AccountTimes& times);
// Whether the verdict is the same whatever `unexplained` of the idle time (ns, part of what is unlinked) was in truth.
bool verdict_stands(const AccountTimes& times, Ns unexplained);

// Whether calls that allocate or free memory continue: at least half of their time is after the first step; in a recording
// without steps there are some in three of its quarters.
bool allocates_throughout(const Trace& trace, const TimeAccount& account);

Verdict verdict_of(const Trace& trace, const TimeAccount& account, const Trust& trust);

}  // namespace gapscope
