#include "core/analyze/modules/modules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/memory/allocations.h"
#include "core/analyze/modules/module_side.h"
#include "core/analyze/modules/nested_slices.h"
#include "core/analyze/work/work_table.h"
#include "core/base/saturating.h"

namespace gapscope {
namespace {

// Of GPU memory, of a recording with profile_memory=True: where each was asked for, and whether it was still in use when its
// device held most.
struct AskedFor {
  Moment at;  // the lane is none where the file does not say
  std::int64_t bytes = 0;
  std::int64_t bytes_at_peak = 0;  // all of them, or 0; of the first moment at which the device's total is highest
};

struct GpuAllocations {
  std::vector<AskedFor> all;  // in order of time
  bool knows_peak = false;    // every record states its address, and its device's total
};

constexpr std::int8_t kCpu = 0;  // c10::DeviceType

struct DevicePeak {
  std::int64_t most = -1;
  std::size_t at = 0;  // position in Trace::memory
};

// Records of the CPU are left out. O(n).
GpuAllocations gpu_allocations(const Trace& trace) {
  GpuAllocations out;
  std::map<std::pair<std::int8_t, std::int16_t>, DevicePeak> peaks;
  out.knows_peak = true;
  for (std::size_t i = 0; i < trace.memory.size(); ++i) {
    const MemoryRow& row = trace.memory[i];
    if (row.device_type == kCpu || row.out_of_memory || row.bytes == 0) continue;
    out.knows_peak = out.knows_peak && row.address != 0 && row.total_allocated >= 0;
    DevicePeak& peak = peaks[{row.device_type, row.device}];
    if (row.total_allocated > peak.most) peak = {row.total_allocated, i};
  }
  for (const Allocation& allocation : allocations(trace)) {
    if (allocation.born == kNoRecord) continue;
    const MemoryRow& row = trace.memory[allocation.born];
    if (row.device_type == kCpu) continue;
    const std::size_t peak = peaks[{row.device_type, row.device}].at;
    const bool at_peak = allocation.born <= peak && peak < allocation.ended;
    out.all.push_back({{row.lane, row.time}, row.bytes, at_peak ? row.bytes : 0});
  }
  out.knows_peak = out.knows_peak && !out.all.empty();
  if (!out.knows_peak)
    for (AskedFor& one : out.all) one.bytes_at_peak = 0;
  return out;
}

// The operations of each product, once: on the first piece of its GPU work that is asked about.
class WorkFlops {
 public:
  explicit WorkFlops(const WorkTable& table) : table_(table), seen_(table.calls.size(), false) {}

  std::pair<std::uint64_t, bool> of(const GpuOp& op) {
    const CallWork* call = table_.call_of_kernel(op.slice);
    if (call == nullptr || !table_.rows[call->row].is_product) return {0, false};
    const std::optional<double>& count = table_.rows[call->row].each.flops;
    if (!count) return {0, false};
    const auto place = static_cast<std::size_t>(call - table_.calls.data());
    const bool first = !seen_[place];
    seen_[place] = true;
    constexpr double kMost = 4e18;
    return {first ? static_cast<std::uint64_t>(std::clamp(*count, 0.0, kMost)) : 0, true};
  }

 private:
  const WorkTable& table_;
  std::vector<bool> seen_;  // by call
};

// Calls of one recording that captured work, with the places of that work among all.
struct Asked {
  std::vector<std::size_t> places;
  std::vector<SliceId> calls;
};

class Builder {
 public:
  Builder(const Trace& trace, const std::vector<GpuOp>& ops, const WorkTable& work)
      : trace_(trace), ops_(ops), captured_(trace.captured.get()), flops_(work) {}

  ModuleUse run() {
    RegionFrames found = region_frames(trace_);
    const std::vector<const Trace*> recordings = captured_ != nullptr ? captured_->recordings() : std::vector<const Trace*>{};
    for (const Trace* recording : recordings)
      if (found.kind == RegionKind::none) found.kind = region_frames(*recording).kind;
    use_.kind = found.kind;
    sides_.emplace(&trace_, ModuleSide(trace_, std::move(found.slices)));
    for (const Trace* recording : recordings)
      if (recording != &trace_) sides_.emplace(recording, ModuleSide(*recording, region_frames(*recording, use_.kind)));
    charge_work();
    charge_memory();
    const std::vector<bool> all(main().frames.size(), true);
    add_side(main(), all, true);
    for (const Trace* recording : recordings)
      if (recording != &trace_) add_side(sides_.at(recording), charged(sides_.at(recording)), false);
    make_classes();
    order_rows();
    return std::move(use_);
  }

