// A file of its own: gapscope-mpi has this argument and no other of arguments.cpp.
#include "app/cli/arguments.h"
#include "core/analyze/named_steps.h"

namespace gapscope {

void add_steps(CLI::App& arguments) {
  arguments
      .add_option_function<std::string>(
          "--steps,--annotation", [](const std::string& name) { state_steps(name); },
          "what marks a step: the name of an annotation, or a regular expression that its beginning matches; without it "
          "ProfilerStep#N, or else what recurs as steps do")
      ->type_name("NAME|REGEX");
}

}  // namespace gapscope
