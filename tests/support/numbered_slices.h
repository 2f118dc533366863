#pragma once
// A trace whose args distinguish its slices.
#include <string>

#include <fmt/format.h>

#include "tests/support/load_text.h"

namespace gapscope::test {

// `n` slices with a distinct arg each, so that reading the wrong one shows.
inline std::string numbered_slices(int n) {
  std::string inside;
  for (int i = 0; i < n; ++i) {
    if (i > 0) inside += ",\n";
    inside += slice(fmt::format("op {}", i % 97), std::to_string(i * 10), "5",
                    fmt::format(R"(, "args": {{"number": {}, "pad": "{}"}})", i, static_cast<unsigned>(i) * 2654435761u));
  }
  return events(inside);
}

}  // namespace gapscope::test
