#pragma once
// A trace together with the recordings in which the graphs that it replays were captured (core/analyze/captured).
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/load/load_trace.h"

namespace gapscope {

// load_trace(), joined with captures: those of the trace itself, and `capture`, a file or a folder of them; where that is
// empty, what capture_files() finds. An Error where `capture` is given and nothing in it was replayed.
Result<std::shared_ptr<const Trace>> load_captured_trace(const std::string& path, const LoadOptions& options = {},
                                                         const std::string& capture = {});
// From now on load_captured_trace() gives this one for the same path and capture, whatever the file holds by then. What is
// stated of it is the last load's. Before anything else is loaded: one thread.
void hold_trace(std::string path, std::string capture, std::shared_ptr<const Trace> trace);
// load_captured_trace() of a trace that is loaded.
Result<std::shared_ptr<const Trace>> join_captures(std::shared_ptr<const Trace> trace, const LoadOptions& options,
                                                   const std::string& capture);

// Whether `trace` replays graphs, and `other` is a recording of a capture: then they are no pair to compare, but one to join.
bool is_capture_for(const Trace& trace, const Trace& other);

// What may hold the captures of a trace, by name: the traces in a folder capture_traces/ alongside it, files graph_capture* or
// capture_graph* alongside it, and a file of its own name with "capture" for "execution" or "replay". In order of name.
std::vector<std::string> capture_files(const std::string& trace_path);

}  // namespace gapscope
