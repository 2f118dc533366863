// jemalloc's settings, which it reads before main(). With the C library's allocator, pages entered for the first time were a
// third of the time of `diagnose` where they are dear: on a virtual machine of 2 cores 458 MB took 0.88 s, and 0.61 s since,
// `info` 0.35 and 0.26 s. Where they are cheap (16 cores of an H200's host) `info` of a .gz takes a fifth less, others the
// same. Of one arena threads use each other's pages: with four, 2 cores take longer, and 16 cores the same. What stays open has
// huge pages only while it works (core/base/huge_pages.h).
#include <cstdlib>

#include <unistd.h>

extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "thp:always,narenas:1";
}

namespace {

// Before the constructors of libraries: some crash where they get no memory.
void end_without_memory(int, char**, char** environment) {
  environ = environment;  // as the C library has it only later: jemalloc reads MALLOC_CONF at the first request
  constexpr char kSentence[] = "gapscope: Out of memory.\n";
  constexpr std::size_t kLeast = std::size_t{1} << 20;  // for them and for what comes before main()
  void* volatile some = std::malloc(kLeast);            // or the compiler takes it away
  if (some == nullptr) _exit(::write(STDERR_FILENO, kSentence, sizeof kSentence - 1) < 0 ? 2 : 1);
  std::free(some);
}

[[gnu::used, gnu::section(".preinit_array")]] void (*const before_libraries)(int, char**, char**) = end_without_memory;

}  // namespace
