#pragma once
// How busy GPU and CPU are over the whole trace, in equal parts of time. Worked out once for a document, in a pass over its
// slices.
#include <cstddef>
#include <vector>

namespace gapscope {

struct Document;

constexpr int kOverviewParts = 2048;  // finer than a screen is wide

struct BusyStrips {
  std::vector<float> gpu;  // 0..1, of the busiest stream; empty without GPU work
  std::vector<float> cpu;  // 0..1, operators and calls of the busiest thread; empty without any
  // 0..1 of `gpu`: communication without concurrent computing. Empty until there is an account.
  std::vector<float> communication;
};

BusyStrips busy_strips(const Document& document);
// Once the document has an account: a GPU that waits for other ranks is busy, but not with the program's own work.
void add_communication(const Document& document, BusyStrips& strips);
// The mean over parts [from, to) of `strip` scaled to 0..1, at least one part.
float mean_of(const std::vector<float>& strip, double from, double to);

}  // namespace gapscope
