#include "core/analyze/captured/alignment.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNone = Alignment::kNone;
// The table of common subsequences: a byte for each pair of what differs between the ends that are alike.
constexpr std::size_t kMostPairs = std::size_t{16} << 20;

class Aligner {
 public:
  Aligner(const Trace& trace, const ReplayedGraph& graph, const Capture& capture)
      : trace_(trace), graph_(graph), capture_(capture), n_(graph.nodes.size()), m_(capture.calls.size()) {
    for (std::size_t c = 0; c < m_; ++c) out_.has_names = out_.has_names || !capture.args[c].kernel.empty();
    out_.call_of.assign(n_, kNone);
  }

  Alignment run() {
    const bool ordered = graph_.has_ids || graph_.one_stream;
    match_ids();
    if (out_.matched > 0)
      out_.has_names = true;
    else if (!out_.has_names)
      match_kinds(ordered);
    else if (ordered)
      match_in_order();
    else
      match_by_stream();
    return std::move(out_);
  }

 private:
  bool alike(std::size_t node, std::size_t call) const {
    const ReplayedNode& of = graph_.nodes[node];
    if (of.letter != capture_.kinds[call]) return false;
    return of.letter != 'k' || trace_.strings[of.name] == capture_.args[call].kernel;
  }
  void pair(std::size_t node, std::size_t call) {
    out_.call_of[node] = static_cast<std::uint32_t>(call);
    ++out_.matched;
  }

  void match_ids() {
    std::unordered_map<std::uint64_t, std::size_t> call_of;
    for (std::size_t c = 0; c < m_; ++c)
      if (capture_.args[c].node_id != 0) call_of.emplace(capture_.args[c].node_id, c);
    for (std::size_t i = 0; i < n_ && !call_of.empty(); ++i)
      if (const auto at = call_of.find(graph_.nodes[i].id); graph_.nodes[i].id != 0 && at != call_of.end()) pair(i, at->second);
  }

  void match_kinds(bool ordered) {
    if (!ordered || n_ != m_) return;
    for (std::size_t i = 0; i < n_; ++i)
      if (graph_.nodes[i].letter != capture_.kinds[i]) return;
    for (std::size_t i = 0; i < n_; ++i) pair(i, i);
  }

  // The longest common subsequence, after the ends that are alike.
  void match_in_order() {
    std::size_t begin = 0, end = 0;
    const std::size_t shorter = std::min(n_, m_);
    while (begin < shorter && alike(begin, begin)) pair(begin, begin), ++begin;
    while (end < shorter - begin && alike(n_ - 1 - end, m_ - 1 - end)) pair(n_ - 1 - end, m_ - 1 - end), ++end;
    const std::size_t rows = n_ - begin - end, columns = m_ - begin - end;
    if (rows > 0 && columns > 0 && rows <= kMostPairs / columns) match_middle(begin, rows, columns);
  }

  void match_middle(std::size_t begin, std::size_t rows, std::size_t columns) {
    enum Step : std::uint8_t { take, skip_node, skip_call };
    std::vector<std::uint8_t> steps(rows * columns);
    std::vector<std::uint32_t> below(columns + 1, 0), here(columns + 1, 0);
    for (std::size_t r = rows; r-- > 0; std::swap(below, here)) {
      for (std::size_t c = columns; c-- > 0;) {
        const bool same = alike(begin + r, begin + c);
        here[c] = same ? below[c + 1] + 1 : std::max(below[c], here[c + 1]);
        steps[r * columns + c] = same ? take : below[c] >= here[c + 1] ? skip_node : skip_call;
      }
    }
    for (std::size_t r = 0, c = 0; r < rows && c < columns;) {
      const std::uint8_t step = steps[r * columns + c];
      if (step == take) pair(begin + r, begin + c);
      r += step != skip_call ? 1 : 0;
      c += step != skip_node ? 1 : 0;
    }
  }

  // Calls in order, each to the stream whose next node it is; of several, to the one that the calls after it continue with
  // longest.
  void match_by_stream() {
    std::map<std::int32_t, std::vector<std::size_t>> streams;
    for (std::size_t i = 0; i < n_; ++i) streams[graph_.nodes[i].stream].push_back(i);
    std::map<std::int32_t, std::size_t> next;
    for (std::size_t c = 0; c < m_; ++c) {
      std::size_t longest = 0, *best = nullptr, node = 0;
      for (const auto& [stream, nodes] : streams) {
        std::size_t& at = next[stream];
        const std::size_t run = run_length(nodes, at, c);
        if (run > longest) longest = run, best = &at, node = nodes[at];
      }
      if (best == nullptr) continue;
      ++*best;
      pair(node, c);
    }
    match_by_name();
  }
  std::size_t run_length(const std::vector<std::size_t>& nodes, std::size_t at, std::size_t call) const {
    constexpr std::size_t kFarEnough = 64;
    std::size_t run = 0;
    while (run < kFarEnough && at + run < nodes.size() && call + run < m_ && alike(nodes[at + run], call + run)) ++run;
    return run;
  }

