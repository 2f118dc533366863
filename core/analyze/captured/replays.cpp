#include "core/analyze/captured/replays.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/analyze/captured/captures.h"
#include "core/analyze/inference/serving_passes.h"

namespace gapscope {
namespace {

// The work of each graph launch, in order of begin; launches in order of begin.
struct Replay {
  SliceId launch;
  std::vector<std::uint32_t> work;
};

std::vector<Replay> replays_of(const Trace& trace) {
  std::unordered_map<std::uint32_t, bool> known;
  std::unordered_map<std::uint64_t, std::size_t> by_correlation;
  std::vector<Replay> replays;
  for (const Call& call : trace.calls) {
    const auto [launches, is_new] = known.try_emplace(trace.name_id(call.slice).value, false);
    if (is_new) launches->second = is_graph_launch_name(trace.name(call.slice));
    if (launches->second && call.correlation != 0 && by_correlation.try_emplace(call.correlation, replays.size()).second)
      replays.push_back({call.slice, {}});
  }
  if (replays.empty()) return replays;
  for (std::uint32_t g = 0; g < trace.gpu.size(); ++g) {
    if (!is_gpu_work(trace.kind(trace.gpu[g].slice))) continue;
    const auto at = by_correlation.find(trace.gpu[g].correlation);
    if (at != by_correlation.end()) replays[at->second].work.push_back(g);
  }
  std::erase_if(replays, [](const Replay& replay) { return replay.work.empty(); });
  for (Replay& replay : replays)
    std::stable_sort(replay.work.begin(), replay.work.end(), [&](std::uint32_t a, std::uint32_t b) {
      return trace.begin(trace.gpu[a].slice) < trace.begin(trace.gpu[b].slice);
    });
  std::stable_sort(replays.begin(), replays.end(),
                   [&](const Replay& a, const Replay& b) { return trace.begin(a.launch) < trace.begin(b.launch); });
  return replays;
}

ReplayedNode node_of(const Trace& trace, std::uint32_t g) {
  const GpuRow& row = trace.gpu[g];
  return {trace.name_id(row.slice), node_letter(trace.kind(row.slice)), row.stream, row.graph_node_id, {}};
}

// Of the pass that holds `t`; 0 where none does, or where it does not state its tokens.
std::int64_t tokens_at(const Trace& trace, const std::vector<ServingPass>& passes, Ns t) {
  auto at = std::upper_bound(passes.begin(), passes.end(), t,
                             [&](Ns time, const ServingPass& pass) { return time < trace.begin(pass.slice); });
  return at != passes.begin() && trace.span_of((--at)->slice).contains(t) && at->step.knows_tokens ? at->step.tokens() : 0;
}

}  // namespace

std::uint64_t ReplayedGraph::pieces() const {
  std::uint64_t pieces = 0;
  for (const ReplayedNode& node : nodes) pieces += node.work.size();
  return pieces;
}

std::vector<ReplayedGraph> replayed_graphs(const Trace& trace) {
  std::map<std::uint64_t, std::map<std::uint64_t, ReplayedNode>> by_id;  // graph, node
  std::map<std::uint64_t, ReplayedGraph> with_ids;
  std::map<std::uint64_t, SliceId> last_launch;
  std::vector<ReplayedGraph> graphs;
  const std::vector<Replay> replays = replays_of(trace);
  if (replays.empty()) return graphs;
  const std::vector<ServingPass> passes = serving_passes(trace);
  for (const Replay& replay : replays) {
    const std::int64_t tokens = tokens_at(trace, passes, trace.begin(replay.launch));
    ReplayedGraph alone{replay.launch, 1, {}, false, true, tokens};
    for (const std::uint32_t g : replay.work) {
      const GpuRow& row = trace.gpu[g];
      const bool has_id = row.graph_node_id != 0;
      ReplayedNode node = node_of(trace, g);
      ReplayedNode& into =
          has_id ? by_id[row.graph_id].try_emplace(row.graph_node_id, node).first->second : alone.nodes.emplace_back(node);
      into.work.push_back(g);
      if (!has_id) {
        alone.one_stream = alone.one_stream && into.stream == alone.nodes.front().stream;
        continue;
      }
      ReplayedGraph& graph =
          with_ids.try_emplace(row.graph_id, ReplayedGraph{replay.launch, 0, {}, true, true, tokens}).first->second;
      SliceId& last = last_launch[row.graph_id];
      graph.launches += last == replay.launch ? 0 : 1;
      last = replay.launch;
    }
    if (!alone.nodes.empty()) graphs.push_back(std::move(alone));
  }
  std::vector<ReplayedGraph> all;
  for (auto& [id, graph] : with_ids) {
    for (auto& [node_id, node] : by_id[id]) {
      graph.one_stream = graph.one_stream && (graph.nodes.empty() || node.stream == graph.nodes.front().stream);
      graph.nodes.push_back(std::move(node));
    }
    all.push_back(std::move(graph));
  }
  std::move(graphs.begin(), graphs.end(), std::back_inserter(all));
  return all;
}

}  // namespace gapscope
