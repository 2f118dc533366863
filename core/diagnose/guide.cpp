#include "core/diagnose/guide.h"

#include <string>

namespace gapscope {
namespace {

constexpr std::string_view kHeading = "\n### <a id=\"";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

}  // namespace

GuideSection guide_section(std::string_view rule_id) {
  const std::string_view guide = guide_text();
  const std::string heading = std::string(kHeading) + std::string(rule_id) + "\"></a>";
  const std::size_t at = guide.find(heading);
  if (rule_id.empty() || at == guide.npos) return {};
  const std::size_t title = at + heading.size();
  const std::size_t line_end = std::min(guide.find('\n', title), guide.size());
  const std::size_t end = std::min(guide.find("\n#", line_end), guide.size());
  return {trimmed(guide.substr(title, line_end - title)), trimmed(guide.substr(line_end, end - line_end))};
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

}  // namespace gapscope
