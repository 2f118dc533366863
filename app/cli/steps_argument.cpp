// A file of its own: gapscope-mpi has this argument and no other of arguments.cpp.
#include "app/cli/arguments.h"
#include "app/cli/in_and_out.h"

namespace gapscope {

void add_steps(CLI::App& arguments) {
  arguments
      .add_option("--steps,--annotation", trace_arguments().stated.steps,
                  "the annotation that marks a step: its name, or a regular expression for the start of its name; default: "
                  "ProfilerStep#N, else annotations that recur like steps")
      ->type_name("NAME|REGEX");
}

}  // namespace gapscope
