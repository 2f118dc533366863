#pragma once
// Where graphs were captured: the calls between a stream's begin and end of a capture, which start no work but make the nodes
// of a graph (cudaStreamBeginCapture, cudaStreamEndCapture; hip's likewise).
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

// What the args of a capturing call state of the node it makes.
struct NodeArgs {
  std::string kernel;         // "kernel": ROCm writes its name; empty where there is none
  std::uint64_t node_id = 0;  // "graph node id"; 0 where there is none
};
// Of calls of a trace, read from its file; one each, in their order.
using ReadNodeArgs = std::function<std::vector<NodeArgs>(const Trace& trace, const std::vector<SliceId>& calls)>;

// 'k', 'c' or 's': a node that runs a kernel, copies or sets.
char node_letter(Kind kind);

struct Capture {
  SliceId begin;
  std::vector<SliceId> calls;  // in time order
  std::string kinds;           // node_letter() of each
  std::int64_t size = 0;       // tokens, where an annotation around it states them (captured_size); else 0
  std::vector<NodeArgs> args;  // of each call
};
// In time order. `read` may be empty: then nothing is known of the args.
std::vector<Capture> captures_of(const Trace& trace, const ReadNodeArgs& read = {});

// Whether a recording is one of a capture: more launches in it made nodes of graphs than it holds pieces of GPU work, so how
// busy the GPU was says nothing. `calls`: 0 where it is none.
struct CaptureRecording {
  std::size_t calls = 0;     // kernels, copies and fills captured
  std::size_t captures = 0;  // graphs
  std::size_t gpu_work = 0;  // kernels, copies and fills that ran
  explicit operator bool() const { return calls > gpu_work; }
};
CaptureRecording capture_recording(const Trace& trace);
// "a recording of a graph capture: 421 launches made nodes of 1 graph, and only 10 pieces of work ran on the GPU".
std::string capture_words(const CaptureRecording& recording);

// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch.
bool is_graph_launch_name(std::string_view call_name);

// The operator or annotation that owns each call: by its External id, else the innermost one around its begin. None if neither.
std::vector<SliceId> operators_of_calls(const Trace& trace, const std::vector<SliceId>& calls);
// The slices of a call's lane around its begin, outermost first; the call not.
std::vector<SliceId> slices_around(const Trace& trace, SliceId call);

}  // namespace gapscope
