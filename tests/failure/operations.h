#pragma once
// What is run while memory fails, by name.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace gapscope::test {

struct Operation {
  // Says what went wrong, or throws.
  std::function<std::optional<Error>()> run;
  // When memory is there again: what is wrong with what the run left behind. May be empty.
  std::function<std::optional<Error>(bool succeeded)> wrong = {};
};

// Each made ready for a trace: a file, or a tiny one when empty.
const std::map<std::string, std::function<Operation(const std::string& trace)>>& operations();

}  // namespace gapscope::test
