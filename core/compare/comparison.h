#pragma once
// Two traces side by side, a before and b after: did the change help, and why? Plain values, as core/view and the command
// line show them. Times are nanoseconds of one step (of all steps together with StepPick::all). a against b is the exact
// mirror of b against a; a trace against itself has no difference.
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/compare/bootstrap.h"
#include "core/compare/likeness.h"
#include "core/session/trace_session.h"
#include "core/trace/trace.h"

namespace gapscope {

struct WorkTable;

// A finding of the diagnosis, as a plain value: comparing knows no rules.
struct NamedFinding {
  std::string rule;   // "overhead_bound"
  std::string title;  // "The host cannot feed the GPU"
  bool problem = false;
  Ns cost = 0;           // of a step (of the whole trace where it has none)
  bool is_idle = false;  // whether that is time in which the GPU is idle; else it works
};

// What is read of one trace; the references are used during the call only.
struct ComparedTrace {
  const TraceSession& session;
  std::optional<std::vector<NamedFinding>> diagnosed =
      {};  // nullopt: not diagnosed, so nothing is said of findings gone and new
};

// Which step the kernels and operators are taken of. `median`: the step of median CPU duration among those that count (see
// Side::counted); of an even number the shorter of the middle two, and the first of equals.
enum class StepPick : std::uint8_t { median, number, all };

struct CompareOptions {
  StepPick pick = StepPick::median;
  std::int64_t number = 0;  // StepPick::number: N of ProfilerStep#N; with an annotation its N-th instance, from 0
  std::string annotation;   // what marks a step; empty: ProfilerStep#N
};

// The rows of the step table.
enum class StepFigure : std::uint8_t {
  cpu,       // ns: length of the step on the CPU
  gpu_time,  // ns: sum of the durations of GPU work that the step launched
  gpu_busy,  // ns: union of these
  idle,      // ns: of the time from the step's begin (or the end of the GPU work of the step before) to the end of its own
             // GPU work (or of the step, whichever is later) no GPU work runs
  gpu_ops,   // kernels, copies, memsets
  kernels,
  launches,  // calls that started GPU work: of kernels, copies, memsets and graphs
  graph_launches,
  copies,
  count_
};
constexpr std::size_t kStepFigures = static_cast<std::size_t>(StepFigure::count_);
std::string_view figure_key(StepFigure figure);    // "cpu_ns", "kernels_per_step"
std::string_view figure_title(StepFigure figure);  // "CPU time"
bool is_time(StepFigure figure);                   // nanoseconds; else a count

using StepValues = std::array<std::int64_t, kStepFigures>;

// One figure over the steps that count. The middle of two is rounded down; so are quartiles, between their neighbours.
struct StepSpread {
  std::int64_t median = 0, min = 0, max = 0;
  std::int64_t lower = 0, upper = 0;  // quartiles
  std::int64_t mean = 0;              // rounded down
};

struct Side {
  std::string file;                                // the path as given
  std::string steps_of;                            // "ProfilerStep#", the annotation, or "the whole trace"
  bool annotated = false;                          // false: the whole trace is one step
  std::size_t steps = 0;                           // found
  std::size_t counted = 0;                         // of them: all but a cold first one, where there are at least two
  std::array<StepSpread, kStepFigures> figures{};  // over the steps that count
  std::optional<StepValues> cold;                  // the first step, where it is left out
  std::string picked;                              // "ProfilerStep#3": whose kernels and operators are shown; "all steps"
  SliceId picked_slice;                            // none: the whole trace, or all steps
  StepValues picked_values{};
  bool has_gpu_work = false;
  bool has_compiled_regions = false;
  const StepSpread& of(StepFigure figure) const { return figures[static_cast<std::size_t>(figure)]; }
};

// How one figure went from a to b. `ratio` is a / b of the medians: above 1 b is smaller. Its spread is made of the
// quartiles (a.lower / b.upper .. a.upper / b.lower): the middle half of the steps, so that one odd step does not hide a gain.
struct FigureChange {
  StepFigure figure{};
  std::optional<double> ratio, ratio_low, ratio_high;  // nullopt where b (its quartile) is 0
  std::optional<Interval> interval;  // of the ratio, by bootstrap over the steps: of times, with two steps or more on each side
  bool differs = false;              // neither spread nor interval covers 1; with a single step on a side, beyond kUnknownNoise
  bool equal_work = true;            // false: the sides do other work, and neither is faster or slower
};
// How a ratio a / b above 0 is said everywhere: "1.25x faster", "1.30x slower"; of what is not a time of work, "less" and
// "more"; of other work, "shorter" and "longer".
std::string ratio_text(StepFigure figure, double ratio, bool equal_work = true);
// What became of the medians: "1.25x faster", "+3", "same", "no difference that these steps can show" ("beyond noise" where a
// side has a single step); empty where one of them is 0.
std::string change_text(const FigureChange& change, const StepSpread& a, const StepSpread& b);
constexpr double kUnknownNoise = 0.05;  // the share that one step differs from the next easily (heuristic)

enum class KernelChangeClass : std::uint8_t {
  same,      // the same name: the same math
  epilogue,  // the same product, something else done to the result (bz -> badd, bias)
  layout,    // operands read transposed or not
  dtype,     // other data types
  tile,      // other tile, stages, cluster or split: the library chose another variant
  family,    // another library or generator for the same sort of work
  fused,     // several kernels of one side are one generated kernel of the other
  added,     // only in b
  removed,   // only in a
  count_
};
constexpr std::size_t kKernelChangeClasses = static_cast<std::size_t>(KernelChangeClass::count_);
std::string_view kernel_change_name(KernelChangeClass c);
std::string_view explain(KernelChangeClass c);  // one line for hovering

struct KernelChange {
  KernelChangeClass change{};
  std::string name_a, name_b;  // as in the file; empty on the side that lacks it; of `fused`, the many: short ones, "x + y"
  std::string detail;          // "epilogue bz -> badd"; empty where the names say no more
  std::uint32_t count_a = 0, count_b = 0;
  Ns ns_a = 0, ns_b = 0;
  std::vector<std::string> operators;  // that launch it, each once, a's before b's; for `fused`, the operators that it replaces
  bool other_grid = false;             // `same` only: launched with other grids, so the amount of work differs
  SliceId example_a, example_b;
  std::vector<std::string> fused_a, fused_b;  // of `fused`, the names as in the file of the side that has several, each once
};

// A kernel's name as a row shows it: without return type, template arguments and parameters ("vectorized_elementwise_kernel:
// add"). The names of a `fused` row are short already and come back unchanged.
std::string short_kernel_name(std::string_view name);

struct KernelClassTotal {
  std::uint32_t count_a = 0, count_b = 0;
  Ns ns_a = 0, ns_b = 0;
};

enum class NodeState : std::uint8_t { matched, only_a, only_b };
std::string_view node_state_name(NodeState state);

// One row of the aligned operator trees, parents before their children, siblings in order of time.
struct OperatorNode {
  std::int32_t parent = -1;  // position in Comparison::operators
  std::uint32_t depth = 0;
  std::uint32_t end = 0;  // nodes [own position + 1, end) lie below this one
  NodeState state = NodeState::matched;
  bool replaced = false;       // compiled code on one side, the operators that it replaces as a group on the other
  std::string name_a, name_b;  // empty on the side that lacks it; a group: "aten::mm + aten::add" (those with GPU work)
  SliceId slice_a, slice_b;    // of a group the first
  Ns cpu_a = 0, cpu_b = 0;     // of the slice whole; 0 of GPU work
  Ns gpu_a = 0, gpu_b = 0;     // sum of GPU work launched below it
  std::uint32_t kernels_a = 0, kernels_b = 0;    // pieces of GPU work below it
  std::uint32_t launches_a = 0, launches_b = 0;  // calls below it that started some
};

enum class Tone : std::uint8_t { better, worse, neutral };
std::string_view tone_name(Tone tone);

struct ComparedNumber {
  std::string key;  // "cpu_step_us"
  double a = 0, b = 0;
};

struct ComparisonFinding {
  std::string rule;  // "pair_kernel_changed", as the guide names it; "finding_gone", "finding_new" of the diagnoses
  std::string title;
  std::string summary;  // with its numbers
  Tone tone = Tone::neutral;
  std::vector<ComparedNumber> evidence;
  std::vector<std::string> names_a, names_b;  // kernels that only one side has, copies, rules
};

struct Comparison {
  // No steps are marked in either: each is compared as a whole.
  bool of_whole() const { return !a.annotated && !b.annotated; }

