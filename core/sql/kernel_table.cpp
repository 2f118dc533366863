// The tables of kernels: `kernel`, everything that is known of each one, `kernel_summary`, by name, and `roofline`.
#include <algorithm>
#include <unordered_map>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/gpu/kernel_columns.h"
#include "core/analyze/gpu/launches.h"
#include "core/analyze/gpu/occupancy_amd.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/work/floors.h"
#include "core/analyze/work/roofline_rows.h"
#include "core/session/trace_session.h"
#include "core/sql/column_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

struct Kernel {
  std::uint32_t id;  // of its slice
  const GpuRow& gpu;
};

struct Context {
  World& world;
  std::unordered_map<StringId, KernelName>& names;  // decoded already

  const CapturedWork* captured = world.trace().captured.get();

  const Trace& trace() const { return world.trace(); }
  OperatorCall operator_of(const Kernel& k) const { return operator_call(trace(), world.session().links(), captured, k.gpu); }
  SliceRow slice(const Kernel& k) const { return world.order().row(k.id); }
  const KernelName& name(const Kernel& k) const {
    const auto [at, is_new] = names.try_emplace(trace().name_id(k.gpu.slice));
    if (is_new) at->second = decode(trace().name(k.gpu.slice));
    return at->second;
  }
};

CellValue if_known(const std::string& text) { return text.empty() ? CellValue() : CellValue(std::string_view(text)); }
CellValue if_not_zero(std::uint64_t number) { return number != 0 ? CellValue(number) : CellValue(); }

template <auto Member>
CellValue named(const Context& of, const Kernel& k) {
  return if_known(of.name(k).*Member);
}
// Numbers that are not negative where the file states them.
template <auto Member>
CellValue stated(const Context&, const Kernel& k) {
  return k.gpu.*Member >= 0 ? CellValue(k.gpu.*Member) : CellValue();
}
template <auto Member>
CellValue linked(const Context&, const Kernel& k) {
  return if_not_zero(k.gpu.*Member);
}
template <auto Member>
CellValue shaped(const Context&, const Kernel& k) {
  return k.gpu.has_launch_config() ? CellValue(k.gpu.*Member) : CellValue();
}
template <auto Member, std::size_t Axis>
CellValue extent(const Context&, const Kernel& k) {
  return k.gpu.has_launch_config() ? CellValue((k.gpu.*Member)[Axis]) : CellValue();
}

CellValue theoretical(const Context& of, const Kernel& k) {
  const auto fit = occupancy_of(of.trace(), k.gpu);
  return fit ? CellValue(100 * fit->theoretical) : CellValue();
}
CellValue achieved(const Context& of, const Kernel& k) {
  if (!occupancy_of(of.trace(), k.gpu)) return {};
  const auto sm = sm_limits(*of.trace().device(k.gpu.device));
  const auto percent = achieved_percent(*sm, needs_of(k.gpu), grid_blocks(k.gpu), OccupancyRule::true_value);
  return percent ? CellValue(static_cast<double>(*percent)) : CellValue();
}
CellValue limiter(const Context& of, const Kernel& k) {
  const auto fit = occupancy_of(of.trace(), k.gpu);
  if (!fit) return {};
  return limiter_text(*sm_limits(*of.trace().device(k.gpu.device)), fit->limiters);
}

// What `value` says of the call that launched it, or of the operator that owns it.
template <auto Value>
CellValue of_call(const Context& of, const Kernel& k) {
  const SliceId call = of.world.session().links().call_of(k.gpu);
  return call ? Value(of, k, call) : CellValue();
}
// Of a graph's kernel what captured it, where that is joined. Ids are of slices of this trace alone.
CellValue operator_id(const Context& of, const Kernel& k) {
  const OperatorCall by = of.operator_of(k);
  return by && by.trace == &of.trace() ? CellValue(of.world.order().id(by.op)) : CellValue();
}
CellValue operator_name(const Context& of, const Kernel& k) {
  const OperatorCall by = of.operator_of(k);
  return by ? CellValue(by.trace->name(by.op)) : CellValue();
}
CellValue operator_shapes(const Context& of, const Kernel& k) {
  const OperatorCall by = of.operator_of(k);
  const OpRow* row = by ? by.trace->op_row(by.op) : nullptr;
  return row != nullptr && row->input_dims ? CellValue(by.trace->strings[row->input_dims]) : CellValue();
}
template <auto Member>
CellValue place(const Context& of, const Kernel& k) {
  const OperatorCall by = of.operator_of(k);
  std::string words = by.call ? place_of_call(*by.trace, by.call).*Member : std::string();
  return words.empty() ? CellValue() : CellValue(std::move(words));
}
CellValue id_of_slice(const Context& of, const Kernel&, SliceId s) { return of.world.order().id(s); }
CellValue name_of_slice(const Context& of, const Kernel&, SliceId s) { return of.trace().name(s); }
CellValue begin_of_slice(const Context& of, const Kernel&, SliceId s) { return of.trace().begin(s); }
CellValue duration_of_slice(const Context& of, const Kernel&, SliceId s) { return of.trace().duration(s); }
CellValue delay(const Context& of, const Kernel& k, SliceId call) {
  return std::max<Ns>(0, of.trace().begin(k.gpu.slice) - of.trace().end(call));
}
CellValue step(const Context& of, const Kernel&, SliceId call) {
  if (!of.world.session().steps().annotated) return {};
  const auto at = of.world.session().steps().at(of.trace().begin(call));
  return at ? CellValue(std::string_view(of.world.session().steps().steps[*at].name)) : CellValue();
}

