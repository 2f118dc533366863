#include "core/view/details/chain.h"
#include "core/view/document.h"

#include <algorithm>
#include <tuple>

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
    const SliceId operator_of = is_on_gpu(kind) ? doc_.links.call_of(s) : s;
    if (kind == Kind::op || kind == Kind::python || kind == Kind::annotation || kind == Kind::gpu_annotation) add_work_of(s);
    if (kind == Kind::op) add_launches_below(s, /*with_passes=*/true);
    add_flows(s);
    if (operator_of && kind != Kind::python && kind != Kind::annotation) add_other_pass(operator_of);
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

  // GPU work of a slice that spans other ones: what is launched inside it, of a step by any thread, and what is in it on a
  // stream.
  void add_work_of(SliceId s) {
    const Trace& trace = doc_.trace;
    const bool step = trace.kind(s) != Kind::gpu_annotation && trace.name(s).starts_with("ProfilerStep#");
    const Span span = trace.span_of(s);
    for (std::size_t l = 0; l < trace.lanes.size(); ++l) {
      if (step ? trace.lanes[l].kind != LaneKind::cpu_thread : LaneId(l) != trace.lane_id(s)) continue;
      for (std::uint32_t depth = 0; depth < trace.lanes[l].depth_count; ++depth)
        add_work_in_row(trace.row(trace.row_id(LaneId(l), depth)), span);
    }
    auto& work = chain_.work;
    std::sort(work.begin(), work.end());
    work.erase(std::unique(work.begin(), work.end()), work.end());
    if (trace.kind(s) != Kind::gpu_annotation) add_arrows_to_work();
    if (work.size() <= kMostArrows && trace.kind(s) != Kind::gpu_annotation) work.clear();  // each has its arrow
  }

  void add_work_in_row(const Row& row, Span span) {
    const auto& begins = doc_.trace.slices.begin;
    const auto first = begins.begin() + row.first, last = first + row.count;
    const auto from = std::lower_bound(first, last, span.begin), to = std::lower_bound(from, last, span.end);
    for (auto at = from; at != to; ++at) {
      const SliceId s(static_cast<std::size_t>(at - begins.begin()));
      const Kind kind = doc_.trace.kind(s);
      if (is_gpu_work(kind)) chain_.work.push_back(s);
      if (!is_call(kind)) continue;
      const auto launched = doc_.links.launched_by(s);
      chain_.work.insert(chain_.work.end(), launched.begin(), launched.end());
    }
  }

  // Evenly over all of it.
  void add_arrows_to_work() {
    const std::size_t all = chain_.work.size(), shown = std::min(all, kMostArrows);
    for (std::size_t i = 0; i < shown; ++i) {
      const SliceId kernel = chain_.work[i * all / shown];
      add_arrow(doc_.links.call_of(kernel), kernel, {});
    }
  }

  // `with_passes`: the arrows between the forward and the backward pass too.
  void add_launches_below(SliceId op, bool with_passes) {
    std::vector<SliceId> open{op};
    for (; !open.empty() && visited_ < kMostVisited; ++visited_) {
      const SliceId s = open.back();
      open.pop_back();
      if (is_call(doc_.trace.kind(s))) {
        for (const SliceId kernel : doc_.links.launched_by(s)) add_arrow(s, kernel, {});
      } else if (with_passes && s != op) {
        add_passes_of(s, /*launches_below=*/true);
      }
      const auto children = doc_.lanes.children(s);
      open.insert(open.end(), children.begin(), children.end());
    }
  }

  // An operator's arrows to its backward operator, with what that launches, or from its forward operator.
  void add_passes_of(SliceId op, bool launches_below) {
    for (const std::uint32_t at : doc_.links.flows_from(op)) {
      const Flow& flow = doc_.trace.flows[at];
      if (doc_.trace.kind(flow.to) != Kind::op || !is_op_flow(flow)) continue;
      add_flow(at);
      if (launches_below) add_launches_below(flow.to, /*with_passes=*/false);
    }
    for (const std::uint32_t at : doc_.links.flows_to(op)) {
      if (is_op_flow(doc_.trace.flows[at])) add_flow(at);
    }
  }
  bool is_op_flow(const Flow& flow) const { return doc_.trace.strings[flow.category] == "fwdbwd"; }

  // Flows join operators: those of the slice, or of the innermost operator around it that has any.
  void add_other_pass(SliceId s) {
    const std::size_t before = chain_.arrows.size();
    if (doc_.trace.kind(s) == Kind::op) add_passes_of(s, /*launches_below=*/true);
    const std::vector<SliceId> around = doc_.lanes.ancestors(s);
    for (auto op = around.rbegin(); op != around.rend() && chain_.arrows.size() == before; ++op) {
      if (doc_.trace.kind(*op) == Kind::op) add_passes_of(*op, /*launches_below=*/true);
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
    std::sort(arrows.begin(), arrows.end(),
              [](const ChainArrow& a, const ChainArrow& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    arrows.erase(std::unique(arrows.begin(), arrows.end(), same), arrows.end());
    chain_.arrow_count = arrows.empty() ? 0 : std::max(arrows.size(), chain_.work.size());
    auto& members = chain_.members;
    if (chain_.arrow_count > kMostArrows) {
      const std::size_t all = arrows.size(), shown = std::min(all, kMostArrows);
      for (std::size_t i = 0; i < shown; ++i) arrows[i] = arrows[i * all / shown];
      arrows.resize(shown);
      members.clear();
      for (const ChainArrow& arrow : arrows) {
        add_member(arrow.from);
        add_member(arrow.to);
      }
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }

  const Document& doc_;
  std::size_t visited_ = 0;
  Chain chain_;
};

}  // namespace

Chain chain_of(const Document& document, SliceId selection) {
  if (!selection.valid()) return {};
  return ChainBuilder(document, selection).build();
}

bool holds_work(const Trace& trace, const std::vector<SliceId>& work, SliceId slice, Span span) {
  if (work.empty()) return false;
  if (std::binary_search(work.begin(), work.end(), slice)) return true;
  const Row& row = trace.row(slice);
  const auto& begins = trace.slices.begin;
  const auto first = begins.begin() + row.first, last = first + row.count;
  const SliceId from(static_cast<std::size_t>(std::lower_bound(first, last, span.begin) - begins.begin()));
  const SliceId to(static_cast<std::size_t>(std::lower_bound(first, last, span.end) - begins.begin()));
  return std::lower_bound(work.begin(), work.end(), from) != std::lower_bound(work.begin(), work.end(), to);
}

std::vector<Arrow> arrows_of(const Document& document, SliceId slice) {
  if (!slice) return {};
  const LinkIndex& links = document.links;
  const Trace& trace = document.trace;
  std::vector<Arrow> arrows;
  if (const SliceId call = links.call_of(slice)) arrows.push_back({call, slice, {}});
  for (const SliceId kernel : links.launched_by(slice)) arrows.push_back({slice, kernel, {}});
  const auto add = [&](std::uint32_t at) {
    arrows.push_back({trace.flows[at].from, trace.flows[at].to, trace.flows[at].category});
  };
  for (const std::uint32_t at : links.flows_from(slice)) add(at);
  for (const std::uint32_t at : links.flows_to(slice)) add(at);
  if (arrows.empty()) arrows = chain_of(document, slice).arrows;
  std::stable_sort(arrows.begin(), arrows.end(), [&](const Arrow& a, const Arrow& b) {
    return std::tuple(trace.begin(a.from), a.from, trace.begin(a.to), a.to) <
           std::tuple(trace.begin(b.from), b.from, trace.begin(b.to), b.to);
  });
  arrows.erase(std::unique(arrows.begin(), arrows.end()), arrows.end());
  return arrows;
}

}  // namespace gapscope
