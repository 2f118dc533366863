#include "ui/findings/answer_card.h"

#include "core/base/text.h"
#include "core/session/trace_session.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"
#include "core/view/overview/answer_card.h"
#include "ui/widgets/text.h"

namespace gapscope {

void draw_answer_card(const Document& document, TraceView& view, WindowState& window) {
  const Headline* headline = document.headline();
  if (headline == nullptr) return;
  const Theme& theme = theme_of(window);
  RecordedRun recorded;  // a walk over the steps, made once a document
  if (const TraceSession* session = document.analysis())
    recorded = *session->fact<RecordedRun>([&] { return std::make_unique<const RecordedRun>(recorded_run(*session)); });
  const AnswerCard card = answer_card(document.trace, *headline, document.diagnosis(), recorded);
  const auto line = [&](Face face, Rgb ink, const std::string& text) {
    if (!text.empty()) draw_text(face, ink, printable(text), /*wrap=*/true);
  };
  line(Face::bold, theme.text, card.what);
  if (!card.cause.empty()) {
    line(Face::sans, theme.text, card.cause);
    line(Face::sans, theme.good, card.figure);
  }
  if (card.code.empty())
    line(Face::sans, theme.text, card.remedy);
  else
    line(Face::mono, theme.text, card.code);
  if (card.finding >= 0) {
    if (ImGui::SmallButton("Show##answer")) show_finding(document, view, window, static_cast<std::uint32_t>(card.finding));
    draw_hover("Show its first place in the timeline.");
    ImGui::SameLine();
  }
  line(Face::sans, theme.muted, card.then);
  ImGui::Separator();
}

}  // namespace gapscope