  void match_by_name() {
    std::vector<bool> taken(m_, false);
    for (const std::uint32_t call : out_.call_of)
      if (call != kNone) taken[call] = true;
    std::map<std::string_view, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> left;  // nodes, calls
    for (std::size_t i = 0; i < n_; ++i)
      if (out_.call_of[i] == kNone && graph_.nodes[i].letter == 'k')
        left[trace_.strings[graph_.nodes[i].name]].first.push_back(i);
    for (std::size_t c = 0; c < m_; ++c)
      if (!taken[c] && capture_.kinds[c] == 'k') left[capture_.args[c].kernel].second.push_back(c);
    for (const auto& [name, both] : left)
      if (both.first.size() == both.second.size())
        for (std::size_t k = 0; k < both.first.size(); ++k) pair(both.first[k], both.second[k]);
  }

  const Trace& trace_;
  const ReplayedGraph& graph_;
  const Capture& capture_;
  std::size_t n_, m_;
  Alignment out_;
};

std::string count_words(std::size_t kernels, std::size_t others) {
  const auto count = [](std::size_t n) { return format_count(static_cast<std::int64_t>(n)); };
  std::string out = fmt::format("{} {}", count(kernels), kernels == 1 ? "kernel" : "kernels");
  if (others > 0) out += fmt::format(" and {} {}", count(others), others == 1 ? "copy or fill" : "copies and fills");
  return out;
}

std::string letter_words(char letter) { return letter == 'c' ? "a copy" : letter == 's' ? "a fill" : "a kernel"; }

}  // namespace

bool Alignment::is_capture(const ReplayedGraph& graph, const Capture& capture) const {
  const std::size_t longer = std::max(graph.nodes.size(), capture.calls.size());
  return has_names ? matched * 10 >= longer * 9 : matched == longer;
}

Alignment align(const Trace& trace, const ReplayedGraph& graph, const Capture& capture) {
  return Aligner(trace, graph, capture).run();
}

std::string difference_words(const Trace& trace, const ReplayedGraph& graph, const Capture& capture) {
  constexpr std::size_t kNameLength = 60;
  const auto kernels = static_cast<std::size_t>(std::count(capture.kinds.begin(), capture.kinds.end(), 'k'));
  const auto replayed = static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const ReplayedNode& node) { return node.letter == 'k'; }));
  std::string out = fmt::format("{} were replayed, {} captured", count_words(replayed, graph.nodes.size() - replayed),
                                count_words(kernels, capture.calls.size() - kernels));
  const auto node_words = [&](std::size_t i) {
    if (i >= graph.nodes.size()) return std::string("nothing");
    const ReplayedNode& node = graph.nodes[i];
    return node.letter == 'k' ? elide_middle(printable(trace.strings[node.name]), kNameLength) : letter_words(node.letter);
  };
  const auto call_words = [&](std::size_t i) {
    if (i >= capture.calls.size()) return std::string("nothing");
    const std::string& kernel = capture.args[i].kernel;
    return capture.kinds[i] == 'k' && !kernel.empty() ? elide_middle(printable(kernel), kNameLength)
                                                      : letter_words(capture.kinds[i]);
  };
  const bool has_names = align(trace, graph, capture).has_names;
  if (!graph.has_ids && !graph.one_stream)
    return out +
           (has_names ? ", on several streams" : ", on several streams without graph node ids, so their order is not known");
  for (std::size_t i = 0; i < std::max(graph.nodes.size(), capture.calls.size()); ++i) {
    const bool both = i < graph.nodes.size() && i < capture.calls.size();
    const bool same = both && graph.nodes[i].letter == capture.kinds[i] &&
                      (!has_names || capture.kinds[i] != 'k' || trace.strings[graph.nodes[i].name] == capture.args[i].kernel);
    if (!same)
      return out + fmt::format("; number {} is {} in the replay and {} in the capture", i + 1, node_words(i), call_words(i));
  }
  return out;
}

}  // namespace gapscope
