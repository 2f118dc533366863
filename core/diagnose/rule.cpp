#include "core/diagnose/rule.h"

#include <algorithm>
#include <array>

namespace gapscope {
namespace {

std::vector<FindingSpan> widest(std::vector<FindingSpan> spans) {
  if (spans.size() > kMostFindingSpans) {
    const auto wider = [](const FindingSpan& a, const FindingSpan& b) { return a.span.length() > b.span.length(); };
    std::nth_element(spans.begin(), spans.begin() + kMostFindingSpans, spans.end(), wider);
    spans.resize(kMostFindingSpans);
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const FindingSpan& a, const FindingSpan& b) { return a.span.begin < b.span.begin; });
  return spans;
}

}  // namespace

std::string_view rule_class_name(RuleClass c) {
  constexpr std::array<std::string_view, 11> kNames = {"problem",     "problem locator", "good sign",  "reading help",
                                                       "observation", "mixed",           "start-up",   "profiler artefact",
                                                       "recording",   "table trap",      "data health"};
  return kNames[static_cast<std::size_t>(c)];
}

std::string_view severity_name(Severity s) {
  constexpr std::array<std::string_view, 3> kNames = {"informational", "notable", "costly"};
  return kNames[static_cast<std::size_t>(s)];
}

std::string_view meaning_of(const Finding& finding) {
  return finding.meaning.empty() ? finding.rule->meaning : std::string_view(finding.meaning);
}
const Gives& gives_of(const Finding& finding) { return finding.gives ? *finding.gives : finding.rule->gives; }
std::string_view remedy_of(const Finding& finding) {
  return finding.remedy.empty() ? finding.rule->remedy : std::string_view(finding.remedy);
}

FindingSpan span_of_slice(const Trace& trace, SliceId slice) { return {trace.lane_id(slice), trace.span_of(slice), slice}; }

void mark_slices(Finding& finding, const Trace& trace, const std::vector<SliceId>& slices) {
  std::vector<FindingSpan> spans;
  std::vector<Span> covers;
  spans.reserve(slices.size());
  covers.reserve(slices.size());
  for (const SliceId slice : slices) {
    spans.push_back(span_of_slice(trace, slice));
    covers.push_back(spans.back().span);
  }
  finding.spans = widest(std::move(spans));
  finding.covers = span_set(std::move(covers));
  finding.slices = slices;
}

void mark_gaps(Finding& finding, std::vector<FindingSpan> gaps) {
  std::vector<Span> covers;
  covers.reserve(gaps.size());
  for (const FindingSpan& gap : gaps) covers.push_back(gap.span);
  finding.spans = widest(std::move(gaps));
  finding.covers = span_set(std::move(covers));
}

}  // namespace gapscope
