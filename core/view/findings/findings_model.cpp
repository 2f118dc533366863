#include "core/view/findings/findings_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/analyze/selection/area.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/first_view.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

bool is_shown(const RankedFinding& f, const FindingsState& state) {
  const bool asked_for = f.brief || state.explain;
  return asked_for && !(state.quiet && f.finding.severity == Severity::informational) && !is_muted(state, f.finding.rule->id);
}

bool has_place_in(const Finding& finding, Span range) {
  return std::any_of(finding.spans.begin(), finding.spans.end(),
                     [&](const FindingSpan& at) { return touches(at.span, range); });
}

// Whether it is under a finding whose remedy gives as much: their time is the same, and two gains would be added up.
bool is_said_by_leader(const Diagnosis& diagnosis, const RankedFinding& finding) {
  if (finding.led_by < 0 || !finding.gain) return false;
  const RankedFinding& leader = diagnosis.findings[static_cast<std::size_t>(finding.led_by)];
  return is_recommended(diagnosis.plan, leader) && leader.gain->time >= finding.gain->time;
}

// How long the run, or a step, is once the first so many items of the plan are done: a bound as soon as one of them is.
std::string length_after(const Plan& plan, std::size_t items) {
  const auto end = plan.items.begin() + static_cast<std::ptrdiff_t>(items);
  const bool exact = std::all_of(plan.items.begin(), end, [](const Plan::Item& item) { return item.exact; });
  return (exact ? "\u2248" : "\u2265") +
         format_duration(plan.length(exact ? plan.items[items - 1].after : plan.items[items - 1].least));
}

}  // namespace

std::size_t place_in_plan(const Diagnosis& diagnosis, const RankedFinding& finding) {
  const std::vector<Plan::Item>& items = diagnosis.plan.items;
  const std::ptrdiff_t at = &finding - diagnosis.findings.data();
  const auto found = std::find_if(items.begin(), items.end(), [&](const Plan::Item& item) { return item.finding == at; });
  return found == items.end() ? 0 : static_cast<std::size_t>(found - items.begin()) + 1;
}

FindingFigure figure_of(const Diagnosis& diagnosis, const RankedFinding& finding) {
  const Plan& plan = diagnosis.plan;
  if (const std::size_t place = place_in_plan(diagnosis, finding); place > 0)
    return {"then ", length_after(plan, place), /*planned=*/true};
  if (is_said_by_leader(diagnosis, finding)) return {};
  if (!is_recommended(plan, finding))
    return {"", finding.finding.cost > 0 ? format_duration(finding.finding.cost) : std::string()};
  std::string share = (finding.gain->exact ? "\u2248" : "\u2264") + format_percent(plan.share(finding.gain->most));
  return {"alone ", std::move(share)};
}

std::string words_of_gain(const Diagnosis& diagnosis, const RankedFinding& finding) {
  const std::size_t place = place_in_plan(diagnosis, finding);
  return place > 0 ? planned_words(diagnosis, diagnosis.plan.items[place - 1]) : gain_words(diagnosis, finding);
}

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

std::vector<std::size_t> places_in(const Finding& finding, const std::optional<Span>& range) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < finding.spans.size(); ++i)
    if (!range || touches(finding.spans[i].span, *range)) places.push_back(i);
  return places;
}

std::int32_t shown_under(const Diagnosis& diagnosis, std::size_t finding) {
  return place_in_plan(diagnosis, diagnosis.findings[finding]) > 0 ? -1 : diagnosis.findings[finding].led_by;
}

std::vector<FindingRow> shown_findings(const Diagnosis& diagnosis, const FindingsState& state,
                                       const std::optional<Span>& range) {
  std::vector<FindingRow> rows;
  const auto& all = diagnosis.findings;
  const auto is_in = [&](std::size_t i) { return is_shown(all[i], state) && (!range || has_place_in(all[i].finding, *range)); };
  // A finding whose leader is hidden represents itself.
  const auto leads = [&](std::size_t i) {
    const std::int32_t leader = shown_under(diagnosis, i);
    return leader < 0 || !is_in(static_cast<std::size_t>(leader));
  };
  std::vector<std::size_t> leaders;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_in(i) && leads(i)) leaders.push_back(i);
  const FindingOrder order(diagnosis);
  std::sort(leaders.begin(), leaders.end(), [&](std::size_t a, std::size_t b) { return order.before(a, b); });
  for (const std::size_t i : leaders) {
    rows.push_back({static_cast<std::uint32_t>(i), false});
    for (std::size_t k = 0; k < all.size(); ++k)
      if (shown_under(diagnosis, k) == static_cast<std::int32_t>(i) && is_in(k))
        rows.push_back({static_cast<std::uint32_t>(k), true});
  }
  return rows;
}

