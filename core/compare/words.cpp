// The words of comparison.h: one table each.
#include <fmt/format.h>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/compare/comparison.h"

namespace gapscope {
namespace {

struct FigureWords {
  std::string_view key, title;
  bool time;
};
constexpr std::array<FigureWords, kStepFigures> kFigures = {{
    {"cpu_ns", "CPU time", true},
    {"gpu_time_ns", "GPU time", true},
    {"gpu_busy_ns", "GPU busy", true},
    {"idle_ns", "GPU idle", true},
    {"gpu_ops_per_step", "GPU operations", false},
    {"kernels_per_step", "kernels", false},
    {"launches_per_step", "launches", false},
    {"graph_launches_per_step", "graph launches", false},
    {"copies_per_step", "copies", false},
}};

struct ClassWords {
  std::string_view name, meaning;
};
constexpr std::array<ClassWords, kKernelChangeClasses> kClasses = {{
    {"same", "The same kernel name: the GPU runs the same code."},
    {"epilogue", "The same product with a different epilogue."},
    {"layout", "An operand is read transposed in one run and not in the other: the strides of an input changed."},
    {"dtype", "The same kind of work in other data types."},
    {"tile", "Another variant of the same kernel: other tile, stages, cluster or split."},
    {"family", "Another library or generator does the same kind of work."},
    {"fused", "Kernels of several operators became one generated kernel, or the reverse. They are matched by their names."},
    {"added", "Only the second trace runs it."},
    {"removed", "Only the first trace runs it."},
}};

constexpr std::array<std::string_view, 3> kStates = {"matched", "only_a", "only_b"};
constexpr std::array<std::string_view, 3> kTones = {"better", "worse", "neutral"};

}  // namespace

std::string_view figure_key(StepFigure figure) { return kFigures[static_cast<std::size_t>(figure)].key; }
std::string_view figure_title(StepFigure figure) { return kFigures[static_cast<std::size_t>(figure)].title; }
bool is_time(StepFigure figure) { return kFigures[static_cast<std::size_t>(figure)].time; }
std::string_view kernel_change_name(KernelChangeClass c) { return kClasses[static_cast<std::size_t>(c)].name; }
std::string_view explain(KernelChangeClass c) { return kClasses[static_cast<std::size_t>(c)].meaning; }

std::string ratio_text(StepFigure figure, double ratio, bool equal_work) {
  const bool less = ratio > 1, is_work = is_time(figure) && figure != StepFigure::idle;
  const std::string_view words = !is_work     ? (less ? "less" : "more")
                                 : equal_work ? (less ? "faster" : "slower")
                                              : (less ? "shorter" : "longer");
  const double times = less ? ratio : 1 / ratio;
  return fmt::format("{:.{}f}x {}", times, times < 100 ? 2 : 0, words);
}

std::string change_text(const FigureChange& change, const StepSpread& a, const StepSpread& b) {
  if (a.median == b.median) return "same";
  if (!is_time(change.figure)) return fmt::format("{:+}", b.median - a.median);
  if (!change.differs) return change.interval ? "no difference that these steps can show" : "no difference beyond noise";
  return change.ratio && *change.ratio > 0 ? ratio_text(change.figure, *change.ratio, change.equal_work) : "";
}

std::string_view node_state_name(NodeState state) { return kStates[static_cast<std::size_t>(state)]; }
std::string_view tone_name(Tone tone) { return kTones[static_cast<std::size_t>(tone)]; }

std::string short_kernel_name(std::string_view name) {
  if (name.find(" + ") != name.npos) return std::string(name);
  return kernel_title(name);
}

std::string operator_path(const Comparison& comparison, std::size_t node) {
  const OperatorNode& n = comparison.operators[node];
  std::string name = n.name_a.empty() ? n.name_b : n.name_a;
  if (!n.name_a.empty() && !n.name_b.empty() && n.name_a != n.name_b) name += " | " + n.name_b;
  return n.parent < 0 ? name : operator_path(comparison, static_cast<std::size_t>(n.parent)) + " > " + name;
}

std::string both_names(const std::string& a, const std::string& b) {
  if (a.empty() || a == b) return b;
  return b.empty() ? a : a + "  \xE2\x86\x92  " + b;
}

}  // namespace gapscope
