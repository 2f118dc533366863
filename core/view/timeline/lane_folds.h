#pragma once
// How a person arranged the lanes: what is folded, hidden, pinned to the top, in which order. Plain data; changed by the
// functions below; each raises `revision`, which is how the layout knows. Needs reset_folds for its document first.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

// What reset_folds() made of a lane. GPU streams with work stand above the rest, a row of kernels each.
enum class LaneRole : std::uint8_t {
  other,
  stream,
  stream_behind,  // not among the busiest of its GPU: behind the line "12 more streams"
};

struct LaneFolds {
  std::vector<LaneRole> lane_role;           // by LaneId
  std::vector<bool> process_collapsed;       // by ProcessId
  std::vector<bool> collapsed_alone;         // by ProcessId: as it was before another trace came alongside; empty while none is
  std::vector<bool> lane_collapsed;          // by LaneId
  std::vector<bool> lane_hidden;             // by LaneId
  std::vector<bool> lane_pinned;             // by LaneId: above all processes, and it stays there while the rest scrolls
  std::vector<bool> counter_collapsed;       // by position in Document::counters
  std::vector<bool> graph_streams_together;  // by ProcessId: the streams of CUDA graphs as one lane
  std::vector<bool> all_streams;             // by ProcessId: the streams behind the line are shown as well
  std::vector<bool> all_counters;            // by ProcessId: the same of counters
  std::vector<LaneId> lane_order;        // every lane once: pinned ones in this order, others in this order in their process
  std::vector<ProcessId> process_order;  // every process once
  std::string filter;                    // only lanes whose title holds it, whatever the case; empty: all
  bool python_folded = true;             // threads are shown without their Python frames, where they have any
  std::vector<bool> python_open;         // by LaneId: shown with them all the same; shorter than the lanes: not
  bool compact = false;                  // depths are thin and carry no labels
  std::uint64_t revision = 0;
};

constexpr std::size_t kStreamsAtFirst = 6;   // of a GPU; more would leave no room for the threads that feed them
constexpr std::size_t kCountersAtFirst = 4;  // of all GPUs together, and of any other process

// Everything open, GPUs first, then the processes and in them the threads that launch most, the rest in the trace's order.
// Threads that only hold Python frames (helpers that wait) are folded: a heuristic, the first slice of each depth speaks for
// it. Keeps what is not about single lanes.
void reset_folds(LaneFolds& folds, const Trace& trace);
void toggle_process(LaneFolds& folds, ProcessId process);
void toggle_lane(LaneFolds& folds, LaneId lane);
void toggle_counter(LaneFolds& folds, std::size_t counter);
void toggle_graph_streams(LaneFolds& folds, ProcessId process);
void toggle_all_streams(LaneFolds& folds, ProcessId process);
void toggle_all_counters(LaneFolds& folds, ProcessId process);
void toggle_python(LaneFolds& folds);
// The same of one thread.
bool is_python_folded(const LaneFolds& folds, LaneId lane);
void fold_python(LaneFolds& folds, LaneId lane, bool folded);
void toggle_compact(LaneFolds& folds);
void set_all_lanes(LaneFolds& folds, bool collapsed);
// Folds every lane that is no GPU stream and opens those that are; where it is so already, opens all.
void toggle_all_but_gpu(LaneFolds& folds, const Trace& trace);
// Opens the lane and its process, and shows them where they were hidden, filtered out or behind the line of more streams.
void unfold_lane(LaneFolds& folds, const Trace& trace, LaneId lane);
void set_pinned(LaneFolds& folds, LaneId lane, bool pinned);
// Alongside another trace the GPUs come first: folds the processes without GPU work, where there is any GPU work. Once, until
// unfold_after_comparison() gives them back.
void fold_for_comparison(LaneFolds& folds, const Trace& trace);
void unfold_after_comparison(LaneFolds& folds);
void hide_lane(LaneFolds& folds, LaneId lane);
void hide_process(LaneFolds& folds, const Trace& trace, ProcessId process);
void show_hidden(LaneFolds& folds);
std::size_t hidden_count(const LaneFolds& folds);
void set_filter(LaneFolds& folds, std::string filter);
// Moves `lane` to stand right before (after) `other` in the order.
void move_lane(LaneFolds& folds, LaneId lane, LaneId other, bool after);
void move_process(LaneFolds& folds, ProcessId process, ProcessId other, bool after);

}  // namespace gapscope
