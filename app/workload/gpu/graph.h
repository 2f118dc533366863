#pragma once
// A case's step as a CUDA graph: captured once, launched as often as one likes.
#include "app/workload/cases/case.h"

namespace gapscope::workload {

class Graph {
 public:
  // Runs the step once before it captures it, as capturing allows neither allocations nor the making of handles.
  Graph(Device& device, Case& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(Device& device);

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace gapscope::workload
