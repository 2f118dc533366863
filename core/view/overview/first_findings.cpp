#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/record_again.h"
#include "core/diagnose/verdict.h"
#include "core/session/missing_words.h"
#include "core/trace/program_kind.h"
#include "core/view/link.h"
#include "core/view/overview/overview_page.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

constexpr std::size_t kFindingsFirst = 3;

std::string place_of(const Trace& trace, const Finding& finding) {
  if (finding.spans.empty()) return {};
  const FindingSpan& at = finding.spans.front();
  ViewLink link;
  link.slice = at.slice;
  if (!at.slice) {
    const Span seen = focused_on(at.span, trace.span).span;
    link.time = Span{seen.begin - trace.span.begin, seen.end - trace.span.begin};
  }
  return place_in_link(link);
}

// What the recording lacks where nothing in it says why the GPU waited.
std::string lacks_words(const Trace& trace) {
  if (!trace.has(Kind::op) && !trace.has(Kind::runtime) && !trace.has(Kind::driver))
    return fmt::format("Record again, and add {}.", trace.producer->host);
  if (program_kind(trace) == ProgramKind::python && !trace.has(Kind::python)) {
    if (by_torch_profiler(trace)) return "Record again, and add with_stack=True.";
    if (trace.producer->is_pytorch)
      return "Record with torch.profiler and with_stack=True: gapscope record does not see Python functions.";
  }
  return "This recording does not show what limits the run.";
}

}  // namespace

std::vector<FirstFinding> first_findings(const Diagnosis& diagnosis) {
  std::vector<FirstFinding> found;
  // Before anything else it is to be recorded again, or what limits it stays unknown.
  if (diagnosis.bound == Bound::start_up || diagnosis.bound == Bound::not_judged) return found;
  for (const Plan::Item& item : diagnosis.plan.items)
    found.push_back({&diagnosis.findings[static_cast<std::size_t>(item.finding)], &item});
  const bool is_replayed = diagnosis.plan.run > 0;
  for (const RankedFinding& f : diagnosis.findings) {
    if (!diagnosis.plan.items.empty()) break;
    const bool unknown = !f.gain && (!is_replayed || f.finding.severity == Severity::costly);
    if (unknown && f.led_by < 0 && f.finding.cost > 0 && !is_teaching(f.finding.rule->rule_class))
      found.push_back({&f, nullptr});
  }
  if (found.size() > kFindingsFirst) found.resize(kFindingsFirst);
  return found;
}

std::string instead_of_findings(const Trace& trace, const Diagnosis& diagnosis) {
  if (diagnosis.bound == Bound::not_judged || diagnosis.bound == Bound::start_up) {
    const std::string_view again = record_again(trace, diagnosis);
    return again.empty() ? lacks_words(trace) : std::string(again);
  }
  if (!first_findings(diagnosis).empty()) return {};
  if (diagnosis.bound == Bound::no_gpu_work) return std::string(trace.producer->no_gpu_work);
  return diagnosis.plan.run > 0 ? "No remedy that can be replayed saves 2 % or more of this run."
                                : "No rule found anything that costs time.";
}

PageSection findings_section(const Trace& trace, const Diagnosis& diagnosis) {
  PageSection out;
  out.key = "findings";
  out.title = "What to do first";
  out.reads_as_text = true;
  for (const FirstFinding& f : first_findings(diagnosis)) {
    const Finding& finding = f.ranked->finding;
    const std::string gain = f.planned != nullptr ? planned_words(diagnosis, *f.planned) : format_duration(finding.cost);
    const std::string_view remedy = f.planned != nullptr ? std::string_view(f.planned->remedy) : remedy_of(finding);
    std::string where = finding.where ? place_words(*finding.where) : "";
    if (!where.empty()) where.insert(0, finding.where->source.file.empty() ? ", " : " in ");
    const std::string code = finding.code.empty() ? "" : " In code: " + finding.code;
    out.lines.push_back({fmt::format("{}{}, {}", finding.rule->title, where, gain),
                         fmt::format("{} {}{}", finding.summary, remedy, code), place_of(trace, finding)});
  }
  if (diagnosis.plain && !out.lines.empty()) out.notes.emplace_back(kFiguresAsRecorded);
  if (std::string note = instead_of_findings(trace, diagnosis); !note.empty()) out.notes.push_back(std::move(note));
  return out;
}

}  // namespace gapscope
