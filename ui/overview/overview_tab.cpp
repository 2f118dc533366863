// The tab "Overview": how the run is, before anything is asked. Over core/view/overview/overview_page.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <imgui_internal.h>

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/replay/plain_program.h"
#include "core/view/distinct_names.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"
#include "core/view/overview/overview_model.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/timeline/first_view.h"
#include "core/view/timeline/gap_view.h"
#include "ui/findings/findings_panel.h"
#include "ui/overview/overview_charts.h"
#include "ui/panels.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/timeline/painter.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kLeastColumn = 430;  // px at scale 1
constexpr std::size_t kMostColumns = 4;
constexpr float kLeastFirst = 200;  // px at scale 1 of a table's first column; columns are left out for it
constexpr float kShareAlpha = 0.25f;
constexpr float kStepTimeWidth = 90;

struct OverviewTab {
  const Document& document;
  TraceView& view;
  WindowState& window;
  Requests& out;
  const Theme& theme;
};

// How many letters of a mono face fit between here and the end of the column.
std::size_t letters_here() {
  return static_cast<std::size_t>(
      std::max(4.0f, ImGui::GetContentRegionAvail().x / std::max(1.0f, text_width(Face::mono, "m"))));
}

void draw_cut(Face face, Rgb rgb, const std::string& whole, const std::string& shown) {
  draw_text(face, rgb, shown);
  if (shown != whole) draw_hover(whole);
}

void draw_lines(const OverviewTab& tab, const PageSection& section) {
  if (section.lines.empty()) return;
  if (section.reads_as_text) {
    for (const PageLine& line : section.lines) {
      draw_text(Face::sans, tab.theme.text, printable(line.label), /*wrap=*/true);
      draw_text(Face::sans, tab.theme.muted, printable(line.value), /*wrap=*/true);
    }
    return;
  }
  if (!ImGui::BeginTable("lines", 2, ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("label", ImGuiTableColumnFlags_WidthStretch, 0.42f);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 0.58f);
  for (const PageLine& line : section.lines) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    draw_text(Face::sans, tab.theme.muted, printable(line.label), /*wrap=*/true);
    ImGui::TableNextColumn();
    draw_text(Face::sans, tab.theme.text, printable(line.value), /*wrap=*/true);
  }
  ImGui::EndTable();
}

struct TableShape {
  std::vector<std::size_t> columns;  // that are shown
  std::vector<float> wide;           // px of each of all
};
// The count goes first where the names would have too little room, then the kind.
TableShape shape_of(const PageTable& table, float room, const WindowState& window) {
  TableShape shape;
  float all = 0;
  for (std::size_t c = 0; c < table.head.size(); ++c) {
    float wide = text_width(Face::sans, table.head[c]);
    for (const auto& row : table.rows) wide = std::max(wide, text_width(Face::mono, printable(row[c])));
    shape.columns.push_back(c);
    shape.wide.push_back(wide + 2);
    all += c == 0 ? 0 : wide + 2 + 2 * ImGui::GetStyle().CellPadding.x;
  }
  const float least = std::min(kLeastFirst * window.frame.scale, shape.wide.front());
  for (std::size_t drop = table.head.size() - 1; drop > 0 && room - all < least && shape.columns.size() > 2;
       drop = table.text_columns - 1) {
    std::erase(shape.columns, drop);
    all -= shape.wide[drop] + 2 * ImGui::GetStyle().CellPadding.x;
    if (drop < table.text_columns) break;
  }
  return shape;
}

// A click goes to the slice of the row, where it has one.
void draw_row_mark(const OverviewTab& tab, const PageMark& mark) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight();
  Painter p(*ImGui::GetWindowDrawList(), tab.window.frame.scale);
  p.fill({at.x, at.y, at.x + width * static_cast<float>(mark.share), at.y + height}, colour(tab.theme.accent, kShareAlpha));
  if (!mark.slice) return;
  if (ImGui::InvisibleButton("row", {std::max(1.0f, width), height})) {
    select_slice(tab.view, mark.slice, /*reveal=*/true);
    enlarge(tab.view, tab.window, tab.document.trace.span_of(mark.slice), tab.document.trace);
  }
  if (ImGui::IsItemHovered()) p.frame({at.x, at.y, at.x + width, at.y + height}, colour(tab.theme.line), p.hairline());
  draw_hover("Click for its longest run.");
  ImGui::SetCursorScreenPos(at);
}

