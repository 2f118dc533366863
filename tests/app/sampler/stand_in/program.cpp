// A program to be recorded where there is no GPU: it opens the recorder as CUDA would, launches through the stand-in for CUPTI,
// and can lack what programs lack. It prints "launched N" when its work is done and ends with 0 unless ordered otherwise.
//
//     program [launches N] [ranges N] [pause MS] [no-threads] [memory MB] [fork] [wait] ...     in this order of events
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

extern "C" void stand_in_launch();
extern "C" std::uint32_t stand_in_push(const char*);
extern "C" void stand_in_pop(std::uint32_t);

namespace {

bool no_threads = false;
bool opened = false;

void open_recorder() {
  if (std::exchange(opened, true)) return;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  if (!library) return;
  if (auto* open = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) open();
}

// What the process may have alongside what it has.
void limit_memory(std::uint64_t megabytes) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (megabytes << 20);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

void fork_a_child_that_stays() {
  if (fork() == 0) {
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    sleep(60);
    _exit(0);
  }
}

}  // namespace

// Stands in front of the C library's, for the recorder too.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : real(thread, attributes, body, argument);
}

int main(int count, char** arguments) {
  long launched = 0;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const auto number = [&] { return i + 1 < count ? std::atol(arguments[++i]) : 0; };
    if (word == "no-threads") no_threads = true;
    if (word == "memory") limit_memory(static_cast<std::uint64_t>(number()));
    if (word == "open" || word == "launches" || word == "ranges") open_recorder();
    if (word == "launches")
      for (const long until = launched + number(); launched < until; ++launched) stand_in_launch();
    if (word == "ranges") {
      for (long n = number(); n > 0; --n, ++launched) {
        const std::uint32_t marker = stand_in_push("step");
        stand_in_launch();
        stand_in_pop(marker);
      }
    }
    if (word == "pause") usleep(static_cast<useconds_t>(number()) * 1000);
    if (word == "fork") fork_a_child_that_stays();
    if (word == "wait") {
      std::printf("waiting\n");
      std::fflush(stdout);
      char byte = 0;
      while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
      }
    }
    if (word == "kill") kill(getpid(), SIGKILL);
  }
  std::printf("launched %ld\n", launched);
  return 0;
}
