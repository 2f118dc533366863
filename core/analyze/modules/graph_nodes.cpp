#include "core/analyze/modules/graph_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/analyze/gpu/launches.h"

namespace gapscope {
namespace {

char letter_of(Kind kind) { return kind == Kind::memcpy ? 'c' : kind == Kind::memset ? 's' : 'k'; }

// A call's part in capturing: 'k', 'c' or 's' for the node that it makes, '<' and '>' around a capture, ' ' for others.
char part_of(std::string_view name) {
  if (name.ends_with("StreamBeginCapture") || name.find("StreamBeginCaptureTo") != std::string_view::npos) return '<';
  if (name.ends_with("StreamEndCapture")) return '>';
  if (is_kernel_launch_name(name)) return 'k';
  const bool is_async = name.find("Async") != std::string_view::npos;
  if (is_async && name.find("Memcpy") != std::string_view::npos) return 'c';
  if (is_async && name.find("Memset") != std::string_view::npos) return 's';
  return ' ';
}

struct CapturingCall {
  SliceId call;
  char part;
};
struct Session {
  std::vector<SliceId> calls;
  std::string kinds;
};

std::vector<CapturingCall> capturing_calls(const Trace& trace) {
  std::unordered_map<std::uint32_t, char> known;
  std::vector<CapturingCall> calls;
  bool any = false;
  for (const Call& call : trace.calls) {
    const StringId name = trace.name_id(call.slice);
    const auto [part, is_new] = known.try_emplace(name.value, ' ');
    if (is_new) part->second = part_of(trace.strings[name]);
    if (part->second != ' ') calls.push_back({call.slice, part->second});
    any = any || part->second == '<';
  }
  if (!any) return {};
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const CapturingCall& a, const CapturingCall& b) { return trace.begin(a.call) < trace.begin(b.call); });
  return calls;
}

std::vector<Session> capture_sessions(const Trace& trace, const LinkIndex& links) {
  std::vector<Session> sessions;
  std::optional<LaneId> capturing;
  for (const auto& [call, part] : capturing_calls(trace)) {
    if (part == '<') {
      if (!capturing) sessions.emplace_back();
      if (!capturing) capturing = trace.lane_id(call);
    } else if (part == '>') {
      if (capturing && *capturing == trace.lane_id(call)) capturing.reset();
    } else if (capturing && links.launched_by(call).empty()) {
      sessions.back().calls.push_back(call);
      sessions.back().kinds += part;
    }
  }
  return sessions;
}

}  // namespace

bool is_graph_launch_name(std::string_view name) { return name.find("GraphLaunch") != std::string_view::npos; }

GraphNodes::GraphNodes(const Trace& trace, const std::vector<GpuOp>& ops) {
  std::unordered_map<std::uint32_t, bool> known;
  std::map<SliceId, std::vector<std::uint32_t>> replays;  // by launch
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].linked()) continue;
    const auto [is_replay, is_new] = known.try_emplace(trace.name_id(ops[i].launch).value, false);
    if (is_new) is_replay->second = is_graph_launch_name(trace.name(ops[i].launch));
    if (is_replay->second) replays[ops[i].launch].push_back(i);
  }
  if (replays.empty()) return;
  node_of_.assign(ops.size(), kNone);
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint32_t>> by_id;  // graph, node
  std::map<std::vector<StringId>, std::size_t> by_names;                  // of work without ids: the graph
  for (const auto& [launch, work] : replays) {
    std::vector<StringId> names;
    std::vector<std::uint32_t> without_id;
    for (const std::uint32_t i : work) {
      const GpuRow& row = trace.gpu[ops[i].gpu_row];
      if (row.graph_node_id == 0) {
        names.push_back(trace.name_id(ops[i].slice));
        without_id.push_back(i);
        continue;
      }
      const auto [node, is_new] = by_id[row.graph_id].try_emplace(row.graph_node_id, nodes_.size());
      if (is_new) nodes_.push_back({row.graph_node_id, trace.kind(ops[i].slice)});
      node_of_[i] = node->second;
    }
    if (without_id.empty()) continue;
    const auto [graph, is_new] = by_names.try_emplace(std::move(names), graphs_.size());
    if (is_new) add_replay(trace, ops, without_id);
    for (std::size_t k = 0; k < without_id.size(); ++k) {
      node_of_[without_id[k]] = graphs_[graph->second].nodes[k];
      if (ops[without_id[k]].stream != ops[without_id[0]].stream) graphs_[graph->second].in_order = false;
    }
  }
  for (const auto& [id, nodes] : by_id) {
    Graph& graph = graphs_.emplace_back();
    graph.has_ids = true;
    for (const auto& [node_id, node] : nodes) graph.nodes.push_back(node);
  }
}

void GraphNodes::add_replay(const Trace& trace, const std::vector<GpuOp>& ops, const std::vector<std::uint32_t>& work) {
  Graph& graph = graphs_.emplace_back();
  for (const std::uint32_t i : work) {
    graph.nodes.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back({0, trace.kind(ops[i].slice)});
  }
}

std::string GraphNodes::kinds_of(const Graph& graph) const {
  std::string kinds;
  for (const std::uint32_t node : graph.nodes) kinds += letter_of(nodes_[node].kind);
  return kinds;
}

void GraphNodes::match_places(const Trace& capture, const LinkIndex& links, bool is_named, std::vector<SliceId>& found) const {
  struct Alike {
    std::vector<const Graph*> graphs;
    std::vector<const Session*> sessions;
  };
  const std::vector<Session> sessions = capture_sessions(capture, links);
  if (sessions.empty()) return;
  std::map<std::string, Alike> alike;
  for (const Session& session : sessions) alike[session.kinds].sessions.push_back(&session);
  for (const Graph& graph : graphs_)
    if (graph.has_ids || (is_named && graph.in_order)) alike[kinds_of(graph)].graphs.push_back(&graph);
  for (const auto& [kinds, both] : alike) {
    if (both.graphs.size() != both.sessions.size()) continue;
    for (std::size_t g = 0; g < both.graphs.size(); ++g)
      for (std::size_t k = 0; k < kinds.size(); ++k)
        if (SliceId& call = found[both.graphs[g]->nodes[k]]; !call) call = both.sessions[g]->calls[k];
  }
}

std::vector<SliceId> GraphNodes::captured_by(const Trace& capture, const LinkIndex& links, const NodeIdOf& id_of,
                                             bool is_named) const {
  std::vector<SliceId> found(nodes_.size());
  if (nodes_.empty()) return found;
  std::unordered_map<std::uint64_t, SliceId> by_id;
  for (const GpuRow& row : capture.gpu)
    if (row.graph_node_id != 0)
      if (const SliceId call = links.call_of(row); call && !is_graph_launch_name(capture.name(call)))
        by_id.try_emplace(row.graph_node_id, call);
  if (id_of)
    for (const Session& session : capture_sessions(capture, links))
      for (const SliceId call : session.calls)
        if (const std::uint64_t id = id_of(call); id != 0) by_id.try_emplace(id, call);
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (const auto known = by_id.find(nodes_[n].id); nodes_[n].id != 0 && known != by_id.end()) found[n] = known->second;
  match_places(capture, links, is_named, found);
  return found;
}

}  // namespace gapscope