void draw_table_cells(const OverviewTab& tab, const PageTable& table) {
  if (table.rows.empty()) return;
  const TableShape shape = shape_of(table, ImGui::GetContentRegionAvail().x, tab.window);
  if (!ImGui::BeginTable("cells", static_cast<int>(shape.columns.size()),
                         ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingFixedFit))
    return;
  for (const std::size_t c : shape.columns)
    ImGui::TableSetupColumn(table.head[c].c_str(),
                            c == 0 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed,
                            c == 0 ? 1 : shape.wide[c]);
  const auto draw_cell = [&](std::size_t c, Face face, Rgb ink, const std::string& text) {
    if (c < table.text_columns)
      draw_text(face, ink, text);
    else
      draw_text_right(face, ink, text);
  };
  for (const std::size_t c : shape.columns) {
    ImGui::TableNextColumn();
    draw_cell(c, Face::sans, tab.theme.muted, table.head[c]);
  }
  std::vector<std::string> names, cut;  // of the first column; cut to its width
  for (const auto& row : table.rows) names.push_back(printable(row.front()));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    for (const std::size_t c : shape.columns) {
      ImGui::TableNextColumn();
      if (c > 0) {
        draw_cell(c, Face::mono, tab.theme.text, printable(table.rows[i][c]));
        continue;
      }
      if (cut.empty()) cut = distinct_names(names, letters_here());
      if (i < table.marks.size()) draw_row_mark(tab, table.marks[i]);
      draw_cut(Face::mono, tab.theme.text, names[i], cut[i]);
    }
    ImGui::PopID();
  }
  ImGui::EndTable();
}

// Commands, with what they are for on hover.
void draw_code(const OverviewTab& tab, const PageSection& section) {
  const std::vector<std::string>& code = section.code;
  std::string what_for;
  for (const std::string& note : section.notes) what_for += (what_for.empty() ? "" : "\n") + printable(note);
  for (std::size_t i = 0; i < code.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("Copy")) tab.out.add(CopyText{code[i]});
    draw_hover(what_for);
    ImGui::SameLine();
    const std::string whole = printable(code[i]);
    draw_cut(Face::mono, tab.theme.text, whole, elide_middle(whole, letters_here()));
    ImGui::PopID();
  }
}

// The lines of a section whose picture says the most already, as one sentence.
void draw_lines_in_one(const OverviewTab& tab, const PageSection& section) {
  std::string text;
  for (const PageLine& line : section.lines)
    text += (text.empty() ? "" : "  \xC2\xB7  ") + printable(line.label) + ": " + printable(line.value);
  if (!text.empty()) draw_text(Face::sans, tab.theme.text, text, /*wrap=*/true);
}

void draw_section(const OverviewTab& tab, const PageSection& section) {
  ImGui::PushID(section.title.c_str());
  draw_text(Face::bold, tab.theme.text, section.title);
  if (section.key == "account")
    draw_account_bars(tab.document, tab.view, tab.window, /*with_busiest=*/!draws_account(tab.window));
  if (section.key == "steps") {
    draw_step_bars(tab.document, tab.view, tab.window);
    draw_lines_in_one(tab, section);
  } else if (section.key == "plan") {
    draw_plan_bars(tab.document, tab.view, tab.window);
  } else {
    draw_lines(tab, section);
  }
  draw_table_cells(tab, section.table);
  if (section.code.empty() && section.key != "plan")
    for (const std::string& note : section.notes) draw_text(Face::sans, tab.theme.muted, printable(note), /*wrap=*/true);
  draw_code(tab, section);
  ImGui::Spacing();
  ImGui::PopID();
}

// What is to be done and what has a picture comes first, without what the panel at the right shows.
std::vector<PageSection> sections_here(const OverviewTab& tab, const OverviewPage& page) {
  constexpr std::array<std::string_view, 5> kFirst = {"account", "findings", "plan", "steps", "kernels"};
  const TimeAccount* account = account_of(tab.document);
  const bool has_others = account != nullptr && account->devices().size() > 1;
  const auto is_elsewhere = [&](std::string_view key) {
    if (key == "account")
      return draws_account(tab.window) && account != nullptr && account->busiest() != nullptr && !has_others;
    return is_inspector_shown(tab.window) && (key == "findings" || key == "plan");
  };
  std::vector<PageSection> sections;
  for (const std::string_view key : kFirst)
    for (const PageSection& section : page.sections)
      if (section.key == key && !is_elsewhere(key)) sections.push_back(section);
  for (const PageSection& section : page.sections)
    if (std::find(kFirst.begin(), kFirst.end(), section.key) == kFirst.end()) sections.push_back(section);
  return sections;
}

