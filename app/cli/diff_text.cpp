// `gapscope diff` as people read it: verdict, step table, kernel changes, findings.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/cli/diff.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/base/text.h"
#include "core/view/compare/compare_model.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostKernelRows = 20;
constexpr std::size_t kNameChars = 56;
constexpr std::size_t kDetailChars = 60;

using Cells = std::vector<std::string>;

// The first and the last column flush left.
std::string aligned(const std::vector<Cells>& rows) {
  return aligned_text(rows, 2, [&](std::size_t c) { return c == 0 || c + 1 == rows.front().size(); });
}

std::string range_text(StepFigure figure, const StepSpread& s) {
  return s.min == s.max ? "" : fmt::format("{} .. {}", figure_text(figure, s.min), figure_text(figure, s.max));
}

std::string side_line(std::string_view letter, const Side& side) {
  const std::string steps = side.annotated ? fmt::format("{} of \"{}\", {} counted, shown: {}", side.steps,
                                                         printable(side.steps_of), side.counted, printable(side.picked))
                                           : std::string("as a whole");
  return fmt::format("{}  {}  ({})\n", letter, printable(side.file), steps);
}

// Of a time whose interval is wide enough to matter: ", 0.81 to 0.93 of A".
std::string interval_text(const FigureChange& change) {
  constexpr double kLeastWidth = 0.01;
  if (!change.interval || change.interval->low <= 0 || change.interval->high - change.interval->low < kLeastWidth) return {};
  return fmt::format(", {:.2f} to {:.2f} of A (95 %)", 1 / change.interval->high, 1 / change.interval->low);
}

std::string step_table(const Comparison& c) {
  std::vector<Cells> rows = {{c.of_whole() ? "of all" : "per step", "A", "min .. max", "B", "min .. max", "B against A"}};
  const auto shown = [&](StepFigure f) { return f != StepFigure::graph_launches || c.a.of(f).max > 0 || c.b.of(f).max > 0; };
  for (const FigureChange& change : c.changes) {
    const StepFigure f = change.figure;
    const StepSpread &a = c.a.of(f), &b = c.b.of(f);
    if (shown(f))
      rows.push_back({std::string(figure_title(f)), figure_text(f, a.median), range_text(f, a), figure_text(f, b.median),
                      range_text(f, b), change_text(change, a, b) + interval_text(change)});
  }
  if (c.a.cold && c.b.cold)
    rows.push_back({"first, cold step", format_duration(c.a.cold->front()), "", format_duration(c.b.cold->front()), "",
                    "CPU time, left out above"});
  return aligned(rows);
}

// The figures of use side by side; a part of the idle time only where it is worth a line on one side.
std::string use_table_text(const std::vector<UseRow>& use) {
  constexpr double kLeastShare = 0.005;
  std::vector<Cells> rows = {{"use of the GPU", "A", "B", ""}};
  for (const UseRow& row : use) {
    const bool is_cause = row.key.starts_with("account.idle.");
    if (is_cause && std::max(row.a.value_or(0), row.b.value_or(0)) < kLeastShare) continue;
    rows.push_back({row.title, use_text(row.unit, row.a), use_text(row.unit, row.b), ""});
  }
  return rows.size() > 1 ? aligned(rows) : std::string();
}

// What is compared with what; nothing where the recordings show no difference.
std::string likeness_text(const Likeness& like) {
  std::string out;
  for (const std::string& difference : like.differences) out += "  " + printable(difference) + '\n';
  if (like.per_unit.empty()) return out;
  std::vector<Cells> rows = {{"GPU busy", "A", "B", "B against A"}};
  for (const PerUnit& unit : like.per_unit)
    if (unit.ns_a > 0 && unit.ns_b > 0)
      rows.push_back({fmt::format("per {}", unit.unit), per_unit_text(unit.unit, unit.ns_a),
                      per_unit_text(unit.unit, unit.ns_b),
                      ratio_text(StepFigure::gpu_busy, unit.ns_a / unit.ns_b, /*equal_work=*/false)});
  return rows.size() > 1 ? out + aligned(rows) : out;
}

std::string kernel_label(const KernelChange& k) {
  const auto name = [](const std::string& text) { return elide_middle(printable(short_kernel_name(text)), kNameChars); };
  std::string out = k.name_a.empty() ? name(k.name_b) : name(k.name_a);
  if (!k.name_a.empty() && !k.name_b.empty() && k.change != KernelChangeClass::same && name(k.name_b) != out)
    out += " -> " + name(k.name_b);
  if (!k.detail.empty()) out += "  [" + elide_middle(printable(k.detail), kDetailChars) + "]";
  if (k.other_grid) out += "  [other grid]";
  if (k.change != KernelChangeClass::same && !k.operators.empty())
    out += "  (" + printable(fmt::format("{}", fmt::join(k.operators, ", "))) + ")";
  return out;
}

