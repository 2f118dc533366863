// `gapscope diff` as people read it: verdict, step table, kernel changes, findings.
#include <algorithm>

#include <fmt/format.h>

#include "app/cli/diff.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostKernelRows = 20;
constexpr std::size_t kNameChars = 56;
constexpr std::size_t kDetailChars = 60;

using Cells = std::vector<std::string>;

// Columns as wide as their widest cell; the first and the last flush left.
std::string aligned(const std::vector<Cells>& rows) {
  std::vector<std::size_t> width;
  for (const Cells& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], utf8_length(row[c]));
  }
  std::string out;
  for (const Cells& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(width[c] - utf8_length(row[c]), ' ');
      const bool left = c == 0 || c + 1 == width.size();
      line += (c == 0 ? " " : "  ") + (left ? row[c] + space : space + row[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string value_text(StepFigure figure, std::int64_t value) {
  return is_time(figure) ? format_duration(value) : format_count(value);
}

std::string range_text(StepFigure figure, const StepSpread& s) {
  return s.min == s.max ? "" : fmt::format("{} .. {}", value_text(figure, s.min), value_text(figure, s.max));
}

std::string side_line(std::string_view letter, const Side& side) {
  const std::string steps = side.annotated ? fmt::format("{} of \"{}\", {} counted, shown: {}", side.steps,
                                                         printable(side.steps_of), side.counted, printable(side.picked))
                                           : std::string("the whole trace is one step");
  return fmt::format("{}  {}  ({})\n", letter, printable(side.file), steps);
}

std::string step_table(const Comparison& c) {
  std::vector<Cells> rows = {{"per step", "A", "min .. max", "B", "min .. max", "B against A"}};
  const auto shown = [&](StepFigure f) { return f != StepFigure::graph_launches || c.a.of(f).max > 0 || c.b.of(f).max > 0; };
  for (const FigureChange& change : c.changes) {
    const StepFigure f = change.figure;
    const StepSpread &a = c.a.of(f), &b = c.b.of(f);
    if (shown(f))
      rows.push_back({std::string(figure_title(f)), value_text(f, a.median), range_text(f, a), value_text(f, b.median),
                      range_text(f, b), change_text(change, a, b)});
  }
  if (c.a.cold && c.b.cold)
    rows.push_back({"first, cold step", format_duration(c.a.cold->front()), "", format_duration(c.b.cold->front()), "",
                    "CPU time, left out above"});
  return aligned(rows);
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

std::string comparison_text(const Comparison& c) {
  std::string out = printable(c.verdict) + "\n\n" + side_line("A", c.a) + side_line("B", c.b) + '\n' + step_table(c);
  if (!c.kernels.empty()) out += '\n' + kernel_table(c);
  out += "\n  operators and launches\n" + operator_counts(c);
  if (!c.findings.empty()) out += "\n  findings\n";
  for (const ComparisonFinding& f : c.findings)
    out += fmt::format("  {:<20}  {:<7}  {}. {}\n", f.rule, tone_name(f.tone), f.title, printable(f.summary));
  if (!c.notes.empty()) out += '\n';
  for (const std::string& note : c.notes) out += "  " + printable(note) + '\n';
  return out;
}

}  // namespace gapscope
