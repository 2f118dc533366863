#pragma once
// A second way to read a trace: a whole-document JSON library, doubles nowhere, no cleverness. Slow; for tests.
#include <string>
#include <vector>

#include "core/base/time.h"

namespace gapscope::test {

struct NaiveSlice {
  std::string process, thread, name, category;
  Ns begin = 0, end = 0;
  friend auto operator<=>(const NaiveSlice&, const NaiveSlice&) = default;
};
struct NaiveTrace {
  std::vector<NaiveSlice> slices;  // X and matched B/E, sorted
  std::size_t events = 0;
  std::size_t flow_starts = 0, flow_ends = 0;
};

// The inflated text of a file (.json, .gz, .xz).
std::string whole_text(const std::string& path);
NaiveTrace read_naively(const std::string& json);

}  // namespace gapscope::test
