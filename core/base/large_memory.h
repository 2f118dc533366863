#pragma once
// Memory for millions of values, in huge pages where the system has them. The system clears a page before it hands it out,
// which takes longer than filling it: memory that was freed a moment ago can be used again as it is, in another place too.
#include <cstddef>

namespace gapscope {

// A multiple of the size of a huge page, aligned to it; throws std::bad_alloc. What it holds is any bytes.
void* allocate_large(std::size_t bytes);
// `bytes`: as allocated.
void free_large(void* at, std::size_t bytes);

// While one lives, large memory that is freed is kept, and what is allocated is made of it. All threads share it.
class ReusedMemory {
 public:
  ReusedMemory();
  ~ReusedMemory();
  ReusedMemory(const ReusedMemory&) = delete;
  ReusedMemory& operator=(const ReusedMemory&) = delete;

  // From here on what is freed goes back to the system; what was kept is used still.
  void keep_no_more();

 private:
  bool keeps_ = true;
};

// For tests: bytes kept at this moment.
std::size_t kept_large_bytes();

}  // namespace gapscope
