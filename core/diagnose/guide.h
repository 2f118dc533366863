#pragma once
// The guide of assets/guide, built into the program: pages in Markdown. The page of findings has a section for every rule.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

struct GuidePage {
  std::string_view name;   // of its file, and what `gapscope help` takes: "first-steps"
  std::string_view title;  // "First steps"
  std::string_view text;   // Markdown, with the title
};
// In the order in which to read them.
std::span<const GuidePage> guide_pages();
// Null where there is none of this name.
const GuidePage* guide_page(std::string_view name);

// The page of findings.
std::string_view guide_text();

struct GuideSection {
  std::string_view title;
  std::string_view text;  // Markdown, without the heading
};
// The section with this id on any page: a rule's, or "whatif". Empty where there is none.
GuideSection guide_section(std::string_view id);

// A piece of a paragraph: plain, or between back-ticks.
struct GuideWords {
  std::string_view text;
  bool code = false;
};
// The paragraphs of a section, each in pieces.
std::vector<std::vector<GuideWords>> guide_paragraphs(std::string_view text);

// A page as a reader shows it: without pictures and the targets of links, a section's id behind its title. Back-ticks stay.
struct GuideBlock {
  enum class Kind : std::uint8_t { heading, paragraph, item, code, row };
  Kind kind = Kind::paragraph;
  int level = 0;  // of a heading: 1 is the title
  // One text; of a row a text for each cell. A paragraph and an item are one line, code has its lines.
  std::vector<std::string> cells;
};
// The first row of a table names its columns.
std::vector<GuideBlock> guide_blocks(std::string_view text);

}  // namespace gapscope
