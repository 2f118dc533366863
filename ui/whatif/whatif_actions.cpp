// What asks for replays, and the entries of menus that lead to the tab "What if".
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/answers.h"
#include "core/view/document.h"
#include "core/view/timeline/slice_colour.h"
#include "ui/panels.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/text.h"

namespace gapscope {

Rgb held_colour(HeldBy by, const WindowState& window) {
  switch (by) {
    case HeldBy::host: return paint_of(window.settings.slice_colours, Hue::op, 0).fill;
    case HeldBy::start: return paint_of(window.settings.slice_colours, Hue::python, 0).fill;
    case HeldBy::queue: return paint_of(window.settings.slice_colours, Hue::gemm, 0).fill;
    case HeldBy::collective: return paint_of(window.settings.slice_colours, Hue::collective, 0).fill;
    case HeldBy::wait: return paint_of(window.settings.slice_colours, Hue::call, 0).fill;
  }
  return {};
}

std::string path_sum_words(const Trace& trace, const PathSum& sum) {
  const ProgramKind program = program_kind(trace);
  std::string out(sum.cause ? idle_cause_title(*sum.cause, program) : held_by_words(sum.by));
  if (!sum.name.valid()) return out;
  const std::string_view name = trace.strings[sum.name];
  const bool work = sum.by != HeldBy::host && sum.by != HeldBy::wait;
  return out + ": " + printable(work ? kernel_title(name) : std::string(name));
}

void ask_for_replays(const Document& document, const TraceView& view, bool tab_in_front, Requests& out) {
  const WhatIfState& state = view.what_if;
  if (document.trace.is_part || !document.diagnosis()) return;
  if (!tab_in_front && !state.path && state.changes.empty()) return;
  ask(document, ReplayBaseQuestion{}, out);
  const auto base = answer_to<ReplayBaseQuestion>(document);
  if (!base || base->model->empty()) return;
  const auto& answer = answer_to<WhatIfQuestion>(document);
  const auto& asked_last = asked<WhatIfQuestion>(document).question;
  const bool under_way = asked_last && (!answer || !(answer->changes == asked_last->changes));
  if (state.changes.empty() && !asked_last) return;
  if (state.held && under_way) return;  // answers that never come would be all there is while a slider moves
  ask(document, WhatIfQuestion{state.changes, base}, out);
}

void draw_what_if_items(const std::vector<ItemChoice>& choices, TraceView& view, WindowState& window) {
  for (const ItemChoice& choice : choices) {
    if (ImGui::MenuItem(choice.title.c_str())) {
      set_item(view.what_if.changes, choice.item);
      jump_to_panel(view, window, "whatif");
    }
    draw_hover(choice.help);
  }
}

std::vector<ItemChoice> choices_for_gap(const Document& document, LaneId lane, Span gap) {
  if (document.trace.is_part || !lane.valid()) return {};
  const Process& process = document.trace.processes[document.trace.lane(lane).process.index()];
  if (!process.is_gpu) return {};
  WhatIfItem item;
  item.of = WhatIfItem::Of::gap;
  item.span = gap;
  item.device = process.device;
  return {
      {"What if this took no time?", "Replay the recording without the host's time in this gap, in the tab What if.", item}};
}

bool can_try(const RankedFinding& finding) { return finding.gain && finding.gain->change; }

std::int32_t last_tried(const WhatIfChanges& changes) {
  for (auto item = changes.items.rbegin(); item != changes.items.rend(); ++item)
    if (item->of == WhatIfItem::Of::finding) return item->finding;
  return -1;
}

void try_finding(TraceView& view, WindowState& window, std::int32_t finding) {
  set_finding(view.what_if.changes, finding, true);
  jump_to_panel(view, window, "whatif");
}

}  // namespace gapscope