std::string kernel_table(const Comparison& c) {
  std::vector<Cells> rows = {{"kernels", "A", "B", "time A", "time B", "what"}};
  for (const KernelChange& k : c.kernels) {
    if (rows.size() > kMostKernelRows) break;
    rows.push_back({std::string(kernel_change_name(k.change)), std::to_string(k.count_a), std::to_string(k.count_b),
                    format_duration(k.ns_a), format_duration(k.ns_b), kernel_label(k)});
  }
  std::string out = aligned(rows);
  if (c.kernels.size() > kMostKernelRows)
    out += fmt::format("  and {} more rows: --json has all\n", c.kernels.size() - kMostKernelRows);
  return out;
}

std::string operator_counts(const Comparison& c) {
  std::array<std::size_t, 3> counts{};
  for (const OperatorNode& n : c.operators) ++counts[static_cast<std::size_t>(n.state)];
  return fmt::format("  {} matched, {} only in A, {} only in B: --json has the tree\n", counts[0], counts[1], counts[2]);
}

}  // namespace

std::string comparison_text(const DiffSide& a, const DiffSide& b, const Comparison& c, const std::vector<UseRow>& use) {
  std::string out = doubts_line(a.doubts(), "A") + doubts_line(b.doubts(), "B");
  out += printable(c.verdict) + "\n\n" + side_line("A", c.a) + side_line("B", c.b);
  if (const std::string like = likeness_text(c.like); !like.empty()) out += '\n' + like;
  out += '\n' + step_table(c);
  if (const std::string table = use_table_text(use); !table.empty()) out += '\n' + table;
  if (!c.kernels.empty()) out += '\n' + kernel_table(c);
  out += "\n  operators and launches\n" + operator_counts(c);
  if (!c.findings.empty()) out += "\n  findings\n";
  for (const ComparisonFinding& f : c.findings)
    out += fmt::format("  {:<20}  {:<7}  {}. {}\n", f.rule, tone_name(f.tone), f.title, printable(f.summary));
  if (!c.notes.empty()) out += '\n';
  for (const std::string& note : c.notes) out += "  " + printable(note) + '\n';
  return out;
}

namespace {

std::string against(const Comparison& c, StepFigure figure) {
  const FigureChange& change = c.change(figure);
  return change_text(change, c.a.of(figure), c.b.of(figure)) + interval_text(change);
}

const UseRow* row_of(const std::vector<UseRow>& use, std::string_view key) {
  const auto found = std::find_if(use.begin(), use.end(), [&](const UseRow& row) { return row.key == key; });
  return found != use.end() ? &*found : nullptr;
}

}  // namespace

std::string sweep_text(const std::vector<SweepRow>& rows) {
  if (rows.empty()) return "One trace has nothing to be compared with.\n";
  constexpr std::array<std::string_view, 3> kShown = {"utilization", "flops", "memory"};
  std::vector<Cells> cells = {{"trace", "CPU time", "GPU busy", "utilization", "rate", "memory", "work", "GPU busy against A"}};
  const auto add = [&](const Side& side, const SweepRow& row, std::optional<double> UseRow::*value, std::string work,
                       std::string change) {
    Cells line = {elide_middle(printable(side.file), kNameChars), figure_text(StepFigure::cpu, side.of(StepFigure::cpu).median),
                  figure_text(StepFigure::gpu_busy, side.of(StepFigure::gpu_busy).median)};
    for (const std::string_view key : kShown) {
      const UseRow* use = row_of(row.use, key);
      line.push_back(use != nullptr ? use_text(use->unit, use->*value) : "-");
    }
    line.push_back(std::move(work));
    line.push_back(std::move(change));
    cells.push_back(std::move(line));
  };
  add(rows.front().comparison.a, rows.front(), &UseRow::a, "", "the baseline, A");
  for (const SweepRow& row : rows)
    add(row.comparison.b, row, &UseRow::b, std::string(work_key(row.comparison.like.work)),
        against(row.comparison, StepFigure::gpu_busy));
  std::string out = doubts_line(rows.front().doubts_a, rows.front().comparison.a.file);
  for (const SweepRow& row : rows) out += doubts_line(row.doubts_b, row.comparison.b.file);
  out += aligned(cells);
  for (const SweepRow& row : rows)
    for (const std::string& difference : row.comparison.like.differences)
      out += fmt::format("\n  {}: {}", elide_middle(printable(row.comparison.b.file), kNameChars), printable(difference));
  return out + (out.back() == '\n' ? "" : "\n");
}

}  // namespace gapscope
