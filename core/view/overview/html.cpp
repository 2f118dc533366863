#include "core/view/overview/html.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/view/overview/html_recording.h"
#include "core/view/timeline/slice_colour.h"

namespace gapscope {
namespace {

constexpr std::string_view kStyle = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2430; background: #fff; margin: 2em auto; max-width: 1140px; padding: 0 1em; }
h1 { font-size: 1.5em; margin: 0 0 .3em; overflow-wrap: anywhere; } h2 { font-size: 1.15em; margin: 1.6em 0 .4em; }
p { margin: .4em 0; } .lead { font-size: 1.15em; } .note { color: #4a5464; }
table { border-collapse: collapse; margin: .4em 0; } th, td { padding: .15em .9em .15em 0; text-align: left; vertical-align: top; }
th { color: #4a5464; font-weight: 600; border-bottom: 1px solid #c8ced8; } td { overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.k { color: #4a5464; white-space: nowrap; } .sw { display: inline-block; width: .8em; height: .8em; margin-right: .45em; }
pre { background: #f3f5f8; padding: .5em .7em; margin: .4em 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } .wide > svg { display: block; min-width: 700px; max-width: 100%; height: auto; margin: .3em 0; }
.parts { display: block; width: 100%; height: 26px; margin: .3em 0; } footer { margin: 2.5em 0 1em; color: #4a5464; font-size: .9em; }
)";

constexpr int kBarPx = 1100;

// Work as in the picture of the timeline.
Rgb colour_of(const AccountPart& part) {
  const auto work = [](Hue hue) { return paint_of(Palette::usual, hue, 0).fill; };
  switch (part.kind) {
    case AccountPart::Kind::compute: return work(Hue::gemm);
    case AccountPart::Kind::communication: return work(Hue::collective);
    case AccountPart::Kind::copies: return work(Hue::copy);
    case AccountPart::Kind::idle: break;
  }
  return look_of(part.cause, true).rgb;
}

double fraction(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

// A bar from the left edge to the right one; parts that share a colour differ by a lighter shade.
std::string bar_svg(const PageBar& bar) {
  std::string out =
      fmt::format(R"(<svg class="parts" viewBox="0 0 {0} 26" preserveAspectRatio="none" role="img" aria-label="{1}">)", kBarPx,
                  html_text(bar.title + ": " + largest_part_words(bar)));
  double x = 0;
  Rgb before{};
  bool lighter = false;
  for (const AccountPart& part : bar.parts) {
    const double width = fraction(part.time, bar.window) * kBarPx;
    Rgb colour = colour_of(part);
    lighter = colour == before && !lighter;
    before = colour;
    if (lighter) colour = blend(colour, rgb(0xFFFFFF), 0.35f);
    out += fmt::format(R"(<rect x="{:.2f}" y="0" width="{:.2f}" height="26" fill="{}"><title>{}: {}</title></rect>)", x, width,
                       html_color(colour), html_text(part_words(part, bar.program)),
                       html_text(format_percent(fraction(part.time, bar.window))));
    x += width;
  }
  return out + "</svg>\n";
}

std::string bar_table(const PageBar& bar) {
  std::string out = "<table>\n";
  Rgb before{};
  bool lighter = false;
  for (const AccountPart& part : bar.parts) {
    Rgb colour = colour_of(part);
    lighter = colour == before && !lighter;
    before = colour;
    if (lighter) colour = blend(colour, rgb(0xFFFFFF), 0.35f);
    out += fmt::format(
        "<tr><td><span class=\"sw\" style=\"background:{}\"></span>{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        html_color(colour), html_text(part_words(part, bar.program)), html_text(format_duration(part.time)),
        html_text(format_percent(fraction(part.time, bar.window))));
  }
  return out + "</table>\n";
}

std::string lines_html(const std::vector<PageLine>& lines) {
  if (lines.empty()) return {};
  std::string out = "<table>\n";
  for (const PageLine& line : lines)
    out += fmt::format("<tr><td class=\"k\">{}</td><td>{}</td></tr>\n", html_text(line.label), html_text(line.value));
  return out + "</table>\n";
}

std::string row_html(const std::vector<std::string>& cells, std::size_t text_columns, std::string_view tag) {
  std::string out = "<tr>";
  for (std::size_t c = 0; c < cells.size(); ++c)
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, c < text_columns ? "" : " class=\"n\"", html_text(cells[c]));
  return out + "</tr>\n";
}

std::string table_html(const PageTable& table) {
  if (table.rows.empty()) return {};
  std::string out = "<div class=\"wide\"><table>\n" + row_html(table.head, table.text_columns, "th");
  for (const auto& row : table.rows) out += row_html(row, table.text_columns, "td");
  return out + "</table></div>\n";
}

std::string findings_html(const PageSection& section, bool has_places) {
  std::string out;
  for (const PageLine& line : section.lines)
    out += fmt::format("<p><b>{}.</b> {}{}</p>\n", html_text(line.label), html_text(line.value),
                       has_places && !line.place.empty() ? place_button(line.place) : "");
  return out;
}

// `has_places`: the page holds the recording that places are in.
std::string section_html(const PageSection& section, bool has_places) {
  std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", html_text(section.key), html_text(section.title));
  for (const PageBar& bar : section.bars)
    out += fmt::format("<p>{}, {} {}</p>\n", html_text(bar.title), bar.of, html_text(format_duration(bar.window))) +
           bar_svg(bar) + bar_table(bar);
  out += section.reads_as_text ? findings_html(section, has_places) : lines_html(section.lines);
  out += table_html(section.table);
  for (const std::string& note : section.notes) out += fmt::format("<p class=\"note\">{}</p>\n", html_text(note));
  for (const std::string& code : section.code) out += fmt::format("<pre>{}</pre>\n", html_text(code));
  return out + "</section>\n";
}

}  // namespace

std::string html_color(Rgb c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_report(const HtmlReport& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n"
      "<body>\n<h1>{0}</h1>\n",
      html_text(report.title), kStyle);
  for (std::size_t i = 0; i < report.lead.size(); ++i)
    out += fmt::format("<p class=\"{}\">{}</p>\n", i == 0 ? "lead" : "note", html_text(report.lead[i]));
  if (report.recording) out += recording_line(*report.recording);
  if (report.notes) out += section_html(*report.notes, false);
  for (std::size_t s = 0; s < report.sections.size(); ++s) {
    out += section_html(report.sections[s], report.recording && report.recording->is_whole);
    if (s > 0) continue;
    for (const HtmlPicture& picture : report.pictures)
      out += fmt::format("<section>\n<h2>{}</h2>\n<div class=\"wide\">{}</div></section>\n", html_text(picture.title),
                         picture.svg);
  }
  out += fmt::format("<footer>{}</footer>\n", html_text(report.foot));
  if (report.recording) out += recording_html(*report.recording);
  return out + "</body>\n</html>\n";
}

}  // namespace gapscope
