#pragma once
// GPU work that replays of CUDA graphs started, and the calls that captured it. A replay has one launch for all of its work;
// who asked for a piece of it stands where the graph was captured: in the same recording or in another one of the process.
//
// A node is captured by
//  - the launch, other than of a graph, of GPU work with the same `graph node id`;
//  - else the captured call with the same `graph node id` (see NodeIdOf);
//  - else, graph by graph, by its place: a capture (from *StreamBeginCapture to *StreamEndCapture of a thread, calls of all
//    threads that started no work) whose kernels, copies and fills follow each other as those of the graph do, in the order of
//    its `graph node id`. Where more graphs or more captures are alike than the other, none of them is told.
// Work without `graph node id` is told by its place too where a capture was named: in the order of begin, if it ran on one
// stream.
#include <cstdint>
#include <functional>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"

namespace gapscope {

class GraphNodes {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // "graph node id" of a call, which the columns of a trace do not keep; 0 where it has none.
  using NodeIdOf = std::function<std::uint64_t(SliceId call)>;

  // `ops`: gpu_ops() of the trace.
  GraphNodes(const Trace& trace, const std::vector<GpuOp>& ops);

  // Node of the work at a position of `ops`; kNone for what no graph's launch started.
  std::uint32_t node_of(std::size_t op) const { return node_of_.empty() ? kNone : node_of_[op]; }
  std::size_t size() const { return nodes_.size(); }
  // The calls of the recording `capture` that captured the nodes, by node; none where it is not told.
  std::vector<SliceId> captured_by(const Trace& capture, const LinkIndex& links, const NodeIdOf& id_of, bool is_named) const;

 private:
  struct Node {
    std::uint64_t id = 0;
    Kind kind = Kind::kernel;
  };
  struct Graph {
    std::vector<std::uint32_t> nodes;  // as they were captured
    bool has_ids = false, in_order = true;
  };
  void add_replay(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<std::uint32_t>& work);
  std::string kinds_of(const Graph& graph) const;
  void match_places(const Trace& capture, const LinkIndex& links, bool is_named, std::vector<SliceId>& found) const;

  std::vector<std::uint32_t> node_of_;
  std::vector<Node> nodes_;
  std::vector<Graph> graphs_;
};

// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch.
bool is_graph_launch_name(std::string_view call_name);

}  // namespace gapscope
