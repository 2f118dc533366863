#pragma once
// A set of spans for keeping, not for asking: each span as its distance from the one before and its length, in as many bytes as
// these need (seven bits a byte). Of what GPUs do that is four or five bytes a span in place of sixteen, exact for any time.
#include <cstdint>
#include <vector>

#include "core/base/span_set.h"

namespace gapscope {

class PackedSpans {
 public:
  PackedSpans() = default;
  explicit PackedSpans(const SpanSet& set);

  SpanSet unpacked() const;  // linear

  std::vector<std::uint8_t> bytes;  // what is sent to another process
};

}  // namespace gapscope
