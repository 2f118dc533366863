#include "core/analyze/captured/captured_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/captured/alignment.h"
#include "core/analyze/modules/region_frames.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

std::string text_of(const ReplayedGraph& graph) {
  std::string text = graph.has_ids ? "ids\n" : "";
  for (const ReplayedNode& node : graph.nodes)
    text += fmt::format("{}{}:{}\n", node.letter, node.name.value, graph.one_stream ? 0 : node.stream);
  return text;
}

std::string count_words(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", format_count(static_cast<std::int64_t>(n)), n == 1 ? one : many);
}

}  // namespace

class CaptureJoin {
  struct KnownCapture {
    std::uint32_t recording;  // 0: the trace itself
    Capture capture;
  };

  struct LaunchedNode {
    std::uint32_t recording;
    SliceId call;
  };

  // Captures that one graph may be of, by position; ascending.
  struct Choice {
    std::vector<std::uint32_t> captures;
    std::string reason;  // where there is none
  };

 public:
  CaptureJoin(CapturedWork& out, const ReadNodeArgs& read) : out_(out), trace_(out.trace_) {
    graphs_ = replayed_graphs(trace_);
    if (graphs_.empty()) return;
    add_captures(trace_, 0, read);
    for (std::size_t r = 0; r < out_.others_.size(); ++r)
      add_captures(*out_.others_[r], static_cast<std::uint32_t>(r + 1), read);
  }

  void run() {
    count();
    join_launched_nodes();
    capture_of_.assign(graphs_.size(), kNone);
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> alike;  // captures: graphs
    for (std::uint32_t g = 0; g < graphs_.size(); ++g) {
      Choice choice = choice_of(graphs_[g]);
      if (choice.captures.size() == 1) capture_of_[g] = choice.captures[0];
      if (choice.captures.size() > 1) alike[choice.captures].push_back(g);
      if (choice.captures.empty()) say(choice.reason);
    }
    for (const auto& [captures, graphs] : alike) {
      if (graphs_[graphs[0]].has_ids) assign_in_order(captures, graphs);
    }
    assign_round(alike);
    join();
    report_reasons();
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void add_captures(const Trace& trace, std::uint32_t recording, const ReadNodeArgs& read) {
    for (Capture& capture : captures_of(trace, read)) captures_.push_back({recording, std::move(capture)});
    add_launched_nodes(trace, recording);
  }

  // Work with the id of a node that no graph's launch started.
  void add_launched_nodes(const Trace& trace, std::uint32_t recording) {
    std::unordered_map<std::uint64_t, std::uint64_t> node_of;  // by correlation
    for (const GpuRow& row : trace.gpu)
      if (row.graph_node_id != 0 && row.correlation != 0) node_of.emplace(row.correlation, row.graph_node_id);
    if (node_of.empty()) return;
    for (const Call& call : trace.calls) {
      const auto at = node_of.find(call.correlation);
      if (at != node_of.end() && !is_graph_launch_name(trace.name(call.slice)))
        launched_nodes_.try_emplace(at->second, LaunchedNode{recording, call.slice});
    }
  }

  void count() {
    out_.counts_.graphs = graphs_.size();
    out_.counts_.captures = captures_.size();
    for (const ReplayedGraph& graph : graphs_) out_.counts_.pieces += graph.pieces();
  }

  // Captures whose nodes are those of the graph; all of it where some are, else nine tenths.
  const Choice& alike_captures(const ReplayedGraph& graph) {
    const auto [known, is_new] = alike_.try_emplace(text_of(graph));
    Choice& choice = known->second;
    if (!is_new) return choice;
    std::size_t best = 0, nearest = kNone;
    for (std::uint32_t c = 0; c < captures_.size(); ++c) {
      const Capture& capture = captures_[c].capture;
      const Alignment found = align(trace_, graph, capture);
      if (nearest == kNone || found.matched > best) nearest = c;
      const bool by_place = !found.has_names && !graph.has_ids && captures_[c].recording == 0;
      if (found.is_capture(graph, capture) && !by_place) {
        if (found.matched > best) choice.captures.clear();
        if (found.matched >= best) choice.captures.push_back(c);
      }
      best = std::max(best, found.matched);
    }
    if (choice.captures.empty() && nearest != kNone)
      choice.reason = "the nearest capture is another: " + difference_words(trace_, graph, captures_[nearest].capture);
    return choice;
  }

  Choice choice_of(const ReplayedGraph& graph) {
    if (captures_.empty()) return {{}, "no capture is in these recordings"};
    Choice choice = alike_captures(graph);
    if (graph.tokens == 0 || choice.captures.empty()) return choice;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    std::int64_t best = kMost, largest = 0;
    for (const KnownCapture& known : captures_) {
      if (known.capture.size >= graph.tokens) best = std::min(best, known.capture.size);
      largest = std::max(largest, known.capture.size);
    }
    std::erase_if(choice.captures, [&](std::uint32_t c) {
      const std::int64_t size = captures_[c].capture.size;
      return size != 0 && size != best;
    });
    if (choice.captures.empty() && best == kMost)
      choice.reason = fmt::format("it ran for {} tokens, and the largest capture is for {}", graph.tokens, largest);
    else if (choice.captures.empty())
      choice.reason = fmt::format("it ran for {} tokens, and what is captured for {} is another graph", graph.tokens, best);
    return choice;
  }

  // Graphs with ids, in the order of these.
  void assign_in_order(const std::vector<std::uint32_t>& captures, const std::vector<std::uint32_t>& graphs) {
    if (graphs.size() == captures.size()) {
      for (std::size_t k = 0; k < graphs.size(); ++k) capture_of_[graphs[k]] = captures[k];
      return;
    }
    say(fmt::format("{} captures are alike and {} graphs are, so which is whose is not known", captures.size(), graphs.size()),
        graphs.size());
  }

  // Launches without ids, in the order of time, of one round of captures each: of one recording, for one size.
  void assign_round(const std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>>& alike) {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<std::uint32_t>> rounds;  // recording and size: graphs
    std::vector<const std::vector<std::uint32_t>*> choices(graphs_.size(), nullptr);
    for (const auto& [captures, graphs] : alike)
      for (const std::uint32_t g : graphs)
        if (!graphs_[g].has_ids) choices[g] = &captures;
    for (std::uint32_t g = 0; g < graphs_.size(); ++g) {
      if (graphs_[g].has_ids) continue;
      const std::uint32_t first = choices[g] != nullptr ? choices[g]->front() : capture_of_[g];
      if (first != kNone) rounds[{captures_[first].recording, captures_[first].capture.size}].push_back(g);
    }
    for (const auto& [of, graphs] : rounds) {
      if (std::none_of(graphs.begin(), graphs.end(), [&](std::uint32_t g) { return choices[g] != nullptr; })) continue;
      go_round(of.first, of.second, graphs, choices);
    }
  }

  void go_round(std::uint32_t recording, std::int64_t size, const std::vector<std::uint32_t>& graphs,
                const std::vector<const std::vector<std::uint32_t>*>& choices) {
    std::vector<std::uint32_t> round;
    for (std::uint32_t c = 0; c < captures_.size(); ++c)
      if (captures_[c].recording == recording && captures_[c].capture.size == size) round.push_back(c);
    const auto fits = [&](std::size_t phase) {
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        const std::uint32_t capture = round[(i + phase) % round.size()];
        const std::vector<std::uint32_t>* may = choices[graphs[i]];
        if (may == nullptr ? capture != capture_of_[graphs[i]] : !std::binary_search(may->begin(), may->end(), capture))
          return false;
      }
      return true;
    };
    std::vector<std::size_t> phases;
    for (std::size_t phase = 0; phase < round.size(); ++phase)
      if (fits(phase)) phases.push_back(phase);
    const bool whole = graphs.size() % round.size() == 0;
    if (phases.size() == 1 || (!phases.empty() && phases.front() == 0 && whole)) {
      for (std::size_t i = 0; i < graphs.size(); ++i) capture_of_[graphs[i]] = round[(i + phases.front()) % round.size()];
      return;
    }
    for (const std::uint32_t g : graphs)
      if (choices[g] != nullptr)
        say(fmt::format("{} captures are alike, and the order of the replays does not show which is whose",
                        choices[g]->size()));
  }

