#include <cstdlib>

#include "app/cli/command_line.h"
#include "core/base/failure.h"
#include "core/base/parallel.h"

namespace {

int run(int argc, char** argv) noexcept {
  using namespace gapscope;
  end_with_a_sentence_when_memory_ends();
  grow_stack();
  try {
    return run_command_line({argv + 1, argv + argc});
  } catch (...) {
    say_on_stderr(current_failure("go on").message);
    return kBadInput;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  // What a thread that hangs in a file system uses must not be taken down under it.
  if (gapscope::LooseThread::left_behind() > 0) std::_Exit(code);
  return code;
}
