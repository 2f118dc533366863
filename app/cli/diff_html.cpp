// `gapscope diff --html`: both runs on one page.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/cli/diff.h"
#include "core/base/text.h"
#include "core/view/compare/compare_model.h"
#include "core/view/overview/html.h"
#include "core/view/overview/timeline_svg.h"

namespace gapscope {
namespace {

constexpr std::size_t kKernelRows = 15;

std::string brief(const std::string& path) { return std::filesystem::path(path).filename().string(); }

PageSection account_section(const DiffSide& a, const DiffSide& b) {
  PageSection out;
  out.key = "account";
  out.title = "Where the GPU's time went";
  for (const auto& [side, letter] : {std::pair(&a, "A"), std::pair(&b, "B")})
    if (const DeviceAccount* device = side->document.analysis()->account().busiest())
      out.bars.push_back({fmt::format("{}, GPU {}", letter, device->device), device->times.window, parts_of(device->times)});
  if (out.bars.empty()) out.notes.emplace_back("Neither trace has GPU work with its launch.");
  return out;
}

PageSection problem_section(const Comparison& c) {
  PageSection out;
  out.key = "problem";
  out.title = "What is compared";
  const auto side = [](const Side& s) {
    return s.annotated ? fmt::format("{}: {} steps, {} counted, kernels of {}", brief(s.file), s.steps, s.counted, s.picked)
                       : fmt::format("{}: as a whole", brief(s.file));
  };
  out.lines = {{"A", side(c.a)}, {"B", side(c.b)}};
  out.notes = c.like.differences;
  if (c.like.work == SameWork::equal && c.like.differences.empty())
    out.notes.emplace_back("Both do equal work, by the recorded shapes, on the same kind of GPU and in the same types.");
  else if (c.like.work == SameWork::equal)
    out.notes.emplace_back("Both do equal work, by the recorded shapes.");
  out.notes.insert(out.notes.end(), c.notes.begin(), c.notes.end());
  return out;
}

PageSection steps_section(const Comparison& c) {
  PageSection out;
  out.key = "steps";
  out.title = c.of_whole() ? "Each as a whole" : "A step";
  out.table.head = {"", "A", "B", "B against A"};
  for (const FigureChange& change : c.changes) {
    const StepFigure f = change.figure;
    const StepSpread &a = c.a.of(f), &b = c.b.of(f);
    if (a.max == 0 && b.max == 0) continue;
    out.table.rows.push_back(
        {std::string(figure_title(f)), figure_text(f, a.median), figure_text(f, b.median), change_text(change, a, b)});
  }
  for (const PerUnit& u : c.like.per_unit)
    if (u.ns_a > 0 && u.ns_b > 0)
      out.table.rows.push_back({fmt::format("GPU busy per {}", u.unit), per_unit_text(u.unit, u.ns_a),
                                per_unit_text(u.unit, u.ns_b), ratio_text(StepFigure::gpu_busy, u.ns_a / u.ns_b, false)});
  if (!c.of_whole()) out.notes.emplace_back("Medians of the steps that count: all but a cold first one.");
  return out;
}

PageSection use_section(const std::vector<UseRow>& use) {
  PageSection out;
  out.key = "use";
  out.title = "Use of the GPU";
  out.table.head = {"", "A", "B"};
  out.notes.emplace_back("Of the whole recordings: every step, a cold first one too.");
  for (const UseRow& row : use) out.table.rows.push_back({row.title, use_text(row.unit, row.a), use_text(row.unit, row.b)});
  return out;
}

PageSection findings_section(const Comparison& c) {
  PageSection out;
  out.key = "findings";
  out.title = "What changed";
  out.reads_as_text = true;
  for (const ComparisonFinding& f : c.findings) out.lines.push_back({f.title, f.summary});
  if (out.lines.empty()) out.notes.emplace_back("No rule found a change.");
  return out;
}

PageSection kernels_section(const Comparison& c) {
  PageSection out;
  out.key = "kernels";
  out.title = c.of_whole() ? "Kernels" : "Kernels of the step";
  out.table.head = {"what", "A", "B", "count A", "count B", "time A", "time B"};
  out.table.text_columns = 3;
  for (std::size_t k = 0; k < std::min(kKernelRows, c.kernels.size()); ++k) {
    const KernelChange& row = c.kernels[k];
    const auto name = [](const std::string& text) { return text.empty() ? "-" : elide_middle(short_kernel_name(text), 48); };
    out.table.rows.push_back({std::string(kernel_change_name(row.change)), name(row.name_a), name(row.name_b),
                              std::to_string(row.count_a), std::to_string(row.count_b), format_duration(row.ns_a),
                              format_duration(row.ns_b)});
  }
  if (c.kernels.size() > kKernelRows)
    out.notes.push_back(fmt::format("{} more rows: gapscope diff --json has all.", c.kernels.size() - kKernelRows));
  return out;
}

}  // namespace

std::string comparison_html(const DiffSide& a, const DiffSide& b, const Comparison& c, const std::vector<UseRow>& use) {
  HtmlReport report;
  const std::string name_a = "A, " + brief(c.a.file), name_b = "B, " + brief(c.b.file);
  report.title = fmt::format("From {} to {}", name_a, name_b);
  report.lead = {c.verdict};
  for (const auto& [side, name] : {std::pair(&a, &name_a), std::pair(&b, &name_b)}) {
    report.lead.push_back(fmt::format("{}: {}", *name, side->document.diagnosis()->verdict));
    if (!side->document.diagnosis()->trust.empty())
      report.lead.push_back(fmt::format("{}: {}", *name, side->document.diagnosis()->trust));
  }
  report.sections = {account_section(a, b), problem_section(c), steps_section(c)};
  if (!use.empty()) report.sections.push_back(use_section(use));
  report.sections.push_back(findings_section(c));
  if (!c.kernels.empty()) report.sections.push_back(kernels_section(c));
  const auto add = [&](const DiffSide& side, const Side& compared, const std::string& name) {
    const Trace& trace = side.document.trace;
    const Span view = compared.picked_slice ? trace.span_of(compared.picked_slice) : trace.span;
    if (std::string svg = timeline_svg(trace, side.document.lanes, view); !svg.empty())
      report.pictures.push_back({fmt::format("{}: {}, {}", name, compared.picked_slice ? compared.picked : "the whole trace",
                                             format_duration(view.length())),
                                 std::move(svg)});
  };
  add(a, c.a, name_a);
  add(b, c.b, name_b);
  report.foot = "Written by gapscope diff --html. Times on the axes of the pictures count from the start of each trace.";
  return html_report(report);
}

}  // namespace gapscope
