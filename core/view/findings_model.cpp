#include "core/view/findings_model.h"

#include <algorithm>

#include "core/view/time_view.h"

namespace gapscope {
namespace {

bool is_shown(const RankedFinding& f, const FindingsState& state) {
  return !(state.quiet && f.finding.severity == Severity::informational) && !is_muted(state, f.finding.rule->id);
}

}  // namespace

bool is_muted(const FindingsState& state, std::string_view rule_id) {
  return std::find(state.muted.begin(), state.muted.end(), rule_id) != state.muted.end();
}

void set_muted(FindingsState& state, std::string_view rule_id, bool muted) {
  if (is_muted(state, rule_id) == muted) return;
  if (muted)
    state.muted.emplace_back(rule_id);
  else
    std::erase(state.muted, rule_id);
}

std::size_t muted_count(const Diagnosis& diagnosis, const FindingsState& state) {
  return static_cast<std::size_t>(std::count_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                                [&](const RankedFinding& f) { return is_muted(state, f.finding.rule->id); }));
}

std::vector<FindingRow> shown_findings(const Diagnosis& diagnosis, const FindingsState& state) {
  std::vector<FindingRow> rows;
  const auto& all = diagnosis.findings;
  // A finding whose leader is hidden stands for itself.
  const auto leads = [&](std::size_t i) { return all[i].led_by < 0 || !is_shown(all[static_cast<std::size_t>(all[i].led_by)], state); };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_shown(all[i], state) || !leads(i)) continue;
    rows.push_back({static_cast<std::uint32_t>(i), false});
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k].led_by == static_cast<std::int32_t>(i) && is_shown(all[k], state)) rows.push_back({static_cast<std::uint32_t>(k), true});
  }
  return rows;
}

void choose_finding(const Document& document, ViewState& view, std::uint32_t finding, std::size_t place) {
  view.findings.open = true;
  view.findings.scroll_to_chosen = true;
  view.findings.chosen = static_cast<std::int32_t>(finding);
  view.findings.place = place;
  view.selection = document.diagnosis()->findings[finding].finding.spans[place].slice;
}

void go_to_finding(const Document& document, ViewState& view, std::uint32_t finding, std::size_t place) {
  const Diagnosis* diagnosis = document.diagnosis();
  if (!diagnosis || finding >= diagnosis->findings.size()) return;
  const std::vector<FindingSpan>& spans = diagnosis->findings[finding].finding.spans;
  view.findings.chosen = static_cast<std::int32_t>(finding);
  view.findings.place = spans.empty() ? 0 : place % spans.size();
  if (spans.empty()) return;
  const FindingSpan& at = spans[view.findings.place];
  if (at.slice) return select_slice(view, at.slice, /*reveal=*/true);
  view.selection = {};
  view.reveal_lane = at.lane;
  go_to(view, at.lane ? focused_on(at.span, document.trace.span) : fit(at.span.empty() ? document.trace.span : at.span));
}

void walk_findings(const Document& document, ViewState& view, int by) {
  if (!document.diagnosis()) return;
  const std::vector<FindingRow> rows = shown_findings(*document.diagnosis(), view.findings);
  if (rows.empty()) return;
  const auto count = static_cast<int>(rows.size());
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const FindingRow& r) { return static_cast<std::int32_t>(r.finding) == view.findings.chosen; });
  const int from = at == rows.end() ? (by > 0 ? -1 : count) : static_cast<int>(at - rows.begin());
  view.findings.open = true;
  view.findings.scroll_to_chosen = true;
  go_to_finding(document, view, rows[static_cast<std::size_t>((from + by + count) % count)].finding, 0);
}

void walk_places(const Document& document, ViewState& view, int by) {
  const Diagnosis* diagnosis = document.diagnosis();
  if (!diagnosis || view.findings.chosen < 0) return;
  const auto chosen = static_cast<std::uint32_t>(view.findings.chosen);
  const auto count = static_cast<int>(diagnosis->findings[chosen].finding.spans.size());
  if (count == 0) return;
  go_to_finding(document, view, chosen, static_cast<std::size_t>((static_cast<int>(view.findings.place) + by + count) % count));
}

}  // namespace gapscope
