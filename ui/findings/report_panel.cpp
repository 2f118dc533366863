// The tab "Report": what was odd about the file, with where it is, and how the load went.
#include <string>
#include <vector>

#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/trace/load_report.h"
#include "core/trace/profiler_reports.h"
#include "core/view/document.h"
#include "ui/panels.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

// A row each: the kind's word, how often, its sentence, the byte offsets of the first examples.
std::string report_csv(const std::vector<ImportIssueEntry>& entries) {
  std::string out = "kind,count,meaning,first_offsets\n";
  for (const ImportIssueEntry& entry : entries) {
    std::string offsets;
    for (const ImportIssueExample& example : entry.first)
      if (has_offset(example)) offsets += (offsets.empty() ? "" : " ") + std::to_string(example.offset);
    out += std::string(import_issue_word(entry.kind)) + ',' + std::to_string(entry.count) + ',' +
           csv_cell(import_issue_sentence(entry)) + ',' + offsets + '\n';
  }
  return out;
}

std::string count_text(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

void draw_figures(const Theme& theme, const Trace& trace) {
  const LoadFigures& load = trace.figures;
  draw_text(Face::mono, theme.text, trace.path);
  draw_text(Face::sans, theme.muted,
            count_text(load.events) + " events, " + count_text(trace.slice_count()) + " slices, " +
                format_bytes(load.file_bytes) + " on disk, " + format_bytes(load.text_bytes) + " of JSON; read in " +
                format_duration(static_cast<Ns>(load.seconds * 1e9)) + ".");
  ImGui::Spacing();
}

// Examples that are only a place stand side by side; those with text have a line each.
void draw_examples(const Theme& theme, const ImportIssueEntry& entry) {
  std::string places;
  for (const ImportIssueExample& example : entry.first) {
    const std::string place = has_offset(example) ? "at byte " + count_text(example.offset) : "";
    if (example.text.empty()) {
      places += (places.empty() ? "" : ", ") + place;
      continue;
    }
    draw_text(Face::mono, theme.muted, place.empty() ? example.text : place + ": " + example.text, /*wrap=*/true);
  }
  if (!places.empty()) draw_text(Face::mono, theme.muted, places, /*wrap=*/true);
}

void draw_entry(const Theme& theme, const ImportIssueEntry& entry) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_text(Face::mono, theme.notable, import_issue_word(entry.kind));
  ImGui::TableNextColumn();
  draw_text_right(Face::mono, theme.text, count_text(entry.count));
  ImGui::TableNextColumn();
  draw_text(Face::sans, theme.text, import_issue_sentence(entry), /*wrap=*/true);
  draw_examples(theme, entry);
}

float widest_word(const std::vector<ImportIssueEntry>& entries) {
  float widest = 0;
  for (const ImportIssueEntry& entry : entries)
    widest = std::max(widest, text_width(Face::mono, import_issue_word(entry.kind)));
  return widest;
}

}  // namespace

void draw_report(const Document& document, TraceView&, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "its report follows")) return;
  const Theme& theme = theme_of(window);
  draw_figures(theme, document.trace);
  const std::vector<ImportIssueEntry> entries = document.trace.report.entries();
  const std::vector<std::string> said = profiler_reports(document.trace);
  for (const std::string& sentence : said) draw_text(Face::sans, theme.notable, sentence, /*wrap=*/true);
  if (entries.empty() && !said.empty()) return;
  if (entries.empty()) {
    draw_text(Face::sans, theme.good, "This file has no problems: every event was read.");
    return;
  }
  draw_csv_buttons(
      ".report.csv", [&] { return report_csv(entries); }, out);
  if (!ImGui::BeginTable("report", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings)) return;
  ImGui::TableSetupColumn("Kind", ImGuiTableColumnFlags_WidthFixed, widest_word(entries));
  ImGui::TableSetupColumn("Count", ImGuiTableColumnFlags_WidthFixed, text_width(Face::mono, "4,460,123"));
  ImGui::TableSetupColumn("What it means", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableHeadersRow();
  for (const ImportIssueEntry& entry : entries) draw_entry(theme, entry);
  ImGui::EndTable();
}

}  // namespace gapscope
