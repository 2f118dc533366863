#include "core/analyze/modules/modules.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "core/analyze/modules/allocations.h"
#include "core/analyze/modules/module_side.h"
#include "core/analyze/operators/flops.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

// The operations of each operator, once: on the first piece of its GPU work that is asked about.
class WorkFlops {
 public:
  WorkFlops(const Trace& trace, const LinkIndex& links) : trace_(trace), links_(links) {}

  std::pair<std::uint64_t, bool> of(const GpuOp& op) {
    const SliceId owner = links_.owner_op(trace_.gpu[op.gpu_row]);
    const OpRow* const row = owner ? trace_.op_row(owner) : nullptr;
    if (row == nullptr || !row->input_dims) return {0, false};
    const auto [known, is_new] = counts_.try_emplace({trace_.name_id(owner), row->input_dims}, std::nullopt);
    if (is_new) known->second = flops_of(trace_.name(owner), trace_.strings[row->input_dims]).count;
    if (!known->second) return {0, false};
    const bool first = seen_.insert(owner.value).second;
    constexpr double kMost = 4e18;
    return {first ? static_cast<std::uint64_t>(std::clamp(*known->second, 0.0, kMost)) : 0, true};
  }

 private:
  const Trace& trace_;
  const LinkIndex& links_;
  std::map<std::pair<StringId, StringId>, std::optional<double>> counts_;  // by operator and shapes
  std::unordered_set<std::uint32_t> seen_;                                 // operators
};

class Builder {
 public:
  Builder(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops, const CaptureRecording* capture)
      : trace_(trace), links_(links), ops_(ops), capture_(capture) {}

  ModuleUse run(const GraphNodes::NodeIdOf& node_id_of) {
    RegionFrames found = region_frames(trace_);
    if (found.kind == RegionKind::none && capture_ != nullptr) found.kind = region_frames(capture_->trace).kind;
    use_.kind = found.kind;
    main_.emplace(trace_, std::move(found.slices));
    if (capture_ != nullptr) captured_.emplace(capture_->trace, region_frames(capture_->trace, use_.kind));
    charge_work(node_id_of);
    charge_memory();
    const std::vector<bool> all(main_->frames.size(), true);
    add_side(*main_, all, true);
    if (captured_) add_side(*captured_, charged(*captured_), false);
    make_classes();
    order_rows();
    return std::move(use_);
  }

 private:
  ModuleSide& capturing_side() { return captured_ ? *captured_ : *main_; }

