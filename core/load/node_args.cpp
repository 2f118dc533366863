#include "core/load/node_args.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/load/args.h"
#include "core/load/args_pass.h"

namespace gapscope {
namespace {

constexpr std::size_t kFirstFew = 8;  // copies state no kernel

StatedNode node_of(const std::vector<Arg>& args) {
  StatedNode node;
  for (const Arg& arg : args) {
    if (arg.key == "kernel" && arg.is_text) node.kernel = arg.value;
    if (arg.key == "graph node id") std::from_chars(arg.value.data(), arg.value.data() + arg.value.size(), node.node_id);
  }
  return node;
}

bool states_any(const Trace& trace, const std::vector<SliceId>& calls) {
  for (std::size_t i = 0; i < std::min(calls.size(), kFirstFew); ++i) {
    const Result<std::vector<Arg>> args = read_args(trace, trace.slices.offset[calls[i].index()]);
    if (!args.ok()) return false;
    const StatedNode node = node_of(*args);
    if (!node.kernel.empty() || node.node_id != 0) return true;
  }
  return false;
}

}  // namespace

std::vector<StatedNode> read_stated_nodes(const Trace& trace, const std::vector<SliceId>& calls) {
  std::vector<StatedNode> nodes(calls.size());
  if (!states_any(trace, calls)) return nodes;
  const auto& offset = trace.slices.offset;
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return offset[calls[a].index()] < offset[calls[b].index()]; });
  std::vector<std::uint64_t> offsets;
  for (const std::size_t i : order) offsets.push_back(offset[calls[i].index()]);
  ArgsPass pass;
  pass.offsets = offsets;
  pass.may_matter = [](std::size_t, std::string_view) { return true; };
  pass.take = [&](std::size_t event, const std::vector<Arg>& args) {
    nodes[order[event]] = node_of(args);
    return true;
  };
  if (read_args_in_order(TextAccess(trace), pass)) nodes.assign(calls.size(), {});
  return nodes;
}

}  // namespace gapscope
