// Steps, operators, findings, and the plan.
#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/analyze/step_columns.h"
#include "core/replay/plain_program.h"
#include "core/session/trace_session.h"
#include "core/sql/column_table.h"
#include "core/sql/tables.h"

namespace gapscope::sql {
namespace {

using enum Quantity;

struct Op {
  std::uint32_t id;  // of its slice
  SliceId slice;
};
// GPU work that operators own themselves, added up when a value is asked for.
class OwnedWork {
 public:
  struct Sum {
    std::int64_t count = 0;
    Ns time = 0;
  };
  Sum of(World& world, SliceId op) {
    if (!made_) add_up(world);
    const auto at = sums_.find(op.value);
    return at == sums_.end() ? Sum{} : at->second;
  }

 private:
  void add_up(World& world) {
    made_ = true;
    for (const GpuOp& op : world.session().ops())
      if (const SliceId owner = world.session().links().owner_op(world.trace().gpu[op.gpu_row])) {
        Sum& sum = sums_[owner.value];
        ++sum.count;
        sum.time += op.span.length();
      }
  }
  bool made_ = false;
  std::unordered_map<std::uint32_t, Sum> sums_;  // by slice
};
struct OpContext : InWorld {
  OwnedWork& owned;
  OwnedWork::Sum of(const Op& op) const { return owned.of(world, op.slice); }
  Ns duration(std::uint32_t id) const {
    const SliceOrder& order = world.order();
    return order.end(order.row(id)) - order.begin(order.row(id));
  }
};
template <StringId OpRow::*Member>
CellValue stated(const OpContext& in, const Op& op) {
  const OpRow* said = in.trace().op_row(op.slice);
  return said && said->*Member ? CellValue(in.trace().strings[said->*Member]) : CellValue();
}
CellValue self_time(const OpContext& in, const Op& op) {
  const SliceOrder& order = in.world.order();
  Ns self = in.duration(op.id), covered_until = order.begin(order.row(op.id));
  for (const std::uint32_t child : in.world.by_parent().of(op.id)) {  // ids are in order of begin
    const std::uint32_t row = order.row(child);
    self -= std::max<Ns>(order.end(row) - std::max(order.begin(row), covered_until), 0);
    covered_until = std::max(covered_until, order.end(row));
  }
  return self;
}
CellValue parent(const OpContext& in, const Op& op) { return in.id(in.world.tree().parent(op.slice.value)); }
CellValue shown_name(const OpContext& in, const Op& op) {
  const std::string_view name = in.world.shown_name(op.slice.value);
  return name.empty() ? CellValue() : CellValue(name);
}
CellValue step_of(const OpContext& in, const Op& op) {
  if (!in.world.session().steps().annotated) return {};
  const auto step = in.world.session().steps().at(in.trace().begin(op.slice));
  return step ? CellValue(in.world.session().steps().steps[*step].name) : CellValue();
}

constexpr ColumnOf<Op, OpContext> kOp[] = {
    {"id", id, "slice.id", &field<&Op::id>},
    {"ts", ns, "begin", [](const OpContext& in, const Op& op) -> CellValue { return in.trace().begin(op.slice); }},
    {"dur", ns, "duration on the CPU",
     [](const OpContext& in, const Op& op) -> CellValue { return in.world.order().duration(op.slice.value); }},
    {"track_id", id, "track.id",
     [](const OpContext& in, const Op& op) -> CellValue { return in.world.tracks().of_row(in.world.order(), op.slice.value); }},
    {"name", text, "aten::mm", shown_name},
    {"depth", count, "slice.depth",
     [](const OpContext& in, const Op& op) -> CellValue { return in.world.tree().depth(op.slice.value); }},
    {"parent_id", id, "slice.parent_id", parent},
    {"self_dur", ns, "dur without the slices directly in it", self_time},
    {"gpu_ops", count, "kernels, copies and fills that it owns itself, without what operators inside it own",
     [](const OpContext& in, const Op& op) -> CellValue { return in.of(op).count; }},
    {"gpu_dur", ns, "the sum of their durations",
     [](const OpContext& in, const Op& op) -> CellValue { return in.of(op).time; }},
    {"input_dims", text, "shapes of its inputs as JSON; NULL without record_shapes", stated<&OpRow::input_dims>},
    {"input_types", text, "their types as JSON", stated<&OpRow::input_types>},
    {"sequence", id, "what forward and backward share",
     [](const OpContext& in, const Op& op) {
       const OpRow* said = in.trace().op_row(op.slice);
       return said && said->sequence >= 0 ? CellValue(said->sequence) : CellValue();
     }},
    {"collective", text, "name of the collective that it records", stated<&OpRow::collective>},
    {"external_id", id, "what it and its GPU work share",
     [](const OpContext& in, const Op& op) {
       const std::uint64_t external = in.trace().slices.external_id[op.slice.index()];
       return external != 0 ? CellValue(external) : CellValue();
     }},
    {"step", text, "the step that it begins in", step_of},
};

class OpRows final : public ColumnRows {
 public:
  explicit OpRows(World& world)
      : ColumnRows(
            std::span<const ColumnOf<Op, OpContext>>(kOp), [this] { return make(); },
            static_cast<double>(world.trace().slice_count()) / 2 + 1),
        world_(world) {}
  double rows_with_value(int column) const override { return column == 0 ? 1 : 0; }
  std::vector<std::uint32_t> find(int, std::int64_t value) override {
    const auto at = std::ranges::lower_bound(ops_, value, {}, [](const Op& op) { return std::int64_t{op.id}; });
    if (at == ops_.end() || at->id != value) return {};
    return {static_cast<std::uint32_t>(at - ops_.begin())};
  }

