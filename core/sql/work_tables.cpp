// Steps, operators, findings, and the plan.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/sql/column_table.h"
#include "core/sql/list_table.h"
#include "core/sql/slice_columns.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

enum : int {
  kStepId,
  kStepName,
  kStepTs,
  kStepDur,
  kStepSpanTs,
  kStepSpanDur,
  kStepGpuTs,
  kStepGpuDur,
  kStepGpuOps,
  kStepKernels,
  kStepLaunches,
  kStepFirstRole
};
constexpr ColumnInfo kStep[] = {
    {"id", Type::integer, "", "slice.id of the annotation; NULL where none was recorded and all is one step"},
    {"name", Type::text, "", "ProfilerStep#3"},
    {"ts", Type::integer, "ns", "begin of the annotation"},
    {"dur", Type::integer, "ns", "its duration"},
    {"span_ts", Type::integer, "ns", "begin once GPU work is counted, as PyTorch's TensorBoard plugin does"},
    {"span_dur", Type::integer, "ns", "the duration by that: the sum of the parts below"},
    {"gpu_ts", Type::integer, "ns", "first begin of the GPU work launched in it; NULL where there is none"},
    {"gpu_dur", Type::integer, "ns", "to the last end of it"},
    {"gpu_ops", Type::integer, "", "kernels, copies and fills launched by a call that lies in it"},
    {"kernels", Type::integer, "", "kernels whose launch begins in it"},
    {"launches", Type::integer, "", "calls that begin in it and started GPU work"},
    {"kernel_ns", Type::integer, "ns", "of the span: a kernel ran"},
    {"memcpy_ns", Type::integer, "ns", "else a copy"},
    {"memset_ns", Type::integer, "ns", "else a fill"},
    {"communication_ns", Type::integer, "ns", "else a collective was under way"},
    {"runtime_ns", Type::integer, "ns", "else the host was in the CUDA runtime"},
    {"data_loader_ns", Type::integer, "ns", "else in the data loader"},
    {"cpu_exec_ns", Type::integer, "ns", "else in an operator or annotation"},
    {"other_ns", Type::integer, "ns", "the rest"},
};
static_assert(std::size(kStep) == kStepFirstRole + kStepRoles);

class StepRows final : public RowList {
 public:
  explicit StepRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(world_.steps().steps.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const Step& step = world_.steps().steps[row];
    switch (column) {
      case kStepId: return step.slice ? give(out, std::int64_t{world_.order().id(step.slice)}) : give_null(out);
      case kStepName: return give(out, std::string_view(step.name));
      case kStepTs: return give(out, step.cpu.begin);
      case kStepDur: return give(out, step.cpu.length());
      case kStepSpanTs: return give(out, step.span.begin);
      case kStepSpanDur: return give(out, step.span.length());
      case kStepGpuTs: return step.gpu_ops > 0 ? give(out, step.gpu.begin) : give_null(out);
      case kStepGpuDur: return step.gpu_ops > 0 ? give(out, step.gpu.length()) : give_null(out);
      case kStepGpuOps: return give(out, std::int64_t{step.gpu_ops});
      case kStepKernels: return give(out, std::int64_t{step.kernels});
      case kStepLaunches: return give(out, std::int64_t{step.launches});
      default: return give(out, step.time[static_cast<std::size_t>(column - kStepFirstRole)]);
    }
  }
  double about_rows() const override { return 10; }

 private:
  World& world_;
};

enum : int {
  kOpId,
  kOpTs,
  kOpDur,
  kOpTrack,
  kOpName,
  kOpDepth,
  kOpParent,
  kOpSelf,
  kOpKernels,
  kOpGpu,
  kOpDims,
  kOpTypes,
  kOpSequence,
  kOpCollective,
  kOpExternalId,
  kOpStep
};
constexpr ColumnInfo kOp[] = {
    {"id", Type::integer, "", "slice.id"},
    {"ts", Type::integer, "ns", "begin"},
    {"dur", Type::integer, "ns", "duration on the CPU"},
    {"track_id", Type::integer, "", "track.id"},
    {"name", Type::text, "", "aten::mm"},
    {"depth", Type::integer, "", "slice.depth"},
    {"parent_id", Type::integer, "", "slice.parent_id"},
    {"self_dur", Type::integer, "ns", "dur less that of what lies directly in it"},
    {"gpu_ops", Type::integer, "", "kernels, copies and fills that it owns itself, without what operators inside it own"},
    {"gpu_dur", Type::integer, "ns", "the sum of their durations"},
    {"input_dims", Type::text, "", "shapes of its inputs as JSON; NULL without record_shapes"},
    {"input_types", Type::text, "", "their types as JSON"},
    {"sequence", Type::integer, "", "what forward and backward share"},
    {"collective", Type::text, "", "name of the collective that it records"},
    {"external_id", Type::integer, "", "what it and its GPU work share"},
    {"step", Type::text, "", "the step that it begins in"},
};

