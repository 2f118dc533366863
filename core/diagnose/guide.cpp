#include "core/diagnose/guide.h"

#include <algorithm>
#include <string>

#include "core/diagnose/guide_sources.h"

namespace gapscope {
namespace {

constexpr std::string_view kHeading = "\n### <a id=\"";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

// `<a id="overhead_bound"></a>Title` is "Title (overhead_bound)": --fail-on takes the id.
std::string heading_words(std::string_view line) {
  constexpr std::string_view kBegin = "<a id=\"", kEnd = "\"></a>";
  const std::size_t end = line.starts_with(kBegin) ? line.find(kEnd) : line.npos;
  if (end == line.npos) return std::string(line);
  return std::string(line.substr(end + kEnd.size())) + " (" + std::string(line.substr(kBegin.size(), end - kBegin.size())) +
         ")";
}

// Links as their text, bold as plain; nothing of what is between back-ticks is touched.
std::string plain_words(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] == '`') code = !code;
    if (code) {
      out += text[i];
      continue;
    }
    const std::size_t middle = text[i] == '[' ? rest.find("](") : rest.npos;
    const std::size_t end = middle == rest.npos ? rest.npos : rest.find(')', middle);
    if (end != rest.npos) {
      out += rest.substr(1, middle - 1);
      i += end;
    } else if (rest.starts_with("**")) {
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('|'), line.size());
    if (const bool after_last = end == line.size() && trimmed(line).empty(); !after_last)
      cells.push_back(plain_words(trimmed(line.substr(0, end))));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

bool is_rule_of_table(std::string_view line) { return line.find_first_not_of("|-: ") == line.npos; }

std::vector<GuidePage> read_pages() {
  std::vector<GuidePage> pages;
  for (const GuideSource& source : guide_sources()) {
    const std::string_view first = source.text.substr(0, source.text.find('\n'));
    pages.push_back({source.name, trimmed(first.substr(std::min(first.find(' '), first.size()))), source.text});
  }
  return pages;
}

}  // namespace

std::span<const GuidePage> guide_pages() {
  static const std::vector<GuidePage> pages = read_pages();
  return pages;
}

const GuidePage* guide_page(std::string_view name) {
  const auto pages = guide_pages();
  const auto at = std::ranges::find(pages, name, &GuidePage::name);
  return at == pages.end() ? nullptr : &*at;
}

std::string_view guide_text() {
  const GuidePage* page = guide_page("findings");
  return page ? page->text : std::string_view();
}

GuideSection guide_section(std::string_view id) {
  if (id.empty()) return {};
  const std::string heading = std::string(kHeading) + std::string(id) + "\"></a>";
  for (const GuidePage& page : guide_pages()) {
    const std::string_view text = page.text;
    const std::size_t at = text.find(heading);
    if (at == text.npos) continue;
    const std::size_t title = at + heading.size();
    const std::size_t line_end = std::min(text.find('\n', title), text.size());
    const std::size_t end = std::min(text.find("\n#", line_end), text.size());
    return {trimmed(text.substr(title, line_end - title)), trimmed(text.substr(line_end, end - line_end))};
  }
  return {};
}

std::vector<std::vector<GuideWords>> guide_paragraphs(std::string_view text) {
  std::vector<std::vector<GuideWords>> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    std::string_view paragraph = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
    if (paragraph.empty()) continue;
    out.emplace_back();
    for (bool code = false; !paragraph.empty(); code = !code) {
      const std::size_t tick = std::min(paragraph.find('`'), paragraph.size());
      if (tick > 0) out.back().push_back({paragraph.substr(0, tick), code});
      paragraph.remove_prefix(std::min(tick + 1, paragraph.size()));
    }
  }
  return out;
}

std::vector<GuideBlock> guide_blocks(std::string_view text) {
  using enum GuideBlock::Kind;
  std::vector<GuideBlock> out;
  bool in_code = false, goes_on = false;  // goes_on: the next line continues the last paragraph or item
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool fence = line.starts_with("```");
    if (fence || in_code) {
      if (fence && !in_code) out.push_back({code, 0, {""}});
      if (!fence) out.back().cells[0] += (out.back().cells[0].empty() ? "" : "\n") + std::string(line);
      in_code = fence ? !in_code : in_code;
      goes_on = false;
      continue;
    }
    const std::string_view words = trimmed(line);
    const std::size_t level = line.find_first_not_of('#');
    if (words.empty() || words.starts_with("![") || words.starts_with("<!--")) {
      goes_on = false;
    } else if (line.starts_with("#") && level != line.npos) {
      out.push_back({heading, static_cast<int>(level), {plain_words(heading_words(trimmed(line.substr(level))))}});
      goes_on = false;
    } else if (line.starts_with("|")) {
      if (!is_rule_of_table(line)) out.push_back({row, 0, cells_of(line)});
      goes_on = false;
    } else if (line.starts_with("- ")) {
      out.push_back({item, 0, {plain_words(trimmed(line.substr(2)))}});
      goes_on = true;
    } else if (goes_on) {
      out.back().cells[0] += " " + plain_words(words);
    } else {
      out.push_back({paragraph, 0, {plain_words(words)}});
      goes_on = true;
    }
  }
  return out;
}

}  // namespace gapscope
