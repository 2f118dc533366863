#include "core/view/chain.h"

#include <algorithm>

namespace gapscope {
namespace {

class ChainBuilder {
 public:
  ChainBuilder(const Document& document, SliceId selection) : doc_(document) { chain_.selection = selection; }

  Chain build() {
    const SliceId s = chain_.selection;
    const Kind kind = doc_.trace.kind(s);
    if (is_on_gpu(kind)) add_launch_of(s);
    if (is_call(kind)) add_kernels_of(s);
    if (kind == Kind::op || kind == Kind::python || kind == Kind::annotation) add_launches_below(s);
    add_flows(s);
    finish();
    return std::move(chain_);
  }

 private:
  void add_member(SliceId s) {
    if (s.valid() && s != chain_.selection) chain_.members.push_back(s);
  }

  void add_arrow(SliceId from, SliceId to, StringId category) {
    if (!from.valid() || !to.valid()) return;
    chain_.arrows.push_back({from, to, category});
    add_member(from);
    add_member(to);
  }

  void add_launch_of(SliceId gpu_slice) {
    add_arrow(doc_.links.call_of(gpu_slice), gpu_slice, {});
    add_member(doc_.links.owner_op(gpu_slice));
  }

  void add_kernels_of(SliceId call) {
    const auto kernels = doc_.links.launched_by(call);
    for (const SliceId kernel : kernels) add_arrow(call, kernel, {});
    if (!kernels.empty()) add_member(doc_.links.owner_op(kernels.front()));
  }

  void add_launches_below(SliceId op) {
    std::vector<SliceId> open{op};
    for (std::size_t visited = 0; !open.empty() && visited < kMostVisited; ++visited) {
      const SliceId s = open.back();
      open.pop_back();
      if (is_call(doc_.trace.kind(s))) {
        for (const SliceId kernel : doc_.links.launched_by(s)) add_arrow(s, kernel, {});
      }
      const auto children = doc_.lanes.children(s);
      open.insert(open.end(), children.begin(), children.end());
    }
  }

  void add_flows(SliceId s) {
    for (const std::uint32_t at : doc_.links.flows_from(s)) add_flow(at);
    for (const std::uint32_t at : doc_.links.flows_to(s)) add_flow(at);
  }
  void add_flow(std::uint32_t at) {
    const Flow& flow = doc_.trace.flows[at];
    add_arrow(flow.from, flow.to, flow.category);
  }

  // A launch is often in the file twice, as a correlation and as a flow: one arrow. Then thin.
  void finish() {
    auto& arrows = chain_.arrows;
    const auto same = [](const ChainArrow& a, const ChainArrow& b) { return a.from == b.from && a.to == b.to; };
    std::sort(arrows.begin(), arrows.end(), [](const ChainArrow& a, const ChainArrow& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    arrows.erase(std::unique(arrows.begin(), arrows.end(), same), arrows.end());
    chain_.arrow_count = arrows.size();
    if (arrows.size() > kMostArrows) {
      for (std::size_t i = 0; i < kMostArrows; ++i) arrows[i] = arrows[i * arrows.size() / kMostArrows];
      arrows.resize(kMostArrows);
    }
    auto& members = chain_.members;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }

  const Document& doc_;
  Chain chain_;
};

}  // namespace

Chain chain_of(const Document& document, SliceId selection) {
  if (!selection.valid()) return {};
  return ChainBuilder(document, selection).build();
}

}  // namespace gapscope
