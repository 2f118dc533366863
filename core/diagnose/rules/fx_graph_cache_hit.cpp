#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastCalls = 2;  // one call proves nothing
constexpr std::size_t kShownHashes = 3;
constexpr std::size_t kShownLetters = 12;  // enough to find the folder

constexpr std::string_view kCall = "## Call CompiledFxGraph ";

struct Graph {
  std::string_view hash;
  std::size_t calls = 0;
};

std::vector<Graph> graphs_of(const Facts& facts, const std::vector<SliceId>& calls) {
  std::vector<Graph> graphs;
  for (const SliceId s : calls) {
    std::string_view hash = facts.trace.name(s).substr(kCall.size());
    hash = hash.substr(0, hash.find(' '));
    auto at = std::find_if(graphs.begin(), graphs.end(), [&](const Graph& g) { return g.hash == hash; });
    if (at == graphs.end()) at = graphs.insert(graphs.end(), {hash, 0});
    ++at->calls;
  }
  std::stable_sort(graphs.begin(), graphs.end(), [](const Graph& a, const Graph& b) { return a.calls > b.calls; });
  return graphs;
}

std::vector<Finding> check_fx_graph_cache_hit(const Facts& facts) {
  std::vector<SliceId> calls = cpu_slices_called(facts, kCall, kIsCompiledGraph);
  const std::vector<Graph> graphs = graphs_of(facts, calls);
  if (graphs.empty() || graphs.front().calls < kLeastCalls) return {};
  Finding finding;
  EvidenceMap hashes;
  for (std::size_t i = 0; i < std::min(kShownHashes, graphs.size()); ++i)
    hashes.emplace_back(printable(graphs[i].hash.substr(0, kShownLetters)), graphs[i].calls);
  const std::string most = shown_name(graphs.front().hash);
  if (graphs.size() == 1)
    finding.summary = fmt::format("The only compiled graph, {}, was called {}.", most, often(calls.size()));
  else if (graphs.front().calls == graphs.back().calls)
    finding.summary =
        fmt::format("{} were called {} each.", counted(graphs.size(), "compiled graph"), often(graphs.front().calls));
  else
    finding.summary = fmt::format("{} were called {} in total, {} alone {}.", counted(graphs.size(), "compiled graph"),
                                  often(calls.size()), most, often(graphs.front().calls));
  finding.evidence.add("calls", calls.size());
  finding.evidence.add("hashes", std::move(hashes));
  finding.evidence.add("cat", printable(facts.trace.category_name(calls.front())));
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule fx_graph_cache_hit = {
    .id = "fx_graph_cache_hit",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsNothing,
    .title = "The same compiled graph runs again",
    .meaning = "The hash of the graph repeats, so its generated code is reused.",
    .remedy = "To read the generated code, search for the hash in Inductor's cache folder.",
    .check = check_fx_graph_cache_hit,
};

}  // namespace gapscope