class OpRows final : public RowList {
 public:
  explicit OpRows(World& world) : world_(world) {}
  std::optional<Error> prepare() override {
    if (!ids_.empty()) return std::nullopt;
    const SliceOrder& order = world_.order();
    const Trace& trace = world_.trace();
    for (std::uint32_t id = 0; id < order.size(); ++id)
      if (const SliceRow row = order.row(id); !order.is_instant(row) && trace.kind(SliceId(row)) == Kind::op)
        ids_.push_back(id);
    return std::nullopt;
  }
  std::uint32_t rows() override { return static_cast<std::uint32_t>(ids_.size()); }
  double about_rows() const override { return static_cast<double>(world_.trace().slice_count()) / 2 + 1; }
  double rows_with_value(int column) const override { return column == kOpId ? 1 : 0; }
  std::vector<std::uint32_t> find(int, std::int64_t value) override {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), value);
    return at != ids_.end() && *at == value ? std::vector{static_cast<std::uint32_t>(at - ids_.begin())}
                                            : std::vector<std::uint32_t>{};
  }

  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    constexpr int kSame[] = {kSliceId, kSliceTs, kSliceDur, kSliceTrack, kSliceName, kSliceDepth, kSliceParent};
    const std::uint32_t id = ids_[row];
    const SliceId slice(world_.order().row(id));
    if (column <= kOpParent) return give_slice_column(world_, out, id, kSame[column]);
    if (column == kOpSelf) return give(out, self_time(id));
    if (column <= kOpGpu) return give_gpu(out, slice, column);
    if (column == kOpExternalId) {
      if (const std::uint64_t external = world_.trace().slices.external_id[slice.index()]; external != 0)
        give(out, static_cast<std::int64_t>(external));
      return;
    }
    if (column == kOpStep) return give_step(out, slice);
    if (const OpRow* op = world_.trace().op_row(slice)) give_said(out, *op, column);
  }

 private:
  Ns self_time(std::uint32_t id) {
    const SliceOrder& order = world_.order();
    Ns self = order.end(order.row(id)) - order.begin(order.row(id));
    for (const std::uint32_t child : world_.by_parent().of(id))
      self -= order.end(order.row(child)) - order.begin(order.row(child));
    return self;
  }
  void give_gpu(sqlite3_context* out, SliceId slice, int column) {
    if (!owned_made_) {
      owned_made_ = true;
      for (const GpuOp& op : world_.gpu_ops())
        if (const SliceId owner = world_.links().owner_op(world_.trace().gpu[op.gpu_row])) {
          Owned& owned = owned_[owner.value];
          ++owned.count;
          owned.time += op.span.length();
        }
    }
    const auto at = owned_.find(slice.value);
    if (column == kOpKernels) return give(out, at == owned_.end() ? std::int64_t{0} : at->second.count);
    give(out, at == owned_.end() ? Ns{0} : at->second.time);
  }
  void give_step(sqlite3_context* out, SliceId slice) {
    if (!world_.steps().annotated) return;
    if (const auto step = world_.steps().at(world_.trace().begin(slice))) give_copy(out, world_.steps().steps[*step].name);
  }
  void give_said(sqlite3_context* out, const OpRow& op, int column) {
    const auto give_text = [&](StringId text) {
      if (text) give(out, world_.trace().strings[text]);
    };
    switch (column) {
      case kOpDims: return give_text(op.input_dims);
      case kOpTypes: return give_text(op.input_types);
      case kOpCollective: return give_text(op.collective);
      default:
        if (op.sequence >= 0) give(out, op.sequence);
    }
  }

  struct Owned {
    std::int64_t count = 0;
    Ns time = 0;
  };
  World& world_;
  std::vector<std::uint32_t> ids_;
  std::unordered_map<std::uint32_t, Owned> owned_;  // by slice
  bool owned_made_ = false;
};

constexpr ColumnInfo kFinding[] = {
    {"id", Type::integer, "", "number of the finding, the costliest first"},
    {"rule", Type::text, "", "what the guide calls it: overhead_bound"},
    {"class", Type::text, "", "problem, reading help, recording, ..."},
    {"severity", Type::text, "", "costly, notable or informational"},
    {"title", Type::text, "", ""},
    {"summary", Type::text, "", "one or two sentences with the numbers"},
    {"cost", Type::integer, "ns", "time at stake; of a part of another finding as its rule sees it"},
    {"meaning", Type::text, "", "what it usually means"},
    {"remedy", Type::text, "", "what to do"},
    {"led_by", Type::integer, "", "the finding that explains this one"},
    {"part_of", Type::integer, "", "the finding that counts its time"},
    {"ts", Type::integer, "ns", "begin of its first place"},
    {"dur", Type::integer, "ns", "duration of that"},
    {"slice_id", Type::integer, "", "slice.id of that; NULL where it is a gap"},
    {"places", Type::integer, "", "how many it names"},
    {"gain", Type::integer, "ns", "by so much the run is shorter with its remedy, by a replay; NULL where that is not known"},
    {"gain_share", Type::real, "", "of the run"},
    {"gain_kind", Type::text, "", "about: the remedy does just that; up to: it does no more"},
};

