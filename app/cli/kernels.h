#pragma once
// `gapscope kernels TRACE`: GPU work by name, with what the names tell and how well each fits the GPU.
#include <limits>
#include <optional>
#include <string>

#include "core/base/time.h"

namespace gapscope {

struct KernelsOptions {
  std::string trace;
  bool json = false;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  std::string sort = "total";  // id of a column
  std::optional<Span> range;
};

int kernels(const KernelsOptions& options);

}  // namespace gapscope
