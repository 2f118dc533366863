#pragma once
// Counters' means as people and JSON read them: one list for the command, the window and `why`.
#include <span>
#include <string>
#include <string_view>

#include "core/analyze/counters/gpu_counters.h"

namespace gapscope {

struct CounterWord {
  CounterKind kind;
  const char *key, *title, *unit, *help;
};
// In the order in which they are reported.
std::span<const CounterWord> counter_words();

// "93.2 %", "1,244 GB/s"; empty where the means do not say.
std::string counter_value(const CounterMeans& means, const CounterWord& word);
// "12 samples", "1 sample"; whole ones.
std::string samples_text(const CounterMeans& means);
// "SM active 93.2 %, tensor pipe 60.0 %, DRAM 38.9 % of peak": what shows how well time was used; empty where nothing is known.
std::string use_text(const CounterMeans& means);

}  // namespace gapscope
