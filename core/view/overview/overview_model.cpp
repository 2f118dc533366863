#include "core/view/overview/overview_model.h"

#include <algorithm>

#include "core/view/compile/compile_model.h"
#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const OverviewPage> answer(const Document& document, const OverviewQuestion&, const std::atomic<bool>* cancel) {
  document.diagnose(cancel);
  if (!document.analysis() || !document.diagnosis() || (cancel && *cancel)) return nullptr;
  const std::vector<GpuOp> ops = gpu_ops(document.trace, document.links);
  const RunOverview facts = make_overview(document.trace, document.links, *document.analysis(), ops);
  const CompileUse compiled = compile_use(document.trace, document.lanes, document.links, ops, args_of_file(document.trace));
  return std::make_shared<const OverviewPage>(overview_page(document.trace, facts, *document.diagnosis(), compiled));
}

std::size_t line_count(const PageSection& section) {
  constexpr std::size_t kLinesOfParagraph = 3;
  std::size_t lines = 2 + section.lines.size() * (section.reads_as_text ? kLinesOfParagraph + 1 : 1);
  for (const PageBar& bar : section.bars) lines += bar.parts.size() + 2;
  if (!section.table.rows.empty()) lines += section.table.rows.size() + 1;
  return lines + kLinesOfParagraph * (section.notes.size() + section.code.size());
}

std::vector<std::size_t> columns_of(const std::vector<PageSection>& sections, std::size_t columns) {
  std::size_t least = 1, most = 1;  // lines that a column may have
  for (const PageSection& section : sections) {
    least = std::max(least, line_count(section));
    most += line_count(section);
  }
  const auto spread = [&](std::size_t room) {
    std::vector<std::size_t> at;
    std::size_t column = 0, used = 0;
    for (const PageSection& section : sections) {
      if (used > 0 && used + line_count(section) > room) ++column, used = 0;
      used += line_count(section);
      at.push_back(column);
    }
    return at;
  };
  while (least < most) {  // the least room that no more than `columns` need
    const std::size_t middle = least + (most - least) / 2;
    const std::vector<std::size_t> at = spread(middle);
    if (!at.empty() && at.back() >= std::max<std::size_t>(1, columns))
      least = middle + 1;
    else
      most = middle;
  }
  return spread(least);
}

}  // namespace gapscope