  void join() {
    std::map<std::uint32_t, std::vector<SliceId>> operators;  // by capture
    for (std::uint32_t g = 0; g < graphs_.size(); ++g) {
      if (capture_of_[g] == kNone) continue;
      const KnownCapture& known = captures_[capture_of_[g]];
      const Trace& recording = recording_of(known.recording);
      const auto [ops, is_new] = operators.try_emplace(capture_of_[g]);
      if (is_new) ops->second = operators_of_calls(recording, known.capture.calls);
      join_graph(graphs_[g], known, ops->second);
    }
    std::sort(out_.entries_.begin(), out_.entries_.end(),
              [](const CapturedWork::Entry& a, const CapturedWork::Entry& b) { return a.work < b.work; });
    out_.counts_.joined = out_.entries_.size();
    std::vector<bool> used(out_.others_.size() + 1, false);
    for (const CapturedWork::Entry& entry : out_.entries_) used[entry.recording] = true;
    for (std::size_t r = 0; r < out_.others_.size(); ++r)
      if (!used[r + 1]) out_.others_[r] = nullptr;
  }

  // These leave their graph, so that its other nodes are compared with captures.
  void join_launched_nodes() {
    if (launched_nodes_.empty()) return;
    for (ReplayedGraph& graph : graphs_) {
      std::erase_if(graph.nodes, [&](const ReplayedNode& node) {
        const auto at = launched_nodes_.find(node.id);
        if (node.id == 0 || at == launched_nodes_.end()) return false;
        const Trace& recording = recording_of(at->second.recording);
        const SliceId op = operators_of_calls(recording, {at->second.call}).front();
        for (const std::uint32_t g : node.work)
          out_.entries_.push_back({trace_.gpu[g].slice, at->second.recording, at->second.call, op});
        return true;
      });
      out_.counts_.joined_graphs += graph.nodes.empty() ? 1 : 0;
    }
    std::erase_if(graphs_, [](const ReplayedGraph& graph) { return graph.nodes.empty(); });
  }

