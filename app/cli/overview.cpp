#include "app/cli/overview.h"

#include <array>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/view/compile/compile_model.h"
#include "core/view/document.h"
#include "core/view/overview/html.h"
#include "core/view/overview/timeline_svg.h"

namespace gapscope {
namespace {

// The step of median length, else the longest gap of the busiest GPU with as much around it.
Span closer_look(const Analysis& analysis, const RunOverview& overview) {
  if (overview.steps)
    for (const Step& step : analysis.steps().steps)
      if (step.span.length() <= overview.steps->median && step.span.length() * 2 > overview.steps->median) return step.span;
  const DeviceAccount* device = analysis.account().busiest();
  if (device == nullptr || device->gaps.size() == 0) return {};
  const Span gap = device->gaps[device->longest_gaps(1).front()].span;
  return intersect({gap.begin - gap.length(), gap.end + gap.length()}, device->window);
}

HtmlReport report_of(const Document& document, const RunOverview& overview, OverviewPage page) {
  HtmlReport report;
  report.title = std::filesystem::path(page.file).filename().string();
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
  if (const Span closer = closer_look(*document.analysis(), overview); !closer.empty())
    add(overview.steps ? "One step" : "The longest gap", closer);
  report.foot = "Written by gapscope overview --html. Times on the axes of the pictures count from the begin of the trace.";
  return report;
}

int write_html(const OverviewOptions& options, const std::string& html) {
  const std::array inputs = {options.trace};
  const Result<std::string> written = write_file(options.html, html, {.inputs = inputs});
  if (!written.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(written.error().message).c_str());
    return kBadInput;
  }
  return kOk;
}

}  // namespace

int overview(const OverviewOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Document document(loaded);
  document.diagnose();
  const std::vector<GpuOp> ops = gpu_ops(document.trace, document.links);
  const RunOverview facts = make_overview(document.trace, document.links, *document.analysis(), ops);
  if (options.json) return print(overview_json(document.trace, facts, *document.diagnosis()));
  const CompileUse compiled = compile_use(document.trace, document.lanes, document.links, ops, args_of_file(document.trace));
  OverviewPage page = overview_page(document.trace, facts, *document.diagnosis(), compiled);
  return options.html.empty() ? print(overview_text(page))
                              : write_html(options, html_report(report_of(document, facts, std::move(page))));
}

}  // namespace gapscope
