// Pages of sections as people read them in a terminal.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/cli/overview.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostChars = 60;
constexpr std::size_t kLabelChars = 26;
constexpr double kBarChars = 30;

std::string shown(const std::string& text) { return elide_middle(printable(text), kMostChars); }
std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, utf8_length(text)), ' ');
}

std::string bar_text(const PageBar& bar) {
  std::string out = fmt::format("  {}, {} {}\n", printable(bar.title), bar.of, format_duration(bar.window));
  for (const AccountPart& part : bar.parts) {
    const double share = bar.window > 0 ? static_cast<double>(part.time) / static_cast<double>(bar.window) : 0;
    const std::string marks(static_cast<std::size_t>(share * kBarChars + 0.5), '#');
    out += fmt::format("    {} {:>9} {:>7}  {}\n", padded(std::string(part_words(part, bar.program)), kLabelChars),
                       format_duration(part.time), format_percent(share), marks.empty() ? "." : marks);
  }
  return out;
}

std::string table_text(const PageTable& table) {
  if (table.rows.empty()) return {};
  std::vector<std::vector<std::string>> rows = {table.head};
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (const std::string& cell : row) rows.back().push_back(shown(cell));
  }
  std::vector<std::size_t> width(table.head.size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], utf8_length(row[c]));
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(width[c] - utf8_length(row[c]), ' ');
      line += c < table.text_columns ? row[c] + space + "  " : space + row[c] + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace

std::string sections_text(const std::vector<PageSection>& sections) {
  std::string out;
  for (const PageSection& section : sections) {
    out += fmt::format("\n{}\n", printable(section.title));
    for (const PageBar& bar : section.bars) out += bar_text(bar);
    std::size_t label_width = kLabelChars;
    for (const PageLine& line : section.lines)
      if (!section.reads_as_text) label_width = std::max(label_width, utf8_length(printable(line.label)) + 1);
    for (const PageLine& line : section.lines)
      out += section.reads_as_text
                 ? fmt::format("  {}\n      {}\n", printable(line.label), printable(line.value))
                 : fmt::format("  {} {}\n", padded(printable(line.label), label_width), printable(line.value));
    out += table_text(section.table);
    for (const std::string& note : section.notes) out += fmt::format("  {}\n", printable(note));
    for (const std::string& code : section.code) out += fmt::format("      {}\n", printable(code));
  }
  return out;
}

std::string overview_text(const OverviewPage& page) {
  std::string out = printable(page.file) + '\n';
  for (const std::string& line : answer_lines(page.answer, /*with_doubt=*/false)) out += printable(line) + '\n';
  if (!page.trust.empty()) out += printable(page.trust) + '\n';
  return out + printable(page.verdict) + '\n' + sections_text(page.sections);
}

}  // namespace gapscope
