#pragma once
// The guide of assets/cheatsheet.md, built into the program: a section for every rule.
#include <string_view>
#include <vector>

namespace gapscope {

// The whole text, Markdown.
std::string_view guide_text();

struct GuideSection {
  std::string_view title;
  std::string_view text;  // Markdown, without the heading
};
// The section of a rule; empty when the guide has none.
GuideSection guide_section(std::string_view rule_id);

// A piece of a paragraph: plain, or between back-ticks.
struct GuideWords {
  std::string_view text;
  bool code = false;
};
// The paragraphs of a section, each in pieces.
std::vector<std::vector<GuideWords>> guide_paragraphs(std::string_view text);

}  // namespace gapscope
