#include "core/view/timeline/flow_choice.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

std::optional<Arrow> chosen_arrow(const TraceView& view) {
  const FlowsState& flows = view.flows;
  if (!view.selection || flows.of != view.selection || !flows.from || !flows.to) return std::nullopt;
  return Arrow{flows.from, flows.to, {}};
}

void walk_arrows(const Document& document, TraceView& view, const WindowState& window, int by) {
  const std::vector<Arrow> arrows = arrows_of(document, view.selection);
  if (arrows.empty()) return;
  const auto n = static_cast<std::ptrdiff_t>(arrows.size());
  std::ptrdiff_t at = by > 0 ? 0 : n - 1;
  if (const std::optional<Arrow> chosen = chosen_arrow(view)) {
    const auto found = std::find(arrows.begin(), arrows.end(), *chosen);
    if (found != arrows.end()) at = (found - arrows.begin() + by + n) % n;
  }
  const Arrow& arrow = arrows[static_cast<std::size_t>(at)];
  view.flows.of = view.selection;
  view.flows.from = arrow.from;
  view.flows.to = arrow.to;
  const Trace& trace = document.trace;
  const Span ends{std::min(trace.begin(arrow.from), trace.begin(arrow.to)),
                  std::max(trace.begin(arrow.from), trace.begin(arrow.to)) + 1};
  const TimeView& now = view.move.active ? view.move.to : view.time;
  const TimeView to =
      static_cast<double>(ends.length()) > visible_ns(now) ? focused_on(ends, trace.span) : revealed(now, ends, trace.span);
  if (to.span != now.span) go_to(view, window, to);
}

SliceId end_of_arrow(const Document& document, const TraceView& view, bool forward) {
  const SliceId slice = view.selection;
  const auto end = [&](const Arrow& arrow) {
    if (arrow.from != slice && arrow.to != slice) return forward ? arrow.to : arrow.from;  // of something below it
    if (forward) return arrow.from == slice ? arrow.to : SliceId{};
    return arrow.to == slice ? arrow.from : SliceId{};
  };
  if (const std::optional<Arrow> chosen = chosen_arrow(view)) {
    if (const SliceId other = end(*chosen)) return other;
  }
  for (const Arrow& arrow : arrows_of(document, slice)) {
    if (const SliceId other = end(arrow)) return other;
  }
  return {};
}

const char* flow_show_text(FlowShow show) {
  switch (show) {
    case FlowShow::launches: return "Arrows: launches";
    case FlowShow::forward_backward: return "Arrows: forward to backward";
    case FlowShow::all: return "Arrows: all";
    case FlowShow::selection: break;
  }
  return "Arrows: of the selection";
}

FlowShow next_flow_show(FlowShow show) { return static_cast<FlowShow>((static_cast<std::size_t>(show) + 1) % kFlowShows); }

std::string flow_figures(const FlowsState& flows) {
  const auto count = [](std::size_t n) { return format_count(static_cast<std::int64_t>(n)); };
  if (flows.show == FlowShow::selection)
    return flows.of_selection > flows.of_selection_drawn
               ? count(flows.of_selection_drawn) + " of " + count(flows.of_selection) + " arrows"
               : "";
  const std::string start = format_count(static_cast<std::int64_t>(flows.in_sight));
  return std::string(flow_show_text(flows.show)) + ", " + start + (flows.in_sight == 1 ? " starts here, " : " start here, ") +
         format_count(static_cast<std::int64_t>(flows.drawn)) + " drawn";
}

}  // namespace gapscope