 private:
  std::unique_ptr<TableRows> make() {
    const SliceOrder& order = world_.order();
    ops_.clear();
    for (std::uint32_t id = 0; id < order.size(); ++id)
      if (const SliceRow row = order.row(id); !order.is_instant(row) && world_.trace().kind(SliceId(row)) == Kind::op)
        ops_.push_back({id, SliceId(row)});
    return rows_of(kOp, OpContext{{world_}, owned_}, std::span<const Op>(ops_));
  }

  World& world_;
  std::vector<Op> ops_;
  OwnedWork owned_;
};

// How `finding` relates to the one that leads it.
template <bool Merged>
CellValue leader(const InWorld&, const RankedFinding& f) {
  return f.led_by >= 0 && f.merged == Merged ? CellValue(f.led_by) : CellValue();
}
const FindingSpan* place_of(const RankedFinding& f) { return f.finding.spans.empty() ? nullptr : &f.finding.spans.front(); }
CellValue gained(const InWorld&, const RankedFinding& f) { return f.gain ? CellValue(f.gain->most) : CellValue(); }

constexpr ColumnOf<RankedFinding, InWorld> kFinding[] = {
    {"id", id, "number of the finding, the costliest first",
     [](const InWorld& in, const RankedFinding& f) -> CellValue { return &f - in.world.diagnosis().findings.data(); }},
    {"rule", text, "what the guide calls it: overhead_bound",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return f.finding.rule->id; }},
    {"class", text, "problem, reading help, recording, ...",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return rule_class_name(f.finding.rule->rule_class); }},
    {"severity", text, "costly, notable or informational",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return severity_name(f.finding.severity); }},
    {"title", text, "",
     [](const InWorld& in, const RankedFinding& f) -> CellValue { return title_of(in.world.diagnosis(), *f.finding.rule); }},
    {"summary", text, "one or two sentences with the numbers",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return f.finding.summary; }},
    {"cost", ns, "time at stake; of a part of another finding as its rule sees it",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return f.finding.cost; }},
    {"meaning", text, "what it usually means",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return meaning_of(f.finding); }},
    {"remedy", text, "what to do", [](const InWorld&, const RankedFinding& f) -> CellValue { return remedy_of(f.finding); }},
    {"led_by", id, "the finding that explains this one", leader<false>},
    {"part_of", id, "the finding that counts its time", leader<true>},
    {"ts", ns, "begin of its first place",
     [](const InWorld&, const RankedFinding& f) { return place_of(f) ? CellValue(place_of(f)->span.begin) : CellValue(); }},
    {"dur", ns, "duration of that",
     [](const InWorld&, const RankedFinding& f) { return place_of(f) ? CellValue(place_of(f)->span.length()) : CellValue(); }},
    {"slice_id", id, "slice.id of that; NULL where it is a gap",
     [](const InWorld& in, const RankedFinding& f) { return place_of(f) ? in.id(place_of(f)->slice) : CellValue(); }},
    {"places", count, "how many it names",
     [](const InWorld&, const RankedFinding& f) -> CellValue { return f.finding.spans.size(); }},
    {"gain", ns, "what its remedy saves, by a replay; NULL where that is not known", gained},
    {"gain_share", real, "of the run",
     [](const InWorld& in, const RankedFinding& f) {
       return f.gain ? CellValue(in.world.diagnosis().plan.share(f.gain->most)) : CellValue();
     }},
    {"gain_kind", text, "about: an estimate; up to: an upper limit",
     [](const InWorld&, const RankedFinding& f) {
       return f.gain ? CellValue(f.gain->exact ? "about" : "up to") : CellValue();
     }},
};

