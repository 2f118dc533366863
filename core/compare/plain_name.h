#pragma once
// Names without what differs between two recordings of the same program: numbers of steps, compiled regions and generated
// kernels, hashes of graphs, ordinals of C++ lambdas, the spelling of launch calls.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

std::string plain_name(std::string_view name, Kind kind);
inline bool is_compiled_region_name(std::string_view name) { return name.starts_with("Torch-Compiled Region"); }

// A hash of plain_name(), worked out once a name. Equal texts of two traces have equal keys.
class PlainNameKeys {
 public:
  explicit PlainNameKeys(const Trace& trace) : trace_(trace), keys_(trace.strings.size() * 2, 0) {}
  std::uint64_t key(SliceId slice);

 private:
  const Trace& trace_;
  std::vector<std::uint64_t> keys_;  // by name, and whether it names a call; 0: not yet
};

}  // namespace gapscope
