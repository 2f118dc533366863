#pragma once
// What the tabs have worked out elsewhere, and why something of it came to no answer: no memory, no thread. The tab says that
// in place of what is missing, with a button to try again, until it asks anew.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace gapscope {

enum class TabJob : std::uint8_t { analysis, table, kernels, steps, area, flame, search, comparison };

class TabTroubles {
 public:
  // Empty: nothing went wrong with it.
  const std::string& of(TabJob job) const { return why_[static_cast<std::size_t>(job)]; }
  void set(TabJob job, std::string sentence) { why_[static_cast<std::size_t>(job)] = std::move(sentence); }
  void clear(TabJob job) { why_[static_cast<std::size_t>(job)].clear(); }

 private:
  std::array<std::string, 8> why_;  // by TabJob
};

}  // namespace gapscope
