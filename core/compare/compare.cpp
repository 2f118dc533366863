#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/analyze/operators/flops.h"
#include "core/analyze/steps.h"
#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/compare/comparison.h"
#include "core/compare/kernel_changes.h"
#include "core/compare/operator_diff.h"
#include "core/compare/pair_findings.h"
#include "core/compare/plain_name.h"
#include "core/compare/side_reader.h"
#include "core/compare/step_tree.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

// Medians closer than this are never called a difference: clocks of CPU and GPU tick in tens of nanoseconds.
constexpr double kLeastDifference = 0.02;

std::optional<double> quotient(std::int64_t x, std::int64_t y) {
  if (y == 0) return std::nullopt;
  return static_cast<double>(x) / static_cast<double>(y);
}

// Of the steps that count.
std::vector<std::int64_t> values_of(StepFigure figure, const SideData& data) {
  std::vector<std::int64_t> values;
  for (std::size_t s = data.steps.size() - data.side.counted; s < data.steps.size(); ++s)
    values.push_back(data.steps[s].values[static_cast<std::size_t>(figure)]);
  return values;
}

FigureChange change_of(StepFigure figure, const SideData& data_a, const SideData& data_b) {
  const Side &a = data_a.side, &b = data_b.side;
  const StepSpread &x = a.of(figure), &y = b.of(figure);
  FigureChange out;
  out.figure = figure;
  out.ratio = quotient(x.median, y.median);
  out.ratio_low = quotient(x.lower, y.upper);
  out.ratio_high = quotient(x.upper, y.lower);
  if (!is_time(figure) || x.median == 0 || y.median == 0) {
    out.differs = x.median != y.median;
    return out;
  }
  const double apart = std::max(*out.ratio, 1 / *out.ratio) - 1;
  const bool spread_known = a.counted > 1 && b.counted > 1;
  const bool spreads_meet = x.lower <= y.upper && y.lower <= x.upper;
  out.interval = ratio_interval(values_of(figure, data_a), values_of(figure, data_b));
  const bool may_be_equal = out.interval && out.interval->holds(1);
  out.differs = spread_known ? !spreads_meet && !may_be_equal && apart > kLeastDifference : apart > kUnknownNoise;
  return out;
}

// The largest one distinguishes another problem from another program.
std::optional<double> largest_product(const SideData& data) {
  std::optional<double> most;
  for (const std::size_t s : data.picked) {
    for (const std::uint32_t i : data.steps[s].ops) {
      const CallWork* call = data.work().call_of_kernel(data.ops()[i].slice);
      if (call == nullptr || !data.work().rows[call->row].is_product) continue;
      const double count = data.work().rows[call->row].each.flops.value_or(0);
      if (count > 0) most = std::max(most.value_or(0), count);
    }
  }
  return most;
}

bool has_compiled_regions(const Trace& trace) {
  for (std::size_t i = 0; i < trace.strings.size(); ++i)
    if (is_compiled_region_name(trace.strings[StringId(i)])) return true;
  return false;
}

void add_likeness(const SideData& a, const SideData& b, const KernelChanges& kernels, Comparison& out) {
  const bool other_grids =
      std::any_of(kernels.rows.begin(), kernels.rows.end(), [](const KernelChange& row) { return row.other_grid; });
  out.like = likeness_of(problem_of(a), problem_of(b), other_grids, out.a.of(StepFigure::gpu_busy).median,
                         out.b.of(StepFigure::gpu_busy).median, out.of_whole() ? "B" : "A step of B");
  for (FigureChange& change : out.changes) change.equal_work = out.like.work != SameWork::other;
}

void add_notes(Comparison& out, const SideData& a, const SideData& b, bool cut) {
  const auto note = [&](std::string text) { out.notes.push_back(std::move(text)); };
  for (const auto& [data, name] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
    if (!data->side.has_gpu_work)
      note(fmt::format("{} has no GPU work: record with {}.", name, data->input->session.trace().producer->gpu_work));
    else if (!data->any_linked)
      note(fmt::format("{} has no launches of its GPU work{}.", name,
                       data->side.annotated ? ": work counts to the step in which it began" : ""));
  }
  if (a.side.annotated != b.side.annotated)
    note(fmt::format("{} has no {}: its whole trace counts as one step.", a.side.annotated ? "B" : "A",
                     printable((a.side.annotated ? a : b).side.steps_of)));
  if (a.side.annotated && b.side.annotated && a.side.steps_of != b.side.steps_of && !a.by_optimizer && !b.by_optimizer)
    note(fmt::format(
        "The steps of A are \"{}\" and those of B \"{}\": they do different work. --annotation names what both have.",
        printable(a.side.steps_of), printable(b.side.steps_of)));
  if (a.by_common_marks)
    note(fmt::format("Neither trace has ProfilerStep#: each \"{}\" counts as a step, {} in A and {} in B.",
                     printable(a.side.steps_of), a.side.steps, b.side.steps));
  if (!a.side.annotated && !b.side.annotated) {
    std::string text = "Neither trace has ProfilerStep#: each is compared as a whole";
    const auto in_a = annotation_names(a.input->session.trace()), in_b = annotation_names(b.input->session.trace());
    const auto common = std::find_if(in_a.begin(), in_a.end(), [&](const auto& x) {
      return std::any_of(in_b.begin(), in_b.end(), [&](const auto& y) { return x.first == y.first; });
    });
    note(text +
         (common == in_a.end() ? "." : fmt::format("; --annotation \"{}\" compares its instances.", printable(common->first))));
  } else if (a.side.counted < 2 || b.side.counted < 2) {
    note(fmt::format("A single step does not show noise: times count as different beyond {:.0f} %.", kUnknownNoise * 100));
  }
  if (out.like.work == SameWork::unknown && a.side.has_gpu_work && b.side.has_gpu_work)
    note(
        "Whether both do equal work is unknown: shapes of some work are in only one of the files, or in neither. "
        "record_shapes=True records them; work inside CUDA graphs has none.");
  const auto [fewer, more] = std::minmax(a.side.counted, b.side.counted);
  if (fewer >= 2 && fewer < kEnoughSteps)
    note(fmt::format("Intervals are by bootstrap over {} steps{}: with so few they are narrower than they should be.", fewer,
                     more == fewer ? " on each side" : fmt::format(" on one side and {} on the other", more)));
  if (cut)
    note(
        "The operator trees are too large to be aligned as a whole: long lists were aligned in pieces, or the deepest levels "
        "left out.");
}

}  // namespace

