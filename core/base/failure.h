#pragma once
// The failure policy of the whole program, on one page.
//
// What throws. Whatever a file or a person can cause is an Error in a Result (result.h), never an exception. Left are the
// things that may happen anywhere: memory that is not there (std::bad_alloc), a thread or another thing of the system that is
// not to be had (std::system_error), and mistakes of ours. These are thrown and fly through everything.
//
// Who catches. On the way nobody, except one that others wait for: it stops what they wait for and throws on, so that they
// wake and return (BlockReader, EventStream). Then only entries: main, a frame of the window, and what a thread begins with.
// They make a sentence of the exception with current_failure(). Threads are made by parallel.h alone:
//   run_workers, parallel_for, start   carry an exception to the one who waits for them; that one is not an entry.
//   Thread, LooseThread                take what to do with it as an argument, and do not compile without.
// Where no thread is to be had, the one that asked does the work itself.
//
// Who stops. Every wait of a worker ends when its neighbour fails and when it is cancelled.
//
// What a person reads. One sentence: what could not be done, why, what to try. A command prints it and ends with 1; the window
// shows it, keeps what was open, and goes on. Where there is no memory for the sentence either, it is kOutOfMemory.
#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace gapscope {

// Short enough to need no memory of its own in a std::string.
inline constexpr std::string_view kOutOfMemory = "Out of memory.";

// In bytes; 0 where it is not known.
struct MemoryNeed {
  std::uint64_t needed = 0;
  std::uint64_t free = 0;  // before the work began
};

// The exception that is being handled, as a sentence. `to_do` and `name`: what was to be done, as it follows "Not enough memory
// to ...": "open", "trace.json". Only in a catch block.
Error current_failure(std::string_view to_do, std::string_view name = {}, MemoryNeed need = {}) noexcept;

// One line on stderr, with control characters made harmless. Needs no memory when there is none.
void say_on_stderr(std::string_view sentence) noexcept;

// From here on an exception that finds no entry (in a destructor), or a crash just below a limit on memory (ulimit -v), ends
// the program with a sentence and exit code 1 if memory is short; any other still aborts it. For main.
void end_with_a_sentence_when_memory_ends() noexcept;

// Grows the stack of the calling thread now: where there is no memory left to grow it later, the system ends the program
// without a word. For main; other threads' stacks have their size from the start.
void grow_stack() noexcept;

}  // namespace gapscope
