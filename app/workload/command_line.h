#pragma once
// The words of gapscope-workload's command line, made into Options.
#include <string>
#include <variant>
#include <vector>

#include "app/workload/options.h"

namespace gapscope::workload {

// Nothing is to be run: --help's text with exit code 0, or a sentence that says what is wrong with exit code 2.
struct Answer {
  std::string text;
  int exit_code = 0;
};

std::variant<Options, Answer> parse_command_line(std::vector<std::string> arguments);

}  // namespace gapscope::workload
