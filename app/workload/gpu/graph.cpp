#include "app/workload/gpu/graph.h"

namespace gapscope::workload {

Graph::Graph(Device& device, Case& work) {
  work.step(device);
  device.synchronize();
  check(cudaStreamBeginCapture(device.stream(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  work.step(device);
  check(cudaStreamEndCapture(device.stream(), &graph_), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
}

Graph::~Graph() {
  if (executable_) cudaGraphExecDestroy(executable_);
  if (graph_) cudaGraphDestroy(graph_);
}

void Graph::launch(Device& device) { check(cudaGraphLaunch(executable_, device.stream()), "cudaGraphLaunch"); }

}  // namespace gapscope::workload
