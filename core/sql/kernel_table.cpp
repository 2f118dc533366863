// The table `kernel`: everything that is known of each kernel as columns.
#include "core/sql/kernel_table.h"

#include <algorithm>
#include <unordered_map>

#include "core/analyze/gpu/launches.h"
#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/sql/slice_columns.h"

namespace gapscope::sql {
namespace {

enum : int {
  kId,
  kTs,
  kDur,
  kTrack,
  kName,
  kShortName,
  kClass,
  kFamily,
  kOperation,
  kArch,
  kInputType,
  kComputeType,
  kOutputType,
  kTensorCore,
  kTile,
  kDevice,
  kStream,
  kContext,
  kCorrelation,
  kGraph,
  kGraphNode,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegisters,
  kSharedMemory,
  kBlocksPerSm,
  kWarpsPerSm,
  kStated,
  kTheoretical,
  kAchieved,
  kLimiter,
  kLaunchId,
  kLaunchName,
  kLaunchTs,
  kLaunchDur,
  kDelay,
  kOpId,
  kOperator,
  kStep,
  kExternalId,
};
constexpr ColumnInfo kColumns[] = {
    {"id", Type::integer, "", "slice.id"},
    {"ts", Type::integer, "ns", "begin"},
    {"dur", Type::integer, "ns", "duration"},
    {"track_id", Type::integer, "", "track.id: the stream"},
    {"name", Type::text, "", "as in the file"},
    {"short_name", Type::text, "", "readable: without return type, template arguments and parameters"},
    {"kind", Type::text, "", "gemm, attention, elementwise, reduction, collective, ..."},
    {"family", Type::text, "", "who wrote it: nvjet, CUTLASS, cuDNN, ...; NULL where the name does not tell, here and below"},
    {"operation", Type::text, "", "what it computes: add, sum, AllReduce"},
    {"arch", Type::text, "", "sm90, ..."},
    {"input_type", Type::text, "", "bf16, fp32, tf32, ..."},
    {"compute_type", Type::text, "", "likewise"},
    {"output_type", Type::text, "", "likewise"},
    {"tensor_core", Type::integer, "", "1 where the name says that tensor cores are used, 0 where it says that they are not"},
    {"tile", Type::text, "", "m x n x k of one block: 256x128x64"},
    {"device", Type::integer, "", "number of the GPU"},
    {"stream", Type::integer, "", "number of the CUDA stream"},
    {"context", Type::integer, "", "number of the CUDA context"},
    {"correlation", Type::integer, "", "what the launch and the kernel share"},
    {"graph_id", Type::integer, "", "CUDA graph; NULL where it is in none"},
    {"graph_node_id", Type::integer, "", "its node there"},
    {"grid_x", Type::integer, "blocks", "blocks of the launch"},
    {"grid_y", Type::integer, "blocks", ""},
    {"grid_z", Type::integer, "blocks", ""},
    {"block_x", Type::integer, "threads", "threads of a block"},
    {"block_y", Type::integer, "threads", ""},
    {"block_z", Type::integer, "threads", ""},
    {"registers", Type::integer, "", "registers of a thread"},
    {"shared_memory", Type::integer, "bytes", "of a block, static and dynamic"},
    {"blocks_per_sm", Type::real, "", "as the file states it"},
    {"warps_per_sm", Type::real, "", "as the file states it"},
    {"stated_occupancy", Type::real, "%", "est. achieved occupancy, as the file states it"},
    {"theoretical_occupancy", Type::real, "%", "warps that fit on an SM at a time, of those it can hold: an upper bound"},
    {"achieved_occupancy", Type::real, "%", "the same with as many blocks as the grid has for each SM"},
    {"occupancy_limiter", Type::text, "", "what keeps more from fitting: warps, registers, shared memory, blocks"},
    {"launch_id", Type::integer, "", "slice.id of the call that launched it; NULL where it is not in the file"},
    {"launch", Type::text, "", "its name"},
    {"launch_ts", Type::integer, "ns", "its begin"},
    {"launch_dur", Type::integer, "ns", "its duration"},
    {"launch_delay", Type::integer, "ns", "from the end of the call to the kernel's begin; 0 where it began before"},
    {"op_id", Type::integer, "", "slice.id of the operator that owns it"},
    {"operator", Type::text, "", "its name"},
    {"step", Type::text, "", "the step in which it was launched: ProfilerStep#3"},
    {"external_id", Type::integer, "", "what the operator and the kernel share"},
};

void give_if(sqlite3_context* out, std::uint64_t v) {
  if (v != 0) give(out, static_cast<std::int64_t>(v));
}
void give_if_known(sqlite3_context* out, std::string_view text) {
  if (!text.empty()) give_copy(out, text);
}
void give_if_stated(sqlite3_context* out, float v) {
  if (v >= 0) sqlite3_result_double(out, static_cast<double>(v));
}

class KernelRows final : public RowList {
 public:
  explicit KernelRows(World& world) : world_(world) {}
  std::optional<Error> prepare() override {
    if (!rows_.empty()) return std::nullopt;
    const Trace& trace = world_.trace();
    for (std::uint32_t g = 0; g < trace.gpu.size(); ++g)
      if (trace.kind(trace.gpu[g].slice) == Kind::kernel) rows_.push_back(g);
    std::sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) { return id(a) < id(b); });
    return std::nullopt;
  }
  std::uint32_t rows() override { return static_cast<std::uint32_t>(rows_.size()); }
  double about_rows() const override { return static_cast<double>(world_.trace().gpu.size() + 1); }

