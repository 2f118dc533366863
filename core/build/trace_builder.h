#pragma once
// Everything parsed becomes a Trace: halves paired, lanes nested and ordered, flows bound.
// The result depends on the events alone, not on how the file was cut or how many threads helped.
#include <atomic>
#include <memory>
#include <vector>

#include "core/build/row_store.h"
#include "core/trace/trace.h"

namespace gapscope {

struct BuildInput {
  RowStore rows;  // freed on the way to save memory
  int threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  std::int32_t only_rank = -1;  // of a file of several: rows of the others are left out
};

// Fills all of `out` but path, header metadata and figures of reading; out.header must already hold the devices. False
// when cancelled.
bool build_trace(BuildInput input, Trace& out);

}  // namespace gapscope
