#include "core/view/gpu/gaps_model.h"

#include <vector>

#include "core/view/document.h"

namespace gapscope {

std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const TableLook& look,
                                        const std::optional<Span>& range) {
  std::vector<std::uint32_t> rows = arrange(gap_rows(trace, gaps), look);
  if (range) std::erase_if(rows, [&](std::uint32_t row) { return !gaps[row].span.overlaps(*range); });
  return rows;
}

std::shared_ptr<const GapsQuestion::Answer> answer(const Document& document, const GapsQuestion& question,
                                                   const std::atomic<bool>* cancel) {
  const TraceSession* facts = document.analysis();
  if (!facts) return nullptr;
  auto rows = std::make_shared<const GapsQuestion::Answer>(
      arrange_gaps(document.trace, facts->streams().gaps, question.look, question.range));
  return cancel && *cancel ? nullptr : rows;
}

}  // namespace gapscope
