#include "core/view/overview/overview_html.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "core/view/overview/timeline_svg.h"

namespace gapscope {
namespace {

// The step of median length, else the longest gap of the busiest GPU with as much around it.
Span closer_look(const TraceSession& session, const RunOverview& overview) {
  if (overview.steps)
    for (const Step& step : session.steps().steps)
      if (step.span.length() <= overview.steps->median && step.span.length() * 2 > overview.steps->median) return step.span;
  const DeviceAccount* device = session.account().busiest();
  if (device == nullptr || device->gaps.empty()) return {};
  const Span gap = device->gaps[device->longest_gaps(1).front()].span;
  return intersect({gap.begin - gap.length(), gap.end + gap.length()}, device->window);
}

PageSection notes_section(const std::vector<Note>& notes, Ns begin) {
  PageSection out;
  out.key = "notes";
  out.title = "Notes";
  for (const Note& note : notes) {
    const std::string length = note.span.empty() ? "" : ", " + format_duration(note.span.length());
    out.lines.push_back({format_duration(note.span.begin - begin) + length, note_title(note)});
  }
  return out;
}

}  // namespace

std::string overview_html(const Document& document, const RunOverview& overview, OverviewPage page,
                          const std::vector<Note>& notes, std::optional<HtmlRecording> recording) {
  HtmlReport report;
  report.recording = std::move(recording);
  report.title = std::filesystem::path(page.file).filename().string();
  for (const std::string& line : answer_lines(page.answer, /*with_doubt=*/false)) report.lead.push_back(line);
  report.lead.push_back(page.verdict);
  if (!page.trust.empty()) report.lead.push_back(page.trust);
  report.sections = std::move(page.sections);
  const Span window = document.analysis()->account().window();
  const Span whole = window.empty() ? document.trace.span : window;
  const auto add = [&](const char* title, Span view) {
    if (std::string svg = timeline_svg(document.trace, document.lanes, view); !svg.empty())
      report.pictures.push_back({fmt::format("{}, {}", title, format_duration(view.length())), std::move(svg)});
  };
  add("The whole window", whole);
  if (const Span closer = closer_look(document.session, overview); !closer.empty())
    add(overview.steps ? "One step" : "The longest gap", closer);
  if (!notes.empty()) report.notes = notes_section(notes, document.trace.span.begin);
  report.foot =
      "Written by Gapscope (gapscope overview --html). Times on the axes of the pictures count from the start of the trace.";
  return html_report(report);
}

std::string overview_html(const Document& document, const std::vector<Note>& notes) {
  document.diagnose();
  const RunOverview facts = make_overview(document.session);
  const CompileUse compiled =
      compile_use(document.trace, document.lanes, document.links, document.session.ops(), args_of_file(document.trace));
  return overview_html(document, facts, overview_page(document.trace, facts, *document.diagnosis(), compiled), notes);
}

}  // namespace gapscope