using PlanItem = Plan::Item;
const Rule& rule_of(const InWorld& in, const PlanItem& item) {
  return *in.world.diagnosis().findings[static_cast<std::size_t>(item.finding)].finding.rule;
}
constexpr ColumnOf<PlanItem, InWorld> kPlan[] = {
    {"rule", text, "whose remedy", [](const InWorld& in, const PlanItem& i) -> CellValue { return rule_of(in, i).id; }},
    {"title", text, "its title", [](const InWorld& in, const PlanItem& i) -> CellValue { return rule_of(in, i).title; }},
    {"saved", ns, "what it saves after those above", &field<&PlanItem::most>},
    {"after", ns, "length of the run then", [](const InWorld&, const PlanItem& i) -> CellValue { return i.least; }},
    {"step_after", ns, "the mean of a step then",
     [](const InWorld& in, const PlanItem& i) -> CellValue { return in.world.diagnosis().plan.each(i.least); }},
    {"kind", text, "about: the remedy does just that; up to: it does no more",
     [](const InWorld&, const PlanItem& i) -> CellValue { return i.exact ? "about" : "up to"; }},
};

template <Ns PlainProgram::*Time>
CellValue of_plain_step(const InWorld&, const PlainProgram& p) {
  return p.steps > 0 ? CellValue(p.*Time) : CellValue();
}
constexpr ColumnOf<PlainProgram, InWorld> kPlainStep[] = {
    {"step", ns, "mean length of a step without the profiler; NULL where the recording has no steps",
     of_plain_step<&PlainProgram::step>},
    {"low", ns, "in nine of ten cases a step is from here", of_plain_step<&PlainProgram::low>},
    {"high", ns, "to here", of_plain_step<&PlainProgram::high>},
    {"source", text, "stated, measured or estimated",
     [](const InWorld&, const PlainProgram& p) -> CellValue { return plain_source_name(p.source); }},
    {"gpu_share", share, "of it in which the GPU works", &field<&PlainProgram::gpu_share>},
    {"verdict", text, "what limits it",
     [](const InWorld& in, const PlainProgram&) -> CellValue { return in.world.diagnosis().plain_verdict; }},
};

}  // namespace

void add_work_tables(World& world, TableList& out) {
  const InWorld in{world};
  const auto steps = [in] {
    return std::make_unique<StepRows>(
        step_rows(in.world.session().steps().steps, {in.trace(), [in](SliceId slice) { return in.id(slice); }}));
  };
  out.push_back(column_table("step", "each step of the recording, and what its time went into",
                             std::make_unique<ColumnRows>(step_columns(), steps, 10)));
  out.push_back(
      column_table("op", "every operator with its own time, its GPU work, shapes and step", std::make_unique<OpRows>(world)));
  out.push_back(column_table(
      "finding", "what costs time, as `gapscope diagnose` prints it", kFinding, in,
      [&world] { return std::span(world.diagnosis().findings); }, 20));
  out.push_back(column_table("plan", "remedies one after the other, by replays; the surer first where it saves as much", kPlan,
                             in, [&world] { return std::span(world.diagnosis().plan.items); }));
  out.push_back(column_table("plain_step", "a step without the profiler; no row where it is unknown", kPlainStep, in, [&world] {
    const PlainProgram* plain = world.diagnosis().plain.get();
    return std::span(plain, plain == nullptr ? 0u : 1u);
  }));
}

}  // namespace gapscope::sql