  std::string verdict;        // one paragraph
  bool is_unchanged = false;  // which then says that nothing differs
  Likeness like;              // whether both do equal work
  Side a, b;
  std::array<FigureChange, kStepFigures> changes{};
  std::vector<KernelChange> kernels;  // most time (of both sides) first; `same` after the others
  std::array<KernelClassTotal, kKernelChangeClasses> kernel_totals{};
  std::vector<OperatorNode> operators;  // [0] is the step (or all steps)
  bool operators_cut = false;           // long lists were aligned in pieces, or the tree was cut at kMostOperators
  std::vector<ComparisonFinding> findings;
  std::vector<std::string> notes;  // what could not be compared and why, a sentence each

  const FigureChange& change(StepFigure figure) const { return changes[static_cast<std::size_t>(figure)]; }
};

// "ProfilerStep > aten::linear > aten::addmm": the names from the root to a node; where the two sides differ, "x | y".
std::string operator_path(const Comparison& comparison, std::size_t node);

// "nvjet_a  >  nvjet_b": both names where they differ, the one that is there otherwise.
std::string both_names(const std::string& a, const std::string& b);

// An error (a sentence) when a side lacks the step that was asked for by number, or the annotation.
// Cancelled: an empty comparison, to be thrown away.
Result<Comparison> compare(const ComparedTrace& a, const ComparedTrace& b, const CompareOptions& options = {},
                           const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
