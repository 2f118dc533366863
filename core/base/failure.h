#pragma once
// The failure policy of the whole program, on one page.
//
// What throws. Whatever a file or a user can cause is an Error in a Result (result.h), never an exception. The rest can
// happen anywhere: no memory (std::bad_alloc), no thread or other system resource (std::system_error), and internal errors.
// These are thrown and propagate through all code.
//
// Who catches. Intermediate code does not catch. Exception: code that other threads block on releases them and rethrows, so
// that they wake and return (BlockReader, EventStream). Else only entries catch: main, a frame of the window, a thread's body.
// They make a sentence of the exception with current_failure(). Only parallel.h creates threads:
//   run_workers, parallel_for, start   carry an exception to the thread that waits for them. That thread is not an entry.
//   Thread, LooseThread                take a handler as an argument, and do not compile without one.
// If a thread cannot be created, the caller runs the work inline.
//
// Who stops. Every wait of a worker ends when another worker fails and when it is cancelled.
//
// What a user reads. One sentence: what failed, why, what to try. A command prints it and ends with 1. The window shows it,
// leaves open what was open, and continues. If there is no memory for the sentence, it is kOutOfMemory.
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
