#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "app/cli/command_line.h"
#include "core/base/address.h"
#include "core/base/failure.h"
#include "core/base/parallel.h"
#include "core/base/temporary_file.h"

namespace {

// A program started without standard files would give their numbers to files of its own, and then print into those.
void hold_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0)
      ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the wrong way round: using it fails, as before
}

void ignore(int) {}

int run(int argc, char** argv) noexcept {
  using namespace gapscope;
  end_with_a_sentence_when_memory_ends();
  grow_stack();
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    for (std::string& argument : arguments) argument = without_file_scheme(argument);
    return run_command_line(std::move(arguments));
  } catch (...) {
    say_on_stderr(current_failure("continue").message);
    return kBadInput;
  }
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_files();
  std::signal(
      SIGXFSZ,
      ignore);  // a limit on the size of files is an error like others; a handler is not passed on to programs that we start
  gapscope::remove_temporaries_when_killed();
  int code = run(argc, argv);
  // Some file systems report only now that there was no room.
  if (std::fclose(stdout) != 0) {
    std::fprintf(stderr, "gapscope: standard output cannot be written: %s.\n", std::strerror(errno));
    code = gapscope::kBadInput;
  }
  // What a thread that hangs in a file system uses must not be taken down under it.
  if (gapscope::LooseThread::left_behind() > 0) std::_Exit(code);
  return code;
}
