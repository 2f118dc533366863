#include "ui/findings/open_finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/diagnose/guide.h"
#include "core/view/findings/evidence_words.h"
#include "core/view/findings/findings_model.h"
#include "ui/panels.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kEvidenceChars = 60;

void draw_evidence_line(const FindingsPanel& panel, const EvidenceLine& line) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_text(Face::sans, panel.theme.muted, printable(line.what), /*wrap=*/true);
  ImGui::TableNextColumn();
  draw_text(Face::mono, panel.theme.text, elide_middle(printable(line.value), kEvidenceChars), /*wrap=*/true);
  draw_hover(printable(line.value));
}

void draw_evidence(const FindingsPanel& panel, const Finding& finding) {
  if (finding.evidence.entries().empty() || !ImGui::BeginTable("evidence", 2)) return;
  ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, panel.px(130));
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  for (const EvidenceLine& line : evidence_lines(finding.rule->id, finding.evidence)) draw_evidence_line(panel, line);
  ImGui::EndTable();
}

void draw_guide(const FindingsPanel& panel, const Rule& rule) {
  const GuideSection section = guide_section(rule.id);
  if (section.text.empty() || !ImGui::TreeNodeEx("From the guide", ImGuiTreeNodeFlags_NoTreePushOnOpen)) return;
  for (const auto& paragraph : guide_paragraphs(section.text)) {
    std::string text;  // the faces of a wrapped paragraph cannot be mixed, so code keeps its ticks
    for (const GuideWords& words : paragraph)
      text += words.code ? "`" + std::string(words.text) + "`" : std::string(words.text);
    for (char& c : text)
      if (c == '\n') c = ' ';
    draw_text(Face::sans, panel.theme.text, in_words_of(panel.diagnosis.vendor, text), /*wrap=*/true);
    ImGui::Spacing();
  }
}

void draw_places(FindingsPanel& panel, const Finding& finding, bool chosen) {
  if (finding.spans.empty()) return;
  ImGui::BeginDisabled(!chosen);
  if (ImGui::SmallButton("<")) walk_places(panel.document, panel.view, panel.window, -1);
  draw_hover("The place before.");
  ImGui::SameLine(0, panel.px(4));
  if (ImGui::SmallButton(">")) walk_places(panel.document, panel.view, panel.window, 1);
  draw_hover("The next place of this finding.");
  ImGui::EndDisabled();
  ImGui::SameLine(0, panel.px(8));
  const std::size_t count = finding.spans.size();
  draw_text(Face::sans, panel.theme.muted,
            chosen ? fmt::format("place {} of {}", panel.view.finding.place + 1, count)
                   : fmt::format("{} {}", count, count == 1 ? "place" : "places"));
  if (finding.spans.size() > 1) {
    ImGui::SameLine(0, panel.px(8));
    if (ImGui::SmallButton("List")) open_list(panel.view, panel.window, list_of_finding(panel.diagnosis, finding));
    draw_hover("List its places below, with their times.");
  }
  if (!panel.view.range) return;
  draw_text(Face::sans, panel.theme.muted, fmt::format("{} in the selected time", places_in(finding, panel.view.range).size()));
}

void close_finding(FindingState& state, std::int32_t position, bool chosen) {
  if (chosen) state.chosen = -1;
  std::vector<std::uint32_t>& open = state.left_open;
  open.erase(std::remove(open.begin(), open.end(), static_cast<std::uint32_t>(position)), open.end());
}

}  // namespace

ResultList list_of_finding(const Diagnosis& diagnosis, const Finding& finding) {
  ResultList list{title_of(diagnosis, *finding.rule), {}};
  for (const FindingSpan& at : finding.spans) list.places.push_back({at.slice, at.lane, at.span});
  return list;
}

void mute_rule(FindingsPanel& panel, const Finding& finding) {
  set_muted(panel.window.settings.findings, finding.rule->id, true);
  panel.out.add(KeepMuted{panel.window.settings.findings.muted});
}

void draw_open_finding(FindingsPanel& panel, const RankedFinding& ranked, bool chosen) {
  const Finding& finding = ranked.finding;
  ImGui::Indent(panel.px(kFindingIndent));
  draw_text(Face::bold, panel.theme.muted, "What it usually means");
  draw_text(Face::sans, panel.theme.text, meaning_of(finding), /*wrap=*/true);
  ImGui::Spacing();
  draw_text(Face::bold, panel.theme.muted, "What to do");
  draw_text(Face::sans, panel.theme.text, remedy_of(finding), /*wrap=*/true);
  if (const std::string where = finding.where ? printable(place_words(*finding.where)) : std::string(); !where.empty())
    draw_text(Face::sans, panel.theme.text, (finding.where->source.file.empty() ? "Place: " : "In ") + where + ".",
              /*wrap=*/true);
  if (!finding.code.empty()) draw_text(Face::mono, panel.theme.text, finding.code, /*wrap=*/true);
  if (const std::string gain = gain_words(panel.diagnosis, ranked); !gain.empty()) {
    ImGui::Spacing();
    draw_text(Face::bold, panel.theme.muted, "Expected gain");
    const std::size_t place = place_in_plan(panel.diagnosis, ranked);
    if (place > 1) draw_text(Face::sans, panel.theme.text, words_of_gain(panel.diagnosis, ranked), /*wrap=*/true);
    draw_text(Face::sans, panel.theme.text, (place > 1 ? "Alone it " : "") + gain, /*wrap=*/true);
    if (place == 0 && ranked.led_by >= 0 && is_recommended(panel.diagnosis.plan, ranked))
      draw_text(Face::sans, panel.theme.muted, "Alone: without the gain of the finding above it.", /*wrap=*/true);
    if (can_try(ranked)) {
      if (ImGui::SmallButton(kTryFinding)) try_finding(panel.view, panel.window, panel.position_of(ranked));
      draw_hover(kTryFindingHelp);
    }
    draw_text(Face::sans, panel.theme.muted, kGainLegend, /*wrap=*/true);
  }
  ImGui::Spacing();
  draw_places(panel, finding, chosen);
  draw_evidence(panel, finding);
  draw_guide(panel, *finding.rule);
  if (ImGui::SmallButton("Close")) close_finding(panel.view.finding, panel.position_of(ranked), chosen);
  draw_hover("Close this finding in the list.");
  ImGui::SameLine(0, panel.px(8));
  if (ImGui::SmallButton(kMuteRule)) mute_rule(panel, finding);
  draw_hover(kMuteRuleHelp);
  ImGui::Unindent(panel.px(kFindingIndent));
}

}  // namespace gapscope