  double rows_with_value(int column) const override {
    return column == kId || column == kCorrelation || column == kLaunchId ? 1 : 0;
  }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    if (column == kId) return of_id(value);
    if (!by_correlation_) index_correlations();
    std::uint64_t correlation = static_cast<std::uint64_t>(value);
    if (column == kLaunchId) {
      if (value < 0 || value >= world_.order().size()) return {};
      const SliceRow row = world_.order().row(static_cast<std::uint32_t>(value));
      const Call* call = world_.order().is_instant(row) ? nullptr : world_.trace().call(SliceId(row));
      if (call == nullptr) return {};
      correlation = call->correlation;
    }
    const auto found = by_correlation_->of(correlation);
    return {found.begin(), found.end()};
  }

  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const GpuRow& gpu = world_.trace().gpu[rows_[row]];
    if (column <= kTrack) return give_slice_column(world_, out, id(rows_[row]), column);
    if (column <= kTile) return give_name(out, gpu, column);
    if (column <= kStated) return give_launch_shape(out, gpu, column);
    if (column <= kLimiter) return give_occupancy(out, gpu, column);
    give_link(out, gpu, column);
  }

 private:
  std::uint32_t id(std::uint32_t gpu) const { return world_.order().id(world_.trace().gpu[gpu].slice); }
  std::vector<std::uint32_t> of_id(std::int64_t value) const {
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), value,
                                     [&](std::uint32_t gpu, std::int64_t wanted) { return id(gpu) < wanted; });
    return at != rows_.end() && id(*at) == value ? std::vector{static_cast<std::uint32_t>(at - rows_.begin())}
                                                 : std::vector<std::uint32_t>{};
  }
  void index_correlations() {
    by_correlation_.emplace();
    for (std::uint32_t row = 0; row < rows_.size(); ++row)
      by_correlation_->add(world_.trace().gpu[rows_[row]].correlation, row);
    by_correlation_->seal();
  }

  void give_name(sqlite3_context* out, const GpuRow& gpu, int column) {
    const Trace& trace = world_.trace();
    if (column == kName) return give(out, trace.name(gpu.slice));
    const auto [at, is_new] = names_.try_emplace(trace.name_id(gpu.slice));
    if (is_new) at->second = decode(trace.name(gpu.slice));
    const KernelName& name = at->second;
    switch (column) {
      case kShortName: return give_copy(out, name.short_name);
      case kClass: return give(out, kernel_kind_name(name.kind));
      case kFamily: return give_if_known(out, name.family);
      case kOperation: return give_if_known(out, name.operation);
      case kArch: return give_if_known(out, name.arch);
      case kInputType: return give_if_known(out, name.input_type);
      case kComputeType: return give_if_known(out, name.compute_type);
      case kOutputType: return give_if_known(out, name.output_type);
      case kTensorCore:
        if (name.tensor_core) give(out, std::int64_t{*name.tensor_core});
        return;
      default: return give_if_known(out, name.tile);
    }
  }

  static void give_launch_shape(sqlite3_context* out, const GpuRow& gpu, int column) {
    const bool shaped = gpu.has_launch_config();
    if (column >= kGridX && column <= kSharedMemory && !shaped) return;
    switch (column) {
      case kDevice: return gpu.device >= 0 ? give(out, std::int64_t{gpu.device}) : give_null(out);
      case kStream: return gpu.stream >= 0 ? give(out, std::int64_t{gpu.stream}) : give_null(out);
      case kContext: return gpu.context >= 0 ? give(out, std::int64_t{gpu.context}) : give_null(out);
      case kCorrelation: return give_if(out, gpu.correlation);
      case kGraph: return give_if(out, gpu.graph_id);
      case kGraphNode: return give_if(out, gpu.graph_node_id);
      case kGridX:
      case kGridY:
      case kGridZ: return give(out, std::int64_t{gpu.grid[static_cast<std::size_t>(column - kGridX)]});
      case kBlockX:
      case kBlockY:
      case kBlockZ: return give(out, std::int64_t{gpu.block[static_cast<std::size_t>(column - kBlockX)]});
      case kRegisters: return give(out, std::int64_t{gpu.registers});
      case kSharedMemory: return give(out, std::int64_t{gpu.shared_memory});
      case kBlocksPerSm: return give_if_stated(out, gpu.blocks_per_sm);
      case kWarpsPerSm: return give_if_stated(out, gpu.warps_per_sm);
      default: return give_if_stated(out, gpu.occupancy_percent);
    }
  }

  void give_occupancy(sqlite3_context* out, const GpuRow& gpu, int column) const {
    const DeviceProperties* device = world_.trace().device(gpu.device);
    const auto sm = device && gpu.has_launch_config() ? sm_limits(*device) : std::nullopt;
    const auto fit = sm ? occupancy(*sm, needs_of(gpu)) : std::nullopt;
    if (!fit) return;
    if (column == kTheoretical) return sqlite3_result_double(out, 100 * fit->theoretical);
    if (column == kLimiter) return give_copy(out, limiter_text(fit->limiters));
    if (const auto achieved = achieved_percent(*sm, needs_of(gpu), grid_blocks(gpu), OccupancyRule::true_value))
      sqlite3_result_double(out, *achieved);
  }

  void give_link(sqlite3_context* out, const GpuRow& gpu, int column) {
    const Trace& trace = world_.trace();
    if (column == kExternalId) return give_if(out, trace.slices.external_id[gpu.slice.index()]);
    if (column == kOpId || column == kOperator) {
      const SliceId op = world_.links().owner_op(gpu);
      if (op) column == kOpId ? give(out, std::int64_t{world_.order().id(op)}) : give(out, trace.name(op));
      return;
    }
    const SliceId call = world_.links().call_of(gpu);
    if (!call) return;
    switch (column) {
      case kLaunchId: return give(out, std::int64_t{world_.order().id(call)});
      case kLaunchName: return give(out, trace.name(call));
      case kLaunchTs: return give(out, trace.begin(call));
      case kLaunchDur: return give(out, trace.duration(call));
      case kDelay: return give(out, std::max<Ns>(0, trace.begin(gpu.slice) - trace.end(call)));
      default: break;
    }
    if (!world_.steps().annotated) return;
    if (const auto step = world_.steps().at(trace.begin(call))) give_copy(out, world_.steps().steps[*step].name);
  }

  World& world_;
  std::vector<std::uint32_t> rows_;  // positions in Trace::gpu, by slice id
  std::optional<SparseIndex> by_correlation_;
  std::unordered_map<StringId, KernelName> names_;
};

}  // namespace

std::unique_ptr<Table> kernel_table(World& world) {
  return list_table("kernel", "every kernel with its resources, occupancy, decoded name, launch, operator and step", kColumns,
                    std::make_unique<KernelRows>(world));
}

}  // namespace gapscope::sql