  const Trace& recording_of(std::uint32_t recording) const { return recording == 0 ? trace_ : *out_.others_[recording - 1]; }

  void join_graph(const ReplayedGraph& graph, const KnownCapture& known, const std::vector<SliceId>& operators) {
    const Alignment found = align(trace_, graph, known.capture);
    ++out_.counts_.joined_graphs;
    out_.counts_.padded += graph.tokens != 0 && known.capture.size > graph.tokens ? 1 : 0;
    std::size_t left = 0;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const std::uint32_t c = found.call_of[n];
      left += c == kNone ? 1 : 0;
      if (c == kNone) continue;
      for (const std::uint32_t g : graph.nodes[n].work)
        out_.entries_.push_back({trace_.gpu[g].slice, known.recording, known.capture.calls[c], operators[c]});
      if (!found.has_names) out_.counts_.by_order += graph.nodes[n].work.size();
    }
    const std::size_t spare = known.capture.calls.size() - found.matched;
    if (left + spare > 0)
      ++reasons_[fmt::format("{} of it and {} of its capture have no partner", count_words(left, "piece", "pieces"),
                             count_words(spare, "launch", "launches"))];
  }

  void say(const std::string& reason, std::uint64_t graphs = 1) { reasons_[reason] += graphs; }

  void report_reasons() {
    for (const auto& [reason, graphs] : reasons_)
      out_.reasons_.push_back(fmt::format("Of {}: {}.", count_words(graphs, "graph", "graphs"), reason));
  }

  CapturedWork& out_;
  const Trace& trace_;
  std::vector<ReplayedGraph> graphs_;
  std::vector<KnownCapture> captures_;
  std::unordered_map<std::uint64_t, LaunchedNode> launched_nodes_;  // by `graph node id`
  std::map<std::string, Choice> alike_;                             // by the graph's text
  std::vector<std::uint32_t> capture_of_;                           // by graph
  std::map<std::string, std::uint64_t> reasons_;                    // with the graphs that each is said of
};

CapturedWork::CapturedWork(const Trace& trace, std::vector<std::shared_ptr<const Trace>> others, const ReadNodeArgs& read)
    : trace_(trace), others_(std::move(others)) {
  CaptureJoin(*this, read).run();
}

CapturedWork::Call CapturedWork::of(SliceId gpu_slice) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), gpu_slice,
                                   [](const Entry& entry, SliceId slice) { return entry.work < slice; });
  if (at == entries_.end() || at->work != gpu_slice) return {};
  return {at->recording == 0 ? &trace_ : others_[at->recording - 1].get(), at->call, at->op};
}

std::vector<const Trace*> CapturedWork::recordings() const {
  std::set<std::uint32_t> used;
  for (const Entry& entry : entries_) used.insert(entry.recording);
  std::vector<const Trace*> out;
  for (const std::uint32_t r : used) out.push_back(r == 0 ? &trace_ : others_[r - 1].get());
  return out;
}

OperatorCall operator_call(const Trace& trace, const LinkIndex& links, const CapturedWork* captured, const GpuRow& row) {
  if (captured != nullptr)
    if (const CapturedWork::Call by = captured->of(row.slice)) return {by.trace, by.call, by.op, true};
  return {&trace, links.call_of(row), links.owner_op(row), false};
}

CallPlace place_of_call(const Trace& trace, SliceId call) {
  CallPlace place;
  for (const SliceId slice : slices_around(trace, call)) {
    if (trace.kind(slice) != Kind::python) continue;
    const std::string_view name = trace.name(slice), module = module_instance(name);
    if (!module.empty()) place.module += fmt::format("{}{}", place.module.empty() ? "" : " / ", module);
    const bool of_library = name.starts_with("torch/") || name.starts_with("triton/");
    if (name.find(".py(") != std::string_view::npos && (!of_library || place.python.empty())) place.python = name;
  }
  return place;
}

std::string captured_text(const CapturedWork& work) {
  const CapturedWork::Counts& n = work.counts();
  if (n.graphs == 0) return {};
  const std::string whole = fmt::format("{} of GPU work in {}", count_words(n.pieces, "piece", "pieces"),
                                        count_words(n.graphs, "replayed graph", "replayed graphs"));
  if (n.joined == 0) return fmt::format("{}: none is joined with what captured it", whole);
  std::string where;
  for (const Trace* recording : work.recordings()) where += (where.empty() ? "" : ", ") + printable(recording->path);
  return fmt::format("{}: {} joined with what captured {}, in {}{}", whole,
                     n.joined == n.pieces ? "all are" : count_words(n.joined, "is", "are"), n.joined == 1 ? "it" : "them",
                     where, n.by_order > 0 ? ", by order alone, since the calls there state no kernels" : "");
}

}  // namespace gapscope