  // Whose each piece of work is.
  void charge_work(const GraphNodes::NodeIdOf& node_id_of) {
    std::vector<std::uint32_t> linked;
    std::vector<SliceId> launches;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (!ops_[i].linked()) continue;
      linked.push_back(i);
      launches.push_back(ops_[i].launch);
    }
    const std::vector<WorkMoment> moments = work_moments(trace_, main_->frames, launches);
    const GraphNodes nodes(trace_, ops_);
    const std::vector<WorkMoment> captures = captured_moments(nodes, node_id_of);
    for (std::size_t k = 0; k < linked.size(); ++k) {
      const std::uint32_t node = nodes.node_of(linked[k]);
      const bool is_told = node != GraphNodes::kNone && captures[node].frame != NestedSlices::kNone;
      if (node != GraphNodes::kNone) count_graph_work(ops_[linked[k]], is_told);
      charge(ops_[linked[k]], is_told ? captures[node] : moments[k], is_told ? capturing_side() : *main_);
    }
  }

  void charge_memory() {
    const Allocations found = gpu_allocations(trace_);
    std::vector<Moment> moments;
    moments.reserve(found.all.size());
    for (const Allocation& a : found.all) moments.push_back(a.at);
    const std::vector<WorkMoment> whose = work_moments(trace_, main_->frames, moments);
    AllocatedMemory& all = use_.memory;
    all.knows_peak = found.knows_peak;
    for (std::size_t i = 0; i < found.all.size(); ++i) {
      const Allocation& a = found.all[i];
      ++all.allocations;
      add_saturating(all.bytes, a.bytes);
      add_saturating(all.at_peak, a.bytes_at_peak);
      if (whose[i].frame != NestedSlices::kNone) {
        main_->charges.push_back({whose[i], 0, false, 0, false, a.bytes, a.bytes_at_peak});
        continue;
      }
      add_saturating(all.outside_bytes, a.bytes);
      add_saturating(all.outside_at_peak, a.bytes_at_peak);
    }
  }

  std::vector<WorkMoment> captured_moments(const GraphNodes& nodes, const GraphNodes::NodeIdOf& node_id_of) {
    const ModuleSide& side = capturing_side();
    const LinkIndex& links = capture_ != nullptr ? capture_->links : links_;
    const std::vector<SliceId> calls = nodes.captured_by(side.trace, links, node_id_of, capture_ != nullptr);
    std::vector<SliceId> told;
    for (const SliceId call : calls)
      if (call) told.push_back(call);
    const std::vector<WorkMoment> moments = work_moments(side.trace, side.frames, told);
    std::vector<WorkMoment> all(calls.size());
    for (std::size_t n = 0, k = 0; n < calls.size(); ++n)
      if (calls[n]) all[n] = moments[k++];
    return all;
  }

  void count_graph_work(const GpuOp& op, bool is_told) {
    ++use_.graphs.pieces;
    add_saturating(use_.graphs.time, op.span.length());
    if (!is_told) return;
    ++use_.graphs.told;
    add_saturating(use_.graphs.told_time, op.span.length());
  }

  void charge(const GpuOp& op, const WorkMoment& moment, ModuleSide& side) {
    const Ns duration = op.span.length();
    add_saturating(use_.linked, duration);
    if (moment.frame != NestedSlices::kNone) {
      const auto [flops, known] = flops_.of(op);
      side.charges.push_back({moment, duration, op.is_kernel(), flops, known, 0, 0});
      return;
    }
    add_saturating(moment.backward ? use_.outside_backward : use_.outside_forward, duration);
    use_.outside_kernels += op.is_kernel() ? 1 : 0;
  }

  // Frames that work belongs to, and those around them.
  static std::vector<bool> charged(const ModuleSide& side) {
    std::vector<bool> wanted(side.frames.size(), false);
    for (const Charge& charge : side.charges)
      for (std::uint32_t f = charge.moment.frame; f != NestedSlices::kNone && !wanted[f]; f = side.parents[f]) wanted[f] = true;
    return wanted;
  }

  void add_side(const ModuleSide& side, const std::vector<bool>& wanted, bool is_main) {
    std::vector<std::uint32_t> row_of(side.frames.size(), kNoGroup), class_of = row_of;
    for (std::uint32_t f = 0; f < row_of.size(); ++f) {
      if (!wanted[f]) continue;
      row_of[f] = row_for(side.trace, side.frames[f], is_main);
      class_of[f] = class_of_row_[row_of[f]];
      const std::uint32_t parent = side.parents[f];
      if (parent == NestedSlices::kNone) use_.rows[row_of[f]].is_root = true;
      if (parent != NestedSlices::kNone) use_.rows[row_of[f]].parents.push_back(row_of[parent]);
    }
    row_totals_.resize(use_.rows.size());
    class_totals_.resize(use_.classes.size());
    add_totals(side, row_of, is_main, row_totals_);
    add_totals(side, class_of, is_main, class_totals_);
    tree_.add_times(side, tree_.add_frames(side, row_of, wanted), is_main);
  }

  std::uint32_t row_for(const Trace& trace, SliceId slice, bool is_main) {
    const std::string_view name = region_name(trace, use_.kind, trace.name_id(slice));
    const auto [known, is_new] = row_of_name_.try_emplace(name, static_cast<std::uint32_t>(use_.rows.size()));
    if (is_new) add_row(name);
    ModuleRow& row = use_.rows[known->second];
    if (is_main && !row.first) {
      row.first = slice;
      row.frame_name = trace.name_id(slice);
    } else if (is_main && trace.begin(slice) < trace.begin(row.first)) {
      row.first = slice;
    }
    return known->second;
  }
  void add_row(std::string_view name) {
    ModuleRow& row = use_.rows.emplace_back();
    row.name = name;
    row.class_name = use_.kind == RegionKind::modules ? module_class(name) : name;
    const auto [known, is_new] = class_of_name_.try_emplace(row.class_name, static_cast<std::uint32_t>(use_.classes.size()));
    if (is_new) use_.classes.emplace_back().name = row.class_name;
    ++use_.classes[known->second].instances;
    class_of_row_.push_back(known->second);
  }

  void make_classes() {
    for (std::size_t c = 0; c < use_.classes.size(); ++c) use_.classes[c].totals = class_totals_[c];
    std::sort(use_.classes.begin(), use_.classes.end(), [](const ModuleClass& a, const ModuleClass& b) {
      return std::tuple(-a.totals.gpu(), std::string_view(a.name)) < std::tuple(-b.totals.gpu(), std::string_view(b.name));
    });
  }

  void order_rows() {
    const std::size_t n = use_.rows.size();
    for (std::size_t r = 0; r < n; ++r) use_.rows[r].totals = row_totals_[r];
    std::vector<std::uint32_t> order(n), rank(n);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto key = [&](const ModuleRow& row) { return std::tuple(-row.totals.gpu(), std::string_view(row.name)); };
      return key(use_.rows[a]) < key(use_.rows[b]);
    });
    std::vector<ModuleRow> rows;
    for (std::uint32_t place = 0; place < n; ++place) {
      rank[order[place]] = place;
      rows.push_back(std::move(use_.rows[order[place]]));
    }
    for (ModuleRow& row : rows) {
      for (std::uint32_t& parent : row.parents) parent = rank[parent];
      std::sort(row.parents.begin(), row.parents.end());
      row.parents.erase(std::unique(row.parents.begin(), row.parents.end()), row.parents.end());
    }
    use_.rows = std::move(rows);
    use_.tree = tree_.finish(rank);
  }

  const Trace& trace_;
  const LinkIndex& links_;
  const std::vector<GpuOp>& ops_;
  const CaptureRecording* capture_;
  std::optional<ModuleSide> main_, captured_;
  WorkFlops flops_{trace_, links_};
  ModuleUse use_;
  ModuleTree tree_;
  std::unordered_map<std::string_view, std::uint32_t> row_of_name_;  // names live in the traces
  std::unordered_map<std::string, std::uint32_t> class_of_name_;
  std::vector<std::uint32_t> class_of_row_;
  std::vector<ModuleTotals> row_totals_, class_totals_;
};

}  // namespace

ModuleUse module_use(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops, const CaptureRecording* capture,
                     const GraphNodes::NodeIdOf& node_id_of) {
  return Builder(trace, links, ops, capture).run(node_id_of);
}

std::string missing_modules(const ModuleUse& use) {
  if (use.kind == RegionKind::modules) return {};
  const std::string record = "PyTorch writes such frames with profile(with_stack=True, with_modules=True)";
  return use.kind == RegionKind::annotations
             ? "No nn.Module frames are in this trace, so times are given by its regions; " + record + "."
             : "No nn.Module frames and no regions (record_function, NVTX) are in this trace: " + record + ".";
}

}  // namespace gapscope
