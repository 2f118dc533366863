#pragma once
// JSON from anywhere, but for traces, which the loader reads. Within limits: copying and writing such a value takes stack by
// its depth, and each member of an object is compared with all others of it.
#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"

namespace gapscope {

struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;  // of the text
  std::size_t depth = 64;                     // of values within values
  std::size_t members = 10'000;               // of one object
};

// The value that `text` is, whole. The Error is the rest of a sentence: "no JSON", "JSON that is nested deeper than 64 levels".
Result<nlohmann::ordered_json> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace gapscope
