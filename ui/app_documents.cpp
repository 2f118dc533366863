// Which documents the window shows: other ones than in the frame before, and what stays of how the last ones were looked at.
#include <utility>
#include <vector>

#include "core/view/document.h"
#include "core/view/notes/kept_view.h"
#include "core/view/timeline/first_view.h"
#include "ui/app_ui.h"
#include "ui/compare/compare_view.h"
#include "ui/panels.h"
#include "ui/timeline/timeline_panel.h"

namespace gapscope {

void AppUi::adopt(const Document* document, const Document* second) {
  view_.window.compare.side = TraceSide::a;
  document_ = document;
  view_.window.start_open = false;
  view_.window.tab_wanted = false;
  view_.window.box = {};
  TraceView& view = view_.of(TraceSide::a);
  view = view_of_next(view);
  timeline_->adopt(document, view);
  if (document && !view_.window.settings.tour_seen) view_.window.tour.due = true;
  if (compare_->document() != second)
    compare_->adopt(document, second, view_);
  else
    compare_->restart(document, view_);
}

void AppUi::grow(const Document& document) {
  view_.window.box = {};
  timeline_->grow(*document_, document, view_.of(TraceSide::a), view_.window);
  document_ = &document;
}

// Other documents than in the frame before.
void AppUi::take_documents(const FrameInput& in) {
  const Document* second = in.document ? in.second : nullptr;
  const Document* b = compare_->document();
  const bool compared = b != nullptr;
  if (b && in.document == b) compare_->swap(document_, timeline_, view_);
  if (in.document != document_) {
    view_.window.compare.side = TraceSide::a;
    if (in.document && document_ && in.part_before == document_) {
      const TraceView& view = view_.of(TraceSide::a);
      const bool untouched = view.time.span == first_view(document_->trace).span && view.notes.notes.empty();
      grow(*in.document);
      if (second == compare_->document()) compare_->restart(document_, view_);
      if (in.kept && untouched) restore(*in.kept);
    } else {
      adopt(in.document, second == compare_->document() ? second : nullptr);  // another second one: the last may be gone by now
      if (in.kept) restore(*in.kept);
    }
  }
  if (second != compare_->document()) compare_->adopt(document_, second, view_);
  if (compared && !compare_->document() && is_panel_shown(view_.window, "compare")) show_first_tab();
}

void AppUi::show_first_tab() {
  view_.window.tab = 0;
  view_.window.signals.select_tab = true;
}

void AppUi::restore(const KeptView& kept) {
  if (!document_ || document_->trace.is_part) return;
  restore_view(kept, document_->trace, view_.of(TraceSide::a));
  const auto table = panels();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].id != kept.tab || (kept.tab == "compare" && !compare_->document())) continue;
    if (table[i].id == std::string_view("details") && !view_.of(TraceSide::a).selection) continue;  // a chosen gap is not saved
    view_.window.tab = i;
    view_.window.signals.select_tab = true;
  }
}

// Notes are work of a person: they stay.
void AppUi::start_fresh() {
  view_.window.compare.side = TraceSide::a;
  TraceView& view = view_.of(TraceSide::a);
  std::vector<Note> notes = std::move(view.notes.notes);
  adopt(document_, compare_->document());
  view.notes.notes = std::move(notes);
  show_first_tab();
}

}  // namespace gapscope
