#include "core/analyze/compiled/compile_use.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/analyze/compiled/compile_id.h"
#include "core/analyze/compiled/graph_breaks.h"
#include "core/analyze/compiled/marked_slices.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/modules/nested_slices.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostLookedAt = 20'000;  // slices between two pieces that are looked at for operators
constexpr std::size_t kMostOperators = 8;

std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

class Builder {
 public:
  Builder(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const std::vector<GpuOp>& ops,
          const ArgOf& arg_of)
      : t_(trace), lanes_(lanes), links_(links), ops_(ops), arg_of_(arg_of), marked_(marked_slices(trace)) {}

  CompileUse run() {
    use_.has_python = marked_.has_python;
    add_regions();
    add_graphs();
    add_compilations();
    add_lookups();
    add_work();
    add_code();
    add_breaks();
    order();
    return std::move(use_);
  }

 private:
  // --- What ran.

  void add_regions() {
    const NestedSlices nested(t_, marked_.regions);
    const std::vector<std::uint32_t> parents = nested.parents();
    region_frames_ = nested.slices();
    region_of_.resize(nested.size());
    for (std::size_t i = 0; i < nested.size(); ++i) {
      const auto [known, is_new] = region_of_name_.try_emplace(t_.name_id(nested[i]).value, use_.regions.size());
      if (is_new) {
        CompiledRegion& region = use_.regions.emplace_back();
        region.id = rest_of(t_.name(nested[i]), kCompiledRegion);
        region.number = compile_id_of(t_.name(nested[i]));
      }
      region_of_[i] = static_cast<std::uint32_t>(known->second);
      CompiledRegion& region = use_.regions[known->second];
      region.slices.push_back(nested[i]);
      add_saturating(region.host, t_.duration(nested[i]));
      if (parents[i] != NestedSlices::kNone)
        subtract_saturating(use_.regions[region_of_[parents[i]]].host, t_.duration(nested[i]));
    }
    for (CompiledRegion& region : use_.regions) {
      by_begin(region.slices);
      region.frame = python_frame(region.slices.front());
    }
  }