// Operations or bytes of the call that it is part of.
template <std::optional<double> Work::*Member>
CellValue of_work(const Context& of, const Kernel& k) {
  const WorkTable& table = of.world.session().work();
  const CallWork* call = table.call_of_kernel(k.gpu.slice);
  return call ? CellValue(table.rows[call->row].each.*Member) : CellValue();
}
CellValue floor_ns(const Context& of, const Kernel& k) {
  const auto floor = floor_of_kernel(of.trace(), of.world.session().work(), k.gpu.slice);
  return floor ? CellValue(static_cast<std::int64_t>(*floor)) : CellValue();
}

using enum Quantity;

constexpr ColumnOf<Kernel, Context> kColumns[] = {
    {"id", id, "slice.id", &field<&Kernel::id>},
    {"ts", ns, "begin", [](const Context& of, const Kernel& k) -> CellValue { return of.world.order().begin(of.slice(k)); }},
    {"dur", ns, "duration",
     [](const Context& of, const Kernel& k) -> CellValue { return of.world.order().duration(of.slice(k)); }},
    {"track_id", id, "track.id: the stream",
     [](const Context& of, const Kernel& k) -> CellValue { return of.world.tracks().of_row(of.world.order(), of.slice(k)); }},
    {"name", text, "as in the file",
     [](const Context& of, const Kernel& k) -> CellValue { return of.trace().name(k.gpu.slice); }},
    {"short_name", text, "as shown: the function and the template facts that distinguish it",
     [](const Context& of, const Kernel& k) -> CellValue { return std::string_view(of.name(k).short_name); }},
    {"kind", text, "gemm, attention, elementwise, reduction, collective, ...",
     [](const Context& of, const Kernel& k) -> CellValue { return kernel_kind_name(of.name(k).kind); }},
    {"family", text, "who wrote it: nvjet, CUTLASS, cuDNN, ...; NULL where the name does not show it, here and below",
     named<&KernelName::family>},
    {"operation", text, "what it computes: add, sum, AllReduce", named<&KernelName::operation>},
    {"arch", text, "sm90, ...", named<&KernelName::arch>},
    {"input_type", text, "bf16, fp32, tf32, ...", named<&KernelName::input_type>},
    {"compute_type", text, "likewise", named<&KernelName::compute_type>},
    {"output_type", text, "likewise", named<&KernelName::output_type>},
    {"tensor_core", flag, "1 where the name says that tensor cores are used, 0 where it says that they are not",
     [](const Context& of, const Kernel& k) -> CellValue { return of.name(k).tensor_core; }},
    {"tile", text, "m x n x k of one block: 256x128x64", named<&KernelName::tile>},
    {"device", id, "number of the GPU", stated<&GpuRow::device>},
    {"stream", id, "number of the CUDA stream", stated<&GpuRow::stream>},
    {"context", id, "number of the CUDA context", stated<&GpuRow::context>},
    {"correlation", id, "what the launch and the kernel share", linked<&GpuRow::correlation>},
    {"graph_id", id, "CUDA graph; NULL where it is in none", linked<&GpuRow::graph_id>},
    {"graph_node_id", id, "its node there", linked<&GpuRow::graph_node_id>},
    {"grid_x", count, "blocks of the launch", extent<&GpuRow::grid, 0>, "blocks"},
    {"grid_y", count, "", extent<&GpuRow::grid, 1>, "blocks"},
    {"grid_z", count, "", extent<&GpuRow::grid, 2>, "blocks"},
    {"block_x", count, "threads of a block", extent<&GpuRow::block, 0>, "threads"},
    {"block_y", count, "", extent<&GpuRow::block, 1>, "threads"},
    {"block_z", count, "", extent<&GpuRow::block, 2>, "threads"},
    {"registers", count, "registers of a thread", shaped<&GpuRow::registers>},
    {"shared_memory", bytes, "of a block, static and dynamic", shaped<&GpuRow::shared_memory>},
    {"blocks_per_sm", real, "as the file states it", stated<&GpuRow::blocks_per_sm>},
    {"warps_per_sm", real, "as the file states it", stated<&GpuRow::warps_per_sm>},
    {"stated_occupancy", percent, "est. achieved occupancy, as the file states it", stated<&GpuRow::occupancy_percent>},
    {"theoretical_occupancy", percent, "warps that fit on an SM at a time, of those it can hold: an upper bound", theoretical},
    {"achieved_occupancy", percent, "the same with as many blocks as the grid has for each SM", achieved},
    {"occupancy_limiter", text, "what keeps more from fitting: warps, registers, shared memory, blocks", limiter},
    {"launch_id", id, "slice.id of the call that launched it; NULL where it is not in the file", of_call<id_of_slice>},
    {"launch", text, "its name", of_call<name_of_slice>},
    {"launch_ts", ns, "its begin", of_call<begin_of_slice>},
    {"launch_dur", ns, "its duration", of_call<duration_of_slice>},
    {"launch_delay", ns, "from the end of the call to the kernel's begin; 0 where it began before", of_call<delay>},
    {"op_id", id, "slice.id of the operator that owns it", operator_id},
    {"operator", text, "its name", operator_name},
    {"step", text, "the step in which it was launched: ProfilerStep#3", of_call<step>},
    {"flops", real, "operations of the operator's call that it is part of, by its shapes; NULL where they are not counted",
     of_work<&Work::flops>},
    {"bytes", real, "what that call must move to and from memory", of_work<&Work::bytes>},
    {"floor_ns", ns, "its least time: its share, by time, of its call's floor; NULL where that is not known", floor_ns},
    {"external_id", id, "what the operator and the kernel share",
     [](const Context& of, const Kernel& k) -> CellValue {
       return if_not_zero(of.trace().slices.external_id[k.gpu.slice.index()]);
     }},
    {"joined", flag, "1 where operator, shapes, module and Python line are those of the graph's capture, else 0",
     [](const Context& of, const Kernel& k) -> CellValue { return of.operator_of(k).joined; }},
    {"input_dims", text, "shapes of the operator's inputs, as JSON", operator_shapes},
    {"module", text, "nn.Module instances around the launch or, of a graph, around what captured it",
     place<&CallPlace::module>},
    {"python", text, "the innermost Python function with a line there that is not PyTorch's or Triton's own",
     place<&CallPlace::python>},
};

