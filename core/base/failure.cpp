#include "core/base/failure.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/temporary_file.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::string_view kTry = "Close other programs or open a shorter recording.";

std::string memory_sentence(std::string_view to_do, MemoryNeed need) {
  // What is needed is an estimate: one below what was free would explain nothing.
  if (need.needed == 0 || need.needed <= need.free) return fmt::format("Not enough memory to {}. {}", to_do, kTry);
  return fmt::format("Not enough memory to {}: it needs about {}, {} were free. {}", to_do, format_bytes(need.needed),
                     format_bytes(need.free), kTry);
}

std::string sentence(std::string_view to_do, MemoryNeed need) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return memory_sentence(to_do, need);
  } catch (const std::length_error&) {  // a container that would be larger than any memory
    return memory_sentence(to_do, need);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::not_enough_memory) return memory_sentence(to_do, need);
    return fmt::format("Cannot {}: {}.", to_do, printable(error.what()));
  } catch (const std::exception& error) {
    return fmt::format("Internal error while trying to {}: {}. Please report it.", to_do, printable(error.what()));
  } catch (...) {
    return fmt::format("Internal error while trying to {}. Please report it.", to_do);
  }
}

void write_all(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

[[noreturn]] void last_words() noexcept {
  if (std::current_exception()) {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      say_on_stderr(kOutOfMemory);
      std::_Exit(1);
    } catch (...) {
    }
  }
  std::abort();
}

// The largest that a driver asks for at once is a texture.
constexpr std::size_t kLeastRoom = std::size_t{128} << 20;

bool memory_is_short() {
  void* const room = ::mmap(nullptr, kLeastRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return true;
  ::munmap(room, kLeastRoom);
  return false;
}

// A handler of signals, which may take no memory and no lock.
extern "C" void end_if_memory_is_short(int signal) {
  if (!memory_is_short()) {
    ::raise(signal);  // SA_RESETHAND: it now does what it would have done
    return;
  }
  remove_temporaries();
  write_all("gapscope: ");
  write_all(kOutOfMemory);
  write_all("\n");
  std::_Exit(1);
}

// Libraries of others, graphics drivers most of all, do not look whether they got the memory that they asked for.
void take_crashes_for_shortage() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  static std::array<char, std::size_t{64} << 10> stack;  // the one that is in use may be the one that cannot grow
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = end_if_memory_is_short;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

Error current_failure(std::string_view to_do, std::string_view name, MemoryNeed need) noexcept {
  try {
    return Error{name.empty() ? sentence(to_do, need) : sentence(fmt::format("{} {}", to_do, printable(name)), need)};
  } catch (...) {
    return Error{std::string(kOutOfMemory)};
  }
}

void say_on_stderr(std::string_view text) noexcept {
  try {
    write_all("gapscope: " + printable(text) + "\n");
  } catch (...) {
    write_all("gapscope: ");
    write_all(kOutOfMemory);
    write_all("\n");
  }
}

void end_with_a_sentence_when_memory_ends() noexcept {
  std::set_terminate(last_words);
  take_crashes_for_shortage();
}

[[gnu::noinline]] void grow_stack() noexcept {
  constexpr std::size_t kBytes = std::size_t{512} << 10;
  std::array<volatile char, kBytes> room;
  for (std::size_t i = 0; i < kBytes; i += 4096) room[kBytes - 1 - i] = 0;
}

}  // namespace gapscope