void choose_finding(const Document& document, TraceView& view, WindowState& window, std::uint32_t finding, std::size_t place) {
  window.settings.findings.open = true;
  view.signals.reveal_finding = true;
  view.finding = {static_cast<std::int32_t>(finding), place};
  select_slice(view, document.diagnosis()->findings[finding].finding.spans[place].slice, /*reveal=*/false);
}

void go_to_finding(const Document& document, TraceView& view, const WindowState& window, std::uint32_t finding,
                   std::size_t place) {
  const Diagnosis* diagnosis = document.diagnosis();
  if (!diagnosis || finding >= diagnosis->findings.size()) return;
  const std::vector<FindingSpan>& spans = diagnosis->findings[finding].finding.spans;
  const std::int32_t before = std::exchange(view.finding.chosen, static_cast<std::int32_t>(finding));
  if (before != view.finding.chosen) view.finding.left_open.clear();
  view.finding.place = spans.empty() ? 0 : place % spans.size();
  if (spans.empty()) return;
  const FindingSpan& at = spans[view.finding.place];
  if (at.slice) {
    select_slice(view, at.slice, /*reveal=*/true);
    return enlarge(view, window, document.trace.span_of(at.slice), document.trace);
  }
  view.selection = {};
  view.signals.reveal_lane = at.lane;
  go_to(view, window,
        at.lane ? focused_on(at.span, document.trace.span) : fit(at.span.empty() ? document.trace.span : at.span));
}

void show_finding(const Document& document, TraceView& view, WindowState& window, std::uint32_t finding, std::size_t place) {
  window.settings.findings.open = view.signals.reveal_finding = true;
  go_to_finding(document, view, window, finding, place);
}

void walk_findings(const Document& document, TraceView& view, WindowState& window, int by) {
  if (!document.diagnosis()) return;
  std::vector<FindingRow> rows = shown_findings(*document.diagnosis(), window.settings.findings, view.range);
  std::erase_if(rows, [&](const FindingRow& r) {
    return is_teaching(document.diagnosis()->findings[r.finding].finding.rule->rule_class);
  });
  if (rows.empty()) return;
  const auto count = static_cast<int>(rows.size());
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const FindingRow& r) {
    return static_cast<std::int32_t>(r.finding) == view.finding.chosen;
  });
  const int from = at == rows.end() ? (by > 0 ? -1 : count) : static_cast<int>(at - rows.begin());
  const std::uint32_t to = rows[static_cast<std::size_t>((from + by + count) % count)].finding;
  const std::vector<std::size_t> places = places_in(document.diagnosis()->findings[to].finding, view.range);
  show_finding(document, view, window, to, places.empty() ? 0 : places.front());
}

void open_findings(const Document& document, TraceView& view, WindowState& window) {
  window.settings.findings.open = true;
  view.finding.chosen = -1;
  walk_findings(document, view, window, 1);
}

void walk_places(const Document& document, TraceView& view, const WindowState& window, int by) {
  const Diagnosis* diagnosis = document.diagnosis();
  if (!diagnosis || view.finding.chosen < 0) return;
  const auto chosen = static_cast<std::uint32_t>(view.finding.chosen);
  const std::vector<std::size_t> places = places_in(diagnosis->findings[chosen].finding, view.range);
  if (places.empty()) return;
  const auto count = static_cast<int>(places.size());
  const auto at = std::lower_bound(places.begin(), places.end(), view.finding.place);
  int from = static_cast<int>(at - places.begin());
  // From a place outside of the range the next one is the first behind it.
  if ((at == places.end() || *at != view.finding.place) && by > 0) --from;
  go_to_finding(document, view, window, chosen, places[static_cast<std::size_t>((from + by + 2 * count) % count)]);
}

}  // namespace gapscope