namespace {

using TwoSides = std::array<std::optional<Result<SideData>>, 2>;

TwoSides read_sides(const std::array<const ComparedTrace*, 2>& inputs, const CompareOptions& options) {
  TwoSides out;
  parallel_for(hardware_threads(), 2, [&](std::size_t i) { out[i].emplace(read_side(*inputs[i], options)); });
  return out;
}

// Of its GPU work, in steps.
bool is_nearly_all(const SideData& data) {
  constexpr double kNearlyAll = 0.9;
  std::size_t inside = 0;
  for (const ComparedStep& step : data.steps) inside += step.ops.size();
  return static_cast<double>(inside) >= kNearlyAll * static_cast<double>(data.ops().size());
}

// Where neither trace has steps: with an annotation around all GPU work that one has more often, the wholes are no pair, and
// its instances represent steps.
void take_common_marks(const std::array<const ComparedTrace*, 2>& inputs, CompareOptions options, TwoSides& sides) {
  if (!options.annotation.empty() || options.pick == StepPick::number) return;
  const SideData &first = **sides[0], &second = **sides[1];
  if (first.side.annotated && second.side.annotated) return;
  for (const SideData* side : {&first, &second})
    if (side->side.annotated && !side->by_regularity) return;
  const auto in_a = annotation_names(inputs[0]->session.trace()), in_b = annotation_names(inputs[1]->session.trace());
  std::set<std::string> common;  // in order of name: whichever is A
  for (const auto& [name, count] : in_a)
    for (const auto& [other, other_count] : in_b)
      if (name == other && count != other_count) common.emplace(name);
  for (const std::string& name : common) {
    options.annotation = name;
    TwoSides marked = read_sides(inputs, options);
    if (!marked[0]->ok() || !marked[1]->ok() || !is_nearly_all(**marked[0]) || !is_nearly_all(**marked[1])) continue;
    for (auto& side : marked) (**side).by_common_marks = true;
    sides = std::move(marked);
    return;
  }
}

}  // namespace

Result<Comparison> compare(const ComparedTrace& a, const ComparedTrace& b, const CompareOptions& options,
                           const std::atomic<bool>* cancel) {
  const auto cancelled = [&] { return cancel != nullptr && *cancel; };
  const std::array<const ComparedTrace*, 2> inputs = {&a, &b};
  TwoSides read = read_sides(inputs, options);
  for (const auto& side : read)
    if (!side->ok()) return side->error();
  if (cancelled()) return Comparison{};
  take_common_marks(inputs, options, read);
  std::array<StepTree, 2> trees;
  std::array<std::optional<PlainNameKeys>, 2> keys;
  parallel_for(hardware_threads(), 2, [&](std::size_t i) {
    if (cancelled()) return;
    keys[i].emplace(inputs[i]->session.trace());
    (**read[i]).side.has_compiled_regions = has_compiled_regions(inputs[i]->session.trace());
    trees[i] = step_tree(**read[i], *keys[i]);
  });
  if (cancelled()) return Comparison{};
  const SideData &side_a = **read[0], &side_b = **read[1];

  Comparison out;
  out.a = side_a.side;
  out.b = side_b.side;
  for (std::size_t f = 0; f < kStepFigures; ++f) out.changes[f] = change_of(static_cast<StepFigure>(f), side_a, side_b);
  KernelChanges kernels = kernel_changes(side_a, *keys[0], side_b, *keys[1]);
  add_likeness(side_a, side_b, kernels, out);
  out.kernel_totals = kernels.totals;
  OperatorDiff operators = diff_operators(side_a, trees[0], side_b, trees[1], cancel);
  if (cancelled()) return Comparison{};
  out.operators = std::move(operators.nodes);
  out.operators_cut = operators.in_pieces || kernels.in_pieces || trees[0].cut || trees[1].cut;
  out.kernels = kernels.rows;
  const PairFacts facts{a, b, out, kernels, largest_product(side_a), largest_product(side_b), options.pick == StepPick::all};
  out.findings = pair_findings(facts);
  out.is_unchanged = is_unchanged(facts);
  out.verdict = pair_verdict(facts);
  add_notes(out, side_a, side_b, out.operators_cut);
  return out;
}

}  // namespace gapscope