 private:
  ModuleSide& main() { return sides_.at(&trace_); }

  // Whose each piece of work is: of the frames around what captured it, else of those around what launched it.
  void charge_work() {
    std::vector<std::uint32_t> linked;
    std::vector<SliceId> launches;
    std::map<const Trace*, Asked> asked;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (!ops_[i].linked()) continue;
      if (const auto by = captured_ != nullptr ? captured_->of(ops_[i].slice) : CapturedWork::Call{}) {
        asked[by.trace].places.push_back(linked.size());
        asked[by.trace].calls.push_back(by.call);
      }
      linked.push_back(i);
      launches.push_back(ops_[i].launch);
    }
    std::vector<WorkMoment> moments = work_moments(trace_, main().frames, launches);
    std::vector<ModuleSide*> sides(linked.size(), nullptr);
    for (const auto& [recording, of] : asked) {
      ModuleSide& side = sides_.at(recording);
      const std::vector<WorkMoment> captured = work_moments(*recording, side.frames, of.calls);
      for (std::size_t k = 0; k < captured.size(); ++k) {
        if (captured[k].frame == NestedSlices::kNone) continue;
        moments[of.places[k]] = captured[k];
        sides[of.places[k]] = &side;
      }
    }
    for (std::size_t k = 0; k < linked.size(); ++k) {
      const GpuOp& op = ops_[linked[k]];
      if (is_graph_launch_name(trace_.name(op.launch))) count_graph_work(op, sides[k] != nullptr);
      charge(op, moments[k], sides[k] != nullptr ? *sides[k] : main());
    }
  }

  void charge_memory() {
    const GpuAllocations found = gpu_allocations(trace_);
    std::vector<Moment> moments;
    moments.reserve(found.all.size());
    for (const AskedFor& a : found.all) moments.push_back(a.at);
    const std::vector<WorkMoment> whose = work_moments(trace_, main().frames, moments);
    AllocatedMemory& all = use_.memory;
    all.knows_peak = found.knows_peak;
    for (std::size_t i = 0; i < found.all.size(); ++i) {
      const AskedFor& a = found.all[i];
      ++all.allocations;
      add_saturating(all.bytes, a.bytes);
      add_saturating(all.at_peak, a.bytes_at_peak);
      if (whose[i].frame != NestedSlices::kNone) {
        main().charges.push_back({whose[i], 0, false, 0, false, a.bytes, a.bytes_at_peak});
        continue;
      }
      add_saturating(all.outside_bytes, a.bytes);
      add_saturating(all.outside_at_peak, a.bytes_at_peak);
    }
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
  const std::vector<GpuOp>& ops_;
  const CapturedWork* captured_;
  std::map<const Trace*, ModuleSide> sides_;
  WorkFlops flops_;
  ModuleUse use_;
  ModuleTree tree_;
  std::unordered_map<std::string_view, std::uint32_t> row_of_name_;  // names live in the traces
  std::unordered_map<std::string, std::uint32_t> class_of_name_;
  std::vector<std::uint32_t> class_of_row_;
  std::vector<ModuleTotals> row_totals_, class_totals_;
};

}  // namespace

ModuleUse module_use(const Trace& trace, const std::vector<GpuOp>& ops, const WorkTable& work) {
  return Builder(trace, ops, work).run();
}

std::string missing_modules(const ModuleUse& use) {
  if (use.kind == RegionKind::modules) return {};
  const std::string record = "PyTorch writes such frames with profile(with_stack=True, with_modules=True)";
  return use.kind == RegionKind::annotations
             ? "No nn.Module frames are in this trace, so times are given by its regions; " + record + "."
             : "No nn.Module frames and no regions (record_function, NVTX) are in this trace: " + record + ".";
}

}  // namespace gapscope