void draw_sections(const OverviewTab& tab, const std::vector<PageSection>& sections) {
  const float width = ImGui::GetContentRegionAvail().x;
  const auto columns =
      std::clamp<std::size_t>(static_cast<std::size_t>(width / (kLeastColumn * tab.window.frame.scale)), 1, kMostColumns);
  const std::vector<std::size_t> column_of = columns_of(sections, columns);
  if (!ImGui::BeginTable("sections", static_cast<int>(columns),
                         ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchSame | ImGuiTableFlags_PadOuterX))
    return;
  ImGui::TableNextRow();
  for (std::size_t c = 0; c < columns; ++c) {
    ImGui::TableNextColumn();
    for (std::size_t i = 0; i < sections.size(); ++i)
      if (column_of[i] == c) draw_section(tab, sections[i]);
  }
  ImGui::EndTable();
}

// "35 ms", "35ms", "35": milliseconds. Nothing: none is stated.
std::optional<Ns> step_time_of(std::string_view text) {
  const std::optional<Ns> time = parse_duration(text);
  return time ? time : parse_duration(std::string(text) + "ms");
}

// Where a person who timed the program enters its step time.
void draw_step_time(const OverviewTab& tab, const Headline& headline) {
  if (!headline.plain || headline.plain->steps == 0 || tab.document.trace.is_part) return;
  const std::optional<StepTime>& said = tab.document.trace.stated.step_time;
  const bool by_user = said && said->source == PlainSource::stated;
  const std::string stated = by_user ? fmt::format("{} ms", static_cast<double>(said->step) / kNsPerMs) : std::string();
  std::string& text = tab.view.step_time;
  const bool was_typing = ImGui::GetID("##step time") == ImGui::GetActiveID();
  if (text.empty() && !was_typing) text = stated;
  ImGui::AlignTextToFramePadding();
  draw_text(Face::sans, tab.theme.muted, "Step time measured without a profiler:");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::round(kStepTimeWidth * tab.window.frame.scale));
  const bool done = text_field("##step time", "e.g. 35 ms", text, ImGuiInputTextFlags_EnterReturnsTrue);
  const std::optional<Ns> step = step_time_of(text);
  const bool wrong = !text.empty() && (!step || *step <= 0);
  if (done && wrong) give_keys_to_last_item();  // what is typed next is no shortcut
  draw_hover("Enter: use this step time for the verdict, the plan and the gains. Empty: estimate it.");
  if (wrong) {
    ImGui::SameLine();
    draw_text(Face::sans, tab.theme.notable, "not a time: write for example 35 ms");
  }
  if (done && !wrong && text != stated) tab.out.add(StateStepTime{text.empty() ? std::nullopt : step});
}

void draw_headline(const OverviewTab& tab, const Headline& headline) {
  const VerdictWords& words = headline.words;
  ask_for_run(tab.document, tab.window.ranks, tab.out);
  // What a rank waits for is in the others, which this page knows nothing of.
  if (is_inspector_shown(tab.window)) return draw_step_time(tab, headline);  // the panel at the right says the rest
  const std::string run = run_sentence(tab.window.ranks, tab.document.trace.path);
  if (!run.empty()) draw_text(Face::bold, tab.theme.text, printable(run), /*wrap=*/true);
  const std::string of = part_of_what_is_open(tab.document, tab.window);
  if (!headline.plain_sentence.empty())
    draw_text(Face::sans, tab.theme.text, printable(headline.plain_sentence), /*wrap=*/true);
  draw_text(run.empty() ? Face::bold : Face::sans, tab.theme.text, of + (of.empty() ? "" : ": ") + printable(words.what),
            /*wrap=*/true);
  if (!headline.plain && words.what != headline.verdict) draw_hover(printable(headline.verdict));
  if (!words.caveat.empty()) draw_text(Face::sans, tab.theme.notable, printable(words.caveat), /*wrap=*/true);
  if (!headline.trust.empty()) draw_text(Face::sans, tab.theme.notable, printable(headline.trust), /*wrap=*/true);
  draw_step_time(tab, headline);
}

}  // namespace

void draw_overview(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "the overview follows")) return;
  if (!document.headline()) return draw_working(document, window, "the overview", out);
  const OverviewTab tab{document, view, window, out, theme_of(window)};
  draw_headline(tab, *document.headline());
  if (!document.diagnosis()) {
    ask(document, AnalysisQuestion{}, out);
    if (draw_trouble<AnalysisQuestion>(document, window)) return;
  } else {
    ask(document, OverviewQuestion{}, out);
  }
  if (draw_trouble<OverviewQuestion>(document, window)) return;
  const std::shared_ptr<const OverviewPage> page = answer_to<OverviewQuestion>(document);
  if (!page) return draw_absence(window, "Preparing the overview...");
  ImGui::BeginChild("page");
  draw_sections(tab, sections_here(tab, *page));
  ImGui::EndChild();
}

}  // namespace gapscope
