#pragma once
// `gapscope kernels TRACE`: GPU work by name, with what the names tell and how well each fits the GPU.
#include <limits>
#include <optional>
#include <string>

#include "core/analyze/gpu/kernel_table.h"

namespace gapscope {

struct KernelsOptions {
  std::string trace;
  bool json = false;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  KernelSort sort = KernelSort::total;
  std::optional<Span> range;
};

int kernels(const KernelsOptions& options);
std::string kernels_json(const Trace& trace, const KernelTable& table, std::size_t limit);
// What there is to say when there is no row.
std::string no_kernels_sentence(const KernelTable& table);

}  // namespace gapscope
