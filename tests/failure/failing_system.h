#pragma once
// The C library's memory, threads and files, which fail here when they are told to. Linked into a program of its own: what it
// defines takes the place of malloc and its kin, of mmap for memory, of pthread_create, open and stat, for the whole program.
#include <cstdint>

namespace gapscope::test {

enum class Then : std::uint8_t { goes_on, stays_out };  // after the first failure: memory is there again, or never

// While one lives, the n-th request for memory from its beginning on fails (n from 1; 0: none), on whatever thread.
class MemoryFailsAt {
 public:
  MemoryFailsAt(std::uint64_t n, Then then);
  ~MemoryFailsAt();
  MemoryFailsAt(const MemoryFailsAt&) = delete;
  MemoryFailsAt& operator=(const MemoryFailsAt&) = delete;

  // Requests since its beginning; from the n-th on a failure was seen.
  static std::uint64_t requests();
};

// While one lives, no thread can be made after the first `allowed`.
class NoThreads {
 public:
  explicit NoThreads(int allowed = 0);
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

  static int refused();
};

// While one lives, whatever asks the file system about a path that holds `part` gets no answer. Those that wait then continue
// when it goes.
class HungFiles {
 public:
  explicit HungFiles(const char* part);
  ~HungFiles();
  HungFiles(const HungFiles&) = delete;
  HungFiles& operator=(const HungFiles&) = delete;

  static int waiting();
};

}  // namespace gapscope::test
