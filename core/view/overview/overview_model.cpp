#include "core/view/overview/overview_model.h"

#include <algorithm>

#include "core/view/compile/compile_model.h"
#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const OverviewPage> answer(const Document& document, const OverviewQuestion&, const std::atomic<bool>* cancel) {
  document.diagnose(cancel);
  if (!document.analysis() || !document.diagnosis() || (cancel && *cancel)) return nullptr;
  const RunOverview facts = make_overview(document.session);
  const CompileUse compiled =
      compile_use(document.trace, document.lanes, document.links, document.session.ops(), args_of_file(document.trace));
  return std::make_shared<const OverviewPage>(overview_page(document.trace, facts, *document.diagnosis(), compiled));
}

std::size_t line_count(const PageSection& section) {
  constexpr std::size_t kLinesOfParagraph = 3, kLinesOfSteps = 8;
  if (section.key == "account") return kLinesOfSteps + section.bars.size();
  if (section.key == "steps") return kLinesOfSteps;
  if (section.key == "plan") return 2 + kLinesOfParagraph * section.lines.size();
  std::size_t lines = 2 + section.lines.size() * (section.reads_as_text ? kLinesOfParagraph + 1 : 1);
  for (const PageBar& bar : section.bars) lines += bar.parts.size() + 2;
  if (!section.table.rows.empty()) lines += section.table.rows.size() + 1;
  if (!section.code.empty()) return lines + section.code.size();  // the notes are on hover
  return lines + kLinesOfParagraph * section.notes.size();
}

std::vector<std::size_t> columns_of(const std::vector<PageSection>& sections, std::size_t columns) {
  std::vector<std::size_t> filled(std::max<std::size_t>(1, columns)), at;
  for (const PageSection& section : sections) {
    const auto shortest = std::min_element(filled.begin(), filled.end());
    *shortest += line_count(section);
    at.push_back(static_cast<std::size_t>(shortest - filled.begin()));
  }
  return at;
}

}  // namespace gapscope
