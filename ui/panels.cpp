#include "ui/panels.h"

#include <algorithm>

#include <imgui.h>

#include "core/analyze/captured/captured_work.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"
#include "core/trace/crop_mark.h"
#include "core/view/answers.h"
#include "core/view/document.h"
#include "core/view/overview/overview_model.h"
#include "ui/ranks/ranks_panel.h"

namespace gapscope {
namespace {

// The same of what depends on the recording alone, as far as it is worked out.
std::string_view what_recording_would_fill(std::string_view id, const Document& document) {
  const TraceSession* facts = document.analysis();
  if (!facts) return {};
  const bool of_gpu = id == "kernels" || id == "gaps" || id == "gpu" || id == "whatif" || id == "roofline";
  if (of_gpu && facts->usage().devices.empty()) return document.trace.producer->no_gpu_work;
  if (id == "memory" && facts->memory().devices.empty()) return no_memory_words(document.trace);
  if (id == "steps" && !facts->steps().annotated)
    return crop_mark(document.trace) ? kNoWholeStep : no_steps_words(document.trace);
  if (id == "counters" && facts->counters().empty()) return "Record with gapscope record --counters.";
  if (id == "roofline" && !facts->has_shapes() && !document.trace.captured) return no_shapes_words(document.trace);
  if (id == "modules" && answer_to<ModulesQuestion>(document) && answer_to<ModulesQuestion>(document)->kind == RegionKind::none)
    return "Record with with_stack=True, or mark regions with record_function.";
  const std::shared_ptr<const OverviewPage> page = answer_to<OverviewQuestion>(document);
  const bool compiled = !page || std::any_of(page->sections.begin(), page->sections.end(),
                                             [](const PageSection& section) { return section.key == "compile"; });
  if (id == "compile" && !compiled) return "This recording has no torch.compile.";
  return {};
}

void select_panel(WindowState& window, std::string_view id) {
  for (std::size_t i = 0; i < kPanels.size(); ++i) {
    if (kPanels[i].id == id) window.tab = i;
  }
  window.signals.select_tab = true;
}

// A narrower window has no width to spare.
bool has_inspector(const WindowState& window) {
  constexpr float kLeastWidth = 1000;  // px at scale 1
  const bool is_drawn = ImGui::GetCurrentContext() != nullptr;
  return !is_drawn || ImGui::GetIO().DisplaySize.x >= kLeastWidth * window.frame.scale;
}

}  // namespace

bool is_main(std::size_t panel, const Document& document, const TraceView& view, const WindowState& window) {
  const std::string_view id = kPanels[panel].id;
  if (id == "answer") return !has_inspector(window);
  if (panel >= kMainPanels) return false;
  return (id != "compare" && id != "ranks") || what_would_fill(kPanels[panel], document, view, window).empty();
}

std::string_view what_would_fill(const Panel& panel, const Document& document, const TraceView& view,
                                 const WindowState& window) {
  const std::string_view id = panel.id;
  if (id == "answer" && is_inspector_shown(window)) return "The findings are at the right.";
  if (id == "selection" && !view.area.area && !view.range) return "Drag over the lanes to mark an area.";
  if (id == "list" && !view.list.of) return "Find something (/) and press Shift+L, or right-click a row of a table.";
  if (id == "compare" && !window.compare.open) return "Open a second trace (Ctrl+Shift+O).";
  if (id == "notes" && view.notes.notes.empty()) return "Select a slice and press Shift+M.";
  if (id == "ranks" && !window.ranks.wanted && !knows_ranks(document, window.ranks))
    return "Open the recordings of several ranks at once, or their folder.";
  return document.trace.is_part ? std::string_view() : what_recording_would_fill(id, document);
}

bool is_inspector_shown(const WindowState& window) { return window.settings.findings.open && has_inspector(window); }

void toggle_findings(WindowState& window) {
  if (has_inspector(window))
    window.settings.findings.open = !window.settings.findings.open;
  else if (is_panel_shown(window, "answer"))
    window.settings.sizes.bottom_open = false;
  else
    show_panel(window, "answer");
}

void choose_answer_tab(const TraceView& view, WindowState& window) {
  const bool is_tab = is_panel_shown(window, "answer");
  if (is_inspector_shown(window) && is_tab && !window.tab_wanted) select_panel(window, "overview");
  if (has_inspector(window) || is_tab) return;
  if (view.signals.reveal_finding)
    show_panel(window, "answer");
  else if (is_panel_shown(window, "overview") && !window.tab_wanted)
    select_panel(window, "answer");
}

void toggle_full(WindowState& window) {
  window.bottom_full = !window.bottom_full || !window.settings.sizes.bottom_open;
  window.settings.sizes.bottom_open = true;
}

void show_panel(WindowState& window, std::string_view id) {
  window.settings.sizes.bottom_open = true;
  select_panel(window, id);
  window.tab_wanted = true;
}

void jump_to_panel(TraceView& view, WindowState& window, std::string_view id) {
  const std::size_t from = window.settings.sizes.bottom_open ? window.tab : kNoTab;
  show_panel(window, id);
  if (window.tab != from) view.history.jump_to_tab(place_of(view), from, window.tab);
}

bool is_panel_shown(const WindowState& window, std::string_view id) {
  return window.settings.sizes.bottom_open && window.tab < kPanels.size() && kPanels[window.tab].id == id;
}

void open_list(TraceView& view, WindowState& window, ResultList list) {
  view.list.of = std::make_shared<const ResultList>(std::move(list));
  view.list.look = {};
  jump_to_panel(view, window, "list");
}

void show_area_tab(WindowState& window) {
  const bool gives_way =
      is_panel_shown(window, "details") || is_panel_shown(window, "overview") || is_panel_shown(window, "answer");
  if (gives_way && !window.tab_pinned) show_panel(window, "selection");
}

void show_details_of_selection(const TraceView& view, WindowState& window) {
  if (!window.settings.sizes.bottom_open || window.tab_pinned || is_panel_shown(window, "details")) return;
  if (!view.selection && is_panel_shown(window, "gaps")) return;  // which shows the gap as well
  show_panel(window, "details");
  window.tab_wanted = false;  // it goes with the selection
}

}  // namespace gapscope
