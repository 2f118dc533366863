#include "core/snapshot/holder_tree.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostNodes = 500'000;
constexpr std::size_t kMostDepth = 500;

// From the outermost.
std::vector<std::uint32_t> shown_frames(const Snapshot& snapshot, StackId stack) {
  const auto frames = snapshot.stack(stack);
  std::vector<std::uint32_t> out;
  for (const std::uint32_t f : frames)
    if (is_python_frame(snapshot, f)) out.push_back(f);
  if (out.empty()) out.assign(frames.begin(), frames.end());
  std::ranges::reverse(out);
  if (out.size() > kMostDepth) out.resize(kMostDepth);
  return out;
}

}  // namespace

HolderTree holder_tree(const Snapshot& snapshot, const std::vector<StackHolder>& stacks) {
  std::vector<HolderNode> made(1);
  std::unordered_map<std::uint64_t, std::uint32_t> known;  // by parent and frame
  const auto add = [&](HolderNode& node, const StackHolder& holder) {
    add_saturating(node.bytes, holder.bytes);
    node.blocks += holder.blocks;
  };
  for (const StackHolder& holder : stacks) {  // most bytes first
    std::uint32_t at = 0;
    add(made[0], holder);
    std::vector<std::uint32_t> frames = shown_frames(snapshot, holder.stack);
    if (frames.empty()) frames.push_back(HolderNode::kNoFrame);
    for (const std::uint32_t frame : frames) {
      // Two nodes of no frame: with and without a history.
      const std::uint64_t key = std::uint64_t{at} << 33 | std::uint64_t{frame} << 1 | (holder.before_history ? 1U : 0U);
      const auto [node, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(made.size()));
      if (is_new && made.size() >= kMostNodes) {
        known.erase(node);
        break;
      }
      if (is_new) {
        HolderNode next;
        next.frame = frame;
        next.parent = at;
        next.depth = made[at].depth + 1;
        next.before_history = holder.before_history;
        made.push_back(next);
      }
      at = node->second;
      add(made[at], holder);
    }
  }
  // In order of depth, of the parent's place and of bytes, so that children are neighbours.
  HolderTree out;
  std::vector<std::vector<std::uint32_t>> children(made.size());
  for (std::uint32_t i = 1; i < made.size(); ++i) children[made[i].parent].push_back(i);
  std::vector<std::uint32_t> order{0};
  out.nodes.push_back(made[0]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::uint32_t>& below = children[order[i]];
    std::ranges::stable_sort(below, std::ranges::greater{}, [&](std::uint32_t c) { return made[c].bytes; });
    out.nodes[i].first_child = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes[i].children = static_cast<std::uint32_t>(below.size());
    for (const std::uint32_t c : below) {
      order.push_back(c);
      out.nodes.push_back(made[c]);
      out.nodes.back().parent = static_cast<std::uint32_t>(i);
      out.depth = std::max(out.depth, made[c].depth);
    }
  }
  return out;
}

std::string node_words(const Snapshot& snapshot, const HolderNode& node) {
  if (node.frame != HolderNode::kNoFrame) return place_words(snapshot, node.frame);
  return node.depth == 0 ? "all" : holder_words(snapshot, 0, node.before_history);
}

}  // namespace gapscope