  void add_graphs() {
    const NestedSlices nested(t_, marked_.graphs);
    std::unordered_map<std::string, std::uint32_t> known;
    std::vector<Moment> begins;
    for (std::size_t i = 0; i < nested.size(); ++i) {
      std::string hash = rest_of(t_.name(nested[i]), kCompiledGraph);
      const auto [at, is_new] = known.try_emplace(std::move(hash), static_cast<std::uint32_t>(use_.graphs.size()));
      if (is_new) use_.graphs.emplace_back().hash = at->first;
      graph_of_.push_back(at->second);
      use_.graphs[at->second].slices.push_back(nested[i]);
      add_saturating(use_.graphs[at->second].host, t_.duration(nested[i]));
      begins.push_back({t_.lane_id(nested[i]), t_.begin(nested[i])});
    }
    const std::vector<std::uint32_t> around = NestedSlices(t_, region_frames_).innermost(begins);
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (around[i] == NestedSlices::kNone) continue;
      const std::uint32_t region = region_of_[around[i]];
      if (seen.insert(pair_of(region, graph_of_[i])).second) use_.regions[region].graphs.push_back(graph_of_[i]);
    }
    for (CompiledGraph& graph : use_.graphs) by_begin(graph.slices);
  }

  // --- What was compiled.

  void add_compilations() {
    const NestedSlices nested(t_, marked_.compiles);
    const std::vector<std::uint32_t> parents = nested.parents();
    std::vector<SliceId> outer;
    for (std::size_t i = 0; i < nested.size(); ++i)
      if (parents[i] == NestedSlices::kNone) outer.push_back(nested[i]);
    const NestedSlices compilations(t_, outer);
    std::vector<Moment> moments;
    for (const SliceId s : marked_.compile_ids) moments.push_back({t_.lane_id(s), t_.begin(s)});
    const std::vector<std::uint32_t> around = compilations.innermost(moments);
    for (std::size_t i = 0; i < compilations.size(); ++i) {
      use_.compilations.push_back({compilations[i], {}});
      add_saturating(use_.compile_time, t_.duration(compilations[i]));
    }
    for (std::size_t m = 0; m < moments.size(); ++m) {
      if (around[m] == NestedSlices::kNone || !use_.compilations[around[m]].id.empty()) continue;
      if (const auto id = compile_id_of(t_.name(marked_.compile_ids[m]))) use_.compilations[around[m]].id = to_text(*id);
    }
    std::vector<Moment> begins;
    for (const Compilation& c : use_.compilations) begins.push_back({t_.lane_id(c.slice), t_.begin(c.slice)});
    const std::vector<std::uint32_t> in = NestedSlices(t_, region_frames_).innermost(begins);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i] != NestedSlices::kNone)
        subtract_saturating(use_.regions[region_of_[in[i]]].host, t_.duration(use_.compilations[i].slice));
    std::unordered_map<std::string_view, Ns> by_id;
    for (const Compilation& c : use_.compilations) add_saturating(by_id[c.id], t_.duration(c.slice));
    for (CompiledRegion& region : use_.regions)
      if (const auto time = by_id.find(region.id); !region.id.empty() && time != by_id.end())
        region.compile_time = time->second;
  }

  // --- Guards.

  struct Event {
    LaneId lane;
    Ns begin;
    CompileMark mark;
    SliceId slice;
    auto key() const { return std::tuple(lane, begin, slice.value); }
  };

  // What came next on the thread, below the same caller.
  void add_lookups() {
    std::vector<Event> events;
    const auto add = [&](SliceId s, CompileMark mark) { events.push_back({t_.lane_id(s), t_.begin(s), mark, s}); };
    for (const SliceId s : marked_.regions) add(s, CompileMark::region);
    for (const SliceId s : marked_.lookups) add(s, CompileMark::lookup);
    for (const Compilation& c : use_.compilations) add(c.slice, CompileMark::compile);
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.key() < b.key(); });
    GuardChecks& guards = use_.guards;
    guards.slices = marked_.lookups;
    for (const SliceId lookup : marked_.lookups) {
      add_saturating(guards.time, t_.duration(lookup));
      const Moment end{t_.lane_id(lookup), t_.end(lookup)};
      const auto next = std::partition_point(events.begin(), events.end(), [&](const Event& e) {
        return std::tuple(e.lane, e.begin) < std::tuple(end.lane, end.time);
      });
      const bool is_next = next != events.end() && next->lane == end.lane;
      const bool follows = is_next && lanes_.parent(next->slice) == lanes_.parent(lookup);
      if (follows && next->mark == CompileMark::region) {
        CompiledRegion& region = use_.regions[region_of_name_.at(t_.name_id(next->slice).value)];
        ++region.lookups;
        add_saturating(region.lookup_time, t_.duration(lookup));
        ++guards.hits;
      } else if (is_next && next->mark == CompileMark::compile && is_dynamos(next->slice, lanes_.parent(lookup))) {
        ++guards.compiled;
      } else {
        ++guards.other;
      }
    }
  }

  // Directly below `caller`, or through frames of Dynamo's own Python, where these are recorded.
  bool is_dynamos(SliceId compiling, SliceId caller) const {
    constexpr std::string_view kDynamo = "torch/_dynamo/";
    SliceId last = compiling, above = lanes_.parent(compiling);
    for (; above && above != caller && t_.kind(above) == Kind::python; above = lanes_.parent(above)) last = above;
    return above == caller && (last == compiling || t_.name(last).find(kDynamo) != std::string_view::npos);
  }

  // --- GPU work.

  static void count(CompiledWork& work, const GpuOp& op) {
    ++work.pieces;
    work.kernels += op.is_kernel() ? 1 : 0;
    add_saturating(work.gpu, op.span.length());
  }

  void add_work() {
    std::vector<Moment> moments;
    std::vector<std::size_t> linked;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (!ops_[i].linked()) continue;
      moments.push_back({t_.lane_id(ops_[i].launch), ops_[i].launch_span.begin});
      linked.push_back(i);
    }
    const std::vector<std::uint32_t> regions = NestedSlices(t_, region_frames_).innermost(moments);
    const std::vector<std::uint32_t> graphs = NestedSlices(t_, marked_.graphs).innermost(moments);
    std::vector<std::uint32_t> graph_of_op(ops_.size(), NestedSlices::kNone);
    for (std::size_t k = 0; k < linked.size(); ++k) {
      const GpuOp& op = ops_[linked[k]];
      if (regions[k] != NestedSlices::kNone) {
        count(use_.regions[region_of_[regions[k]]].work, op);
        count(use_.in_regions, op);
      }
      if (graphs[k] == NestedSlices::kNone) continue;
      graph_of_op[linked[k]] = graph_of_[graphs[k]];
      count(use_.graphs[graph_of_[graphs[k]]].work, op);
      count(use_.in_graphs, op);
    }
    add_kernels(graph_of_op);
  }

  void add_kernels(const std::vector<std::uint32_t>& graph_of_op) {
    constexpr std::uint32_t kOther = ~std::uint32_t{0};
    std::unordered_map<std::uint32_t, std::uint32_t> known;  // by name
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const GpuOp& op = ops_[i];
      if (!op.is_kernel()) continue;
      const StringId name = t_.name_id(op.slice);
      const auto [at, is_new] = known.try_emplace(name.value, kOther);
      if (is_new) {
        KernelName decoded = decode(t_.strings[name]);
        if (rule_family(decoded) == RuleFamily::triton) {
          at->second = static_cast<std::uint32_t>(use_.kernels.size());
          use_.kernels.push_back({name, std::move(decoded.fused), {}, {}, 0, {}});
        }
      }
      if (at->second == kOther) continue;
      FusedKernel& kernel = use_.kernels[at->second];
      kernel.slices.push_back(op.slice);
      add_saturating(kernel.gpu, op.span.length());
      if (const SliceId owner = links_.owner_op(t_.gpu[op.gpu_row]); owner && t_.name_id(owner) == name)
        kernel.launches.push_back(owner);
      if (graph_of_op[i] == NestedSlices::kNone) continue;
      if (seen.insert(pair_of(graph_of_op[i], at->second)).second) use_.graphs[graph_of_op[i]].kernels.push_back(at->second);
    }
  }

  // --- Generated code.

  void add_code() {
    std::string root;
    for (FusedKernel& kernel : use_.kernels) {
      if (!arg_of_ || kernel.launches.empty()) continue;
      kernel.code = arg_of_(kernel.launches.front(), "kernel_file");
      if (root.empty()) root = cache_root(kernel.code);
    }
    std::vector<Moment> moments;
    for (const SliceId s : marked_.code) moments.push_back({t_.lane_id(s), t_.begin(s)});
    const NestedSlices nested(t_, marked_.graphs);
    const std::vector<std::uint32_t> around = nested.innermost(moments);
    for (std::size_t m = 0; m < moments.size(); ++m) {
      if (around[m] == NestedSlices::kNone) continue;
      std::string& code = use_.graphs[graph_of_[around[m]]].code;
      if (code.empty()) code = path_of_frame(t_.name(marked_.code[m]));
      if (root.empty()) root = cache_root(code);
    }
    // torch/_inductor/codecache.py, FxGraphCache._get_tmp_dir_for_key: cache_dir()/fxgraph/key[1:3]/key.
    for (CompiledGraph& graph : use_.graphs)
      if (!root.empty() && graph.hash.size() > 3 && graph.hash.find('/') == std::string::npos)
        graph.cache_entry = fmt::format("{}/fxgraph/{}/{}", root, graph.hash.substr(1, 2), graph.hash);
  }

  // --- Breaks.

  void add_breaks() {
    const std::vector<GraphBreak> all =
        graph_breaks_of(t_, lanes_, links_, marked_.regions, marked_.graphs, marked_.has_resume);
    std::map<std::pair<StringId, StringId>, std::size_t> known;
    for (const GraphBreak& b : all) {
      const auto [at, is_new] = known.try_emplace({t_.name_id(b.from), t_.name_id(b.to)}, use_.breaks.size());
      if (is_new) {
        SplitFunction& split = use_.breaks.emplace_back();
        split.from = rest_of(t_.name(b.from), kCompiledRegion);
        split.to = rest_of(t_.name(b.to), kCompiledRegion);
        split.frame = python_frame(b.to);
        if (split.frame) split.broke_at = break_place(t_.strings[split.frame]);
        split.between_ops = operators_between(b);
      }
      SplitFunction& split = use_.breaks[at->second];
      split.slices.push_back(b.to);
      add_saturating(split.between, b.between.length() - compiling_within(t_.lane_id(b.to), b.between));
    }
  }

  // Dynamo compiles the rest of a function when it is first called; the outermost slices of that do not overlap.
  Ns compiling_within(LaneId lane, Span span) const {
    const auto ends_before = [&](const Compilation& c) {
      return std::tuple(t_.lane_id(c.slice), t_.end(c.slice)) < std::tuple(lane, span.begin);
    };
    Ns sum = 0;
    auto at = std::partition_point(use_.compilations.begin(), use_.compilations.end(), ends_before);
    for (; at != use_.compilations.end() && t_.lane_id(at->slice) == lane && t_.begin(at->slice) < span.end; ++at)
      add_saturating(sum, intersect(t_.span_of(at->slice), span).length());
    return sum;
  }

  // The first Python frame directly in a region: Dynamo runs the code that it made in it.
  StringId python_frame(SliceId region) const {
    if (!marked_.has_python) return {};
    for (const SliceId child : lanes_.children(region))
      if (t_.kind(child) == Kind::python) return t_.name_id(child);
    return {};
  }

  std::vector<StringId> operators_between(const GraphBreak& b) const {
    std::vector<StringId> found;
    std::vector<SliceId> todo;
    const auto add_children = [&](SliceId of) {
      const std::vector<SliceId> children = lanes_.children(of);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        if (t_.end(*child) > b.between.begin && t_.begin(*child) < b.between.end) todo.push_back(*child);
    };
    if (const SliceId top = t_.end(b.from) >= t_.end(b.to) ? b.from : lanes_.parent(b.to)) add_children(top);
    for (std::size_t looked = 0; !todo.empty() && looked < kMostLookedAt && found.size() < kMostOperators; ++looked) {
      const SliceId s = todo.back();
      todo.pop_back();
      const bool is_inside = t_.begin(s) >= b.between.begin;
      if (is_inside && t_.kind(s) == Kind::op) {
        if (compile_mark_of(t_.name(s)) == CompileMark::none) found.push_back(t_.name_id(s));
      } else if (t_.kind(s) == Kind::python || t_.kind(s) == Kind::annotation || !is_inside) {
        add_children(s);
      }
    }
    return found;
  }

  // --- Order.

  void by_begin(std::vector<SliceId>& slices) const {
    std::stable_sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return t_.begin(a) < t_.begin(b); });
  }

  void order() {
    const auto rank = [](auto& rows, const auto& before) {
      std::vector<std::uint32_t> order(rows.size()), place(rows.size());
      for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return before(rows[a], rows[b]); });
      std::remove_reference_t<decltype(rows)> sorted;
      for (std::uint32_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        sorted.push_back(std::move(rows[order[i]]));
      }
      rows = std::move(sorted);
      return place;
    };
    const auto graph_place = rank(use_.graphs, [](const CompiledGraph& a, const CompiledGraph& b) {
      return std::tuple(-a.work.gpu, b.slices.size()) < std::tuple(-b.work.gpu, a.slices.size());
    });
    const auto kernel_place = rank(use_.kernels, [](const FusedKernel& a, const FusedKernel& b) { return a.gpu > b.gpu; });
    rank(use_.regions, [](const CompiledRegion& a, const CompiledRegion& b) {
      constexpr CompileId kLast{~0u, ~0u};
      return std::tuple(a.number.value_or(kLast), std::string_view(a.id)) <
             std::tuple(b.number.value_or(kLast), std::string_view(b.id));
    });
    rank(use_.breaks, [](const SplitFunction& a, const SplitFunction& b) { return a.between > b.between; });
    for (CompiledRegion& region : use_.regions)
      for (std::uint32_t& graph : region.graphs) graph = graph_place[graph];
    for (CompiledGraph& graph : use_.graphs)
      for (std::uint32_t& kernel : graph.kernels) kernel = kernel_place[kernel];
  }

  const Trace& t_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  const std::vector<GpuOp>& ops_;
  const ArgOf& arg_of_;
  const MarkedSlices marked_;
  CompileUse use_;
  std::vector<SliceId> region_frames_;                             // as NestedSlices orders them
  std::vector<std::uint32_t> region_of_, graph_of_;                // by position there: in use_
  std::unordered_map<std::uint32_t, std::size_t> region_of_name_;  // by name
};

}  // namespace

bool CompileUse::is_recompiled(const CompiledRegion& region) const {
  if (!region.number) return false;
  return std::any_of(regions.begin(), regions.end(), [&](const CompiledRegion& other) {
    return other.number && other.number->frame == region.number->frame &&
           (other.number->version > 0 || region.number->version > 0);
  });
}

CompileUse compile_use(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const std::vector<GpuOp>& ops,
                       const ArgOf& arg_of) {
  return Builder(trace, lanes, links, ops, arg_of).run();
}

}  // namespace gapscope
