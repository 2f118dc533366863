#include "ui/panels.h"

#include <algorithm>
#include <numeric>

#include "core/analyze/analysis.h"
#include "core/analyze/captured/captured_work.h"
#include "core/analyze/overview/missing_words.h"
#include "core/analyze/overview/recording.h"
#include "core/view/answers.h"

namespace gapscope {
namespace {

struct Grouped {
  std::string_view id;
  PanelGroup group;
};
// Of the others it is findings.
constexpr std::array<Grouped, 14> kGroups = {{{"gpu", PanelGroup::gpu},
                                              {"kernels", PanelGroup::gpu},
                                              {"counters", PanelGroup::gpu},
                                              {"roofline", PanelGroup::gpu},
                                              {"memory", PanelGroup::gpu},
                                              {"steps", PanelGroup::host},
                                              {"modules", PanelGroup::host},
                                              {"table", PanelGroup::host},
                                              {"flame", PanelGroup::host},
                                              {"compile", PanelGroup::host},
                                              {"ranks", PanelGroup::host},
                                              {"sql", PanelGroup::data},
                                              {"notes", PanelGroup::data},
                                              {"report", PanelGroup::data}}};

// The same of what depends on the recording alone, as far as it is worked out.
std::string_view what_recording_would_fill(std::string_view id, const Document& document) {
  const Analysis* facts = document.analysis();
  if (!facts) return {};
  const ProgramKind program = program_kind(document.trace);
  if ((id == "kernels" || id == "gpu") && facts->gpu().devices.empty()) return no_gpu_work_words(program);
  if (id == "memory" && facts->memory().devices.empty()) return no_memory_words(program);
  if (id == "steps" && !facts->steps().annotated) return no_steps_words(program);
  if (id == "counters" && facts->counters().empty()) return "Record with gapscope record --counters.";
  if (id == "roofline" && !facts->has_shapes() && !captured_work(document.trace)) return "Record with record_shapes=True.";
  if (id == "modules" && answer_to<ModulesQuestion>(document) && answer_to<ModulesQuestion>(document)->kind == RegionKind::none)
    return "Record with with_stack=True, or mark regions with record_function.";
  const std::shared_ptr<const OverviewPage> page = answer_to<OverviewQuestion>(document);
  const bool compiled = !page || std::any_of(page->sections.begin(), page->sections.end(),
                                             [](const PageSection& section) { return section.key == "compile"; });
  if (id == "compile" && !compiled) return "Nothing of torch.compile is in this recording.";
  return {};
}

}  // namespace

PanelGroup group_of(const Panel& panel) {
  const auto found = std::find_if(kGroups.begin(), kGroups.end(), [&](const Grouped& g) { return g.id == panel.id; });
  return found == kGroups.end() ? PanelGroup::findings : found->group;
}

std::vector<std::size_t> tabs_in_order() {
  std::vector<std::size_t> order(kPanels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [](std::size_t a, std::size_t b) { return group_of(kPanels[a]) < group_of(kPanels[b]); });
  return order;
}

std::string_view what_would_fill(const Panel& panel, const Document& document, const ViewState& view) {
  const std::string_view id = panel.id;
  const TraceView& of = view.active();
  if (id == "selection" && !of.area.area && !of.range) return "Drag over the lanes to mark an area.";
  if (id == "list" && !of.list.of) return "Find something (/) and press Shift+L, or right-click a row of a table.";
  if (id == "compare" && !view.compare.open) return "Open a second trace (Ctrl+Shift+O).";
  if (id == "notes" && of.notes.notes.empty()) return "Select a slice and press Shift+M.";
  if (id == "ranks" && !view.ranks.wanted && rank_of(document.trace.header).rank < 0)
    return "Open the recordings of several ranks at once, or their folder.";
  return document.trace.is_part ? std::string_view() : what_recording_would_fill(id, document);
}

void toggle_full(ViewState& view) {
  view.sizes.bottom_full = !view.sizes.bottom_full || !view.sizes.bottom_open;
  view.sizes.bottom_open = true;
}

void show_panel(ViewState& view, std::string_view id) {
  view.sizes.bottom_open = true;
  for (std::size_t i = 0; i < kPanels.size(); ++i) {
    if (kPanels[i].id == id) view.tab = i;
  }
  view.overview_wanted |= id == "overview";
  view.select_tab = true;
}

bool is_panel_shown(const ViewState& view, std::string_view id) {
  return view.sizes.bottom_open && view.tab < kPanels.size() && kPanels[view.tab].id == id;
}

void open_list(ViewState& view, ResultList list) {
  view.active().list.of = std::make_shared<const ResultList>(std::move(list));
  view.active().list.look = {};
  show_panel(view, "list");
}

void show_area_tab(ViewState& view) {
  if ((is_panel_shown(view, "details") || is_panel_shown(view, "overview")) && !view.tab_pinned) show_panel(view, "selection");
}

void show_details_of_selection(ViewState& view) {
  if (view.sizes.bottom_open && !view.tab_pinned && !is_panel_shown(view, "details")) show_panel(view, "details");
}

}  // namespace gapscope