class FindingRows final : public RowList {
 public:
  explicit FindingRows(World& world) : world_(world) {}
  std::uint32_t rows() override { return static_cast<std::uint32_t>(world_.diagnosis().findings.size()); }
  void give_value(sqlite3_context* out, std::uint32_t row, int column) override {
    const RankedFinding& ranked = world_.diagnosis().findings[row];
    const Finding& f = ranked.finding;
    if (column >= 11 && column <= 13) return give_place(out, f, column);
    if (column >= 15) return give_gain(out, ranked, column);
    switch (column) {
      case 0: return give(out, std::int64_t{row});
      case 1: return give(out, f.rule->id);
      case 2: return give(out, rule_class_name(f.rule->rule_class));
      case 3: return give(out, severity_name(f.severity));
      case 4: return give(out, f.rule->title);
      case 5: return give(out, std::string_view(f.summary));
      case 6: return give(out, f.cost);
      case 7: return give(out, meaning_of(f));
      case 8: return give(out, remedy_of(f));
      case 9: return ranked.led_by >= 0 && !ranked.merged ? give(out, std::int64_t{ranked.led_by}) : give_null(out);
      case 10: return ranked.led_by >= 0 && ranked.merged ? give(out, std::int64_t{ranked.led_by}) : give_null(out);
      default: return give(out, static_cast<std::int64_t>(f.spans.size()));
    }
  }
  double about_rows() const override { return 20; }

 private:
  void give_gain(sqlite3_context* out, const RankedFinding& f, int column) {
    if (!f.gain) return;
    if (column == 15) return give(out, f.gain->time);
    if (column == 16) return sqlite3_result_double(out, world_.diagnosis().plan.share(f.gain->time));
    give(out, std::string_view(f.gain->exact ? "about" : "up to"));
  }
  void give_place(sqlite3_context* out, const Finding& f, int column) {
    if (f.spans.empty()) return;
    const FindingSpan& place = f.spans.front();
    if (column == 13) return place.slice ? give(out, std::int64_t{world_.order().id(place.slice)}) : give_null(out);
    give(out, column == 11 ? place.span.begin : place.span.length());
  }
  World& world_;
};

struct PlanRow {
  std::string_view rule, title;
  Plan::Item item;
};
struct PlanContext {
  const Plan* plan;
};
constexpr ColumnOf<PlanRow, PlanContext> kPlan[] = {
    {"rule", Quantity::text, "whose remedy", [](const PlanContext&, const PlanRow& r) { return CellValue(r.rule); }},
    {"title", Quantity::text, "its title", [](const PlanContext&, const PlanRow& r) { return CellValue(r.title); }},
    {"saved", Quantity::ns, "by so much the run is shorter with it, after those above",
     [](const PlanContext&, const PlanRow& r) { return CellValue(r.item.saved); }},
    {"after", Quantity::ns, "length of the run then",
     [](const PlanContext&, const PlanRow& r) { return CellValue(r.item.after); }},
    {"step_after", Quantity::ns, "the mean of a step then",
     [](const PlanContext& c, const PlanRow& r) { return CellValue(c.plan->each(r.item.after)); }},
    {"kind", Quantity::text, "about: the remedy does just that; up to: it does no more",
     [](const PlanContext&, const PlanRow& r) { return CellValue(r.item.exact ? "about" : "up to"); }},
};

std::unique_ptr<TableRows> plan_rows(const Diagnosis& diagnosis) {
  std::vector<PlanRow> rows;
  for (const Plan::Item& item : diagnosis.plan.items) {
    const Rule& rule = *diagnosis.findings[static_cast<std::size_t>(item.finding)].finding.rule;
    rows.push_back({rule.id, rule.title, item});
  }
  const std::size_t count = rows.size();
  const auto at = [rows = std::move(rows)](std::size_t i) -> const PlanRow& { return rows[i]; };
  return std::make_unique<RowsOf<PlanRow, PlanContext, decltype(at)>>(std::span<const ColumnOf<PlanRow, PlanContext>>(kPlan),
                                                                      PlanContext{&diagnosis.plan}, count, at);
}

}  // namespace

void add_work_tables(World& world, TableList& out) {
  out.push_back(
      list_table("step", "each step of the recording, and what its time went into", kStep, std::make_unique<StepRows>(world)));
  out.push_back(list_table("op", "every operator with its own time, its GPU work, shapes and step", kOp,
                           std::make_unique<OpRows>(world)));
  out.push_back(list_table("finding", "what costs time, as `gapscope diagnose` tells it", kFinding,
                           std::make_unique<FindingRows>(world)));
  using PlanColumns = std::span<const ColumnOf<PlanRow, PlanContext>>;
  out.push_back(
      column_table("plan", "remedies one after the other, each that which gives most, by replays",
                   std::make_unique<ColumnRows>(PlanColumns(kPlan), [&world] { return plan_rows(world.diagnosis()); })));
}

}  // namespace gapscope::sql
