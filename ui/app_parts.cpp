// A memory snapshot in place of a trace, and where the parts of the window are.
#include <cmath>

#include "ui/app_ui.h"
#include "ui/menu_keys.h"
#include "ui/snapshot/snapshot_page.h"
#include "ui/timeline/timeline_panel.h"
#include "ui/widgets/bars.h"

namespace gapscope {

// As draw_document(), of a memory snapshot.
void AppUi::draw_snapshot(Box box, const FrameInput& in, Requests& out) {
  const Span shown = view_.active().time.span;
  if (!in.snapshot)
    return snapshot_page_->forget(in.document ? &in.document->trace : nullptr, shown.begin + shown.length() / 2);
  WindowState& window = view_.window;
  const float top = box.y0;
  if (!window.start_open) box.y0 += draw_message(box, in, window, out);
  place("messages", {box.x0, top, box.x1, box.y0});
  const float status = std::round(kStatusHeight * window.frame.scale);
  draw_status_bar({box.x0, box.y1 - status, box.x1, box.y1}, in, view_.active(), window, out);
  place("status", {box.x0, box.y1 - status, box.x1, box.y1});
  box.y1 -= status;
  const bool listen = !keys_taken() && !window.help_open && !window.start_open && window.box.kind == BoxKind::none;
  snapshot_page_->draw(box, {in.snapshot, in.moment}, window, {in.presses, in.held, listen}, in.delta_s);
  if (std::optional<std::string> trace = snapshot_page_->take_trace()) out.add(OpenFile{*std::move(trace), false});
  place("snapshot", box);
  place("memory chart", snapshot_page_->chart());
}

void AppUi::place(const char* name, const Box& box) {
  if (box.width() > 0 && box.height() > 0) places_.push_back({name, box});
}

void AppUi::place_timeline(const TimelinePanel& timeline) {
  const TimelineAreas& areas = timeline.areas();
  timeline.window().each_part([&](const Box& part) {
    place("titles", {areas.titles.x0, part.y0, areas.titles.x1, part.y1});
    place("lanes", part);
  });
}

}  // namespace gapscope