class KernelList final : public ColumnRows {
 public:
  explicit KernelList(World& world)
      : ColumnRows(
            std::span<const ColumnOf<Kernel, Context>>(kColumns), [this] { return make(); },
            static_cast<double>(world.trace().gpu.size() + 1)),
        world_(world) {}
  double rows_with_value(int column) const override {
    const std::string_view name = id_of(column);
    return name == "id" || name == "correlation" || name == "launch_id" ? 1 : 0;
  }
  std::vector<std::uint32_t> find(int column, std::int64_t value) override {
    if (id_of(column) == "id") return of_id(value);
    if (!by_correlation_) index_correlations();
    std::uint64_t correlation = static_cast<std::uint64_t>(value);
    if (id_of(column) == "launch_id") {
      if (value < 0 || value >= world_.order().size()) return {};
      const SliceRow row = world_.order().row(static_cast<std::uint32_t>(value));
      const Call* call = world_.order().is_instant(row) ? nullptr : world_.trace().call(SliceId(row));
      if (call == nullptr) return {};
      correlation = call->correlation;
    }
    const auto found = by_correlation_->of(correlation);
    return {found.begin(), found.end()};
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

  std::unique_ptr<TableRows> make() {
    const Trace& trace = world_.trace();
    for (std::uint32_t g = 0; g < trace.gpu.size(); ++g)
      if (trace.kind(trace.gpu[g].slice) == Kind::kernel) rows_.push_back(g);
    std::sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) { return id(a) < id(b); });
    const auto at = [this](std::size_t row) { return Kernel{id(rows_[row]), world_.trace().gpu[rows_[row]]}; };
    return std::make_unique<RowsOf<Kernel, Context, decltype(at)>>(kColumns, Context{world_, names_}, rows_.size(), at);
  }

  World& world_;
  std::vector<std::uint32_t> rows_;  // positions in Trace::gpu, by slice id
  std::optional<SparseIndex> by_correlation_;
  std::unordered_map<StringId, KernelName> names_;
};

}  // namespace

void add_kernel_tables(World& world, TableList& out) {
  out.push_back(column_table("kernel", "every kernel with its resources, occupancy, decoded name, launch, operator and step",
                             std::make_unique<KernelList>(world)));
  // What the rows are of is stored with the function that makes them.
  const auto summary = [&world, table = KernelTable()]() mutable {
    table = gapscope::kernel_table(world.trace(), world.session().links());
    return std::make_unique<KernelRows>(kernel_rows(table, {world.trace(), &world.session().links()}));
  };
  out.push_back(column_table("kernel_summary", "GPU work by name, as `gapscope kernels` prints it",
                             std::make_unique<ColumnRows>(kernel_columns(), summary, 50)));
  const auto roofline = [&world, rows = std::vector<RooflineRow>()]() mutable {
    rows = roofline_rows(world.trace(), world.session().work());
    measure_bytes(world.trace(), world.session().links(), world.session().work(), rows);
    return std::make_unique<RooflineTable>(roofline_table(world.trace(), rows));
  };
  out.push_back(column_table("roofline",
                             "calls of one operator, shapes, types and math: their floor, as `gapscope roofline` prints it",
                             std::make_unique<ColumnRows>(roofline_columns(), roofline, 100)));
}

}  // namespace gapscope::sql
