#include "core/view/table/table_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/captured/captured_work.h"
#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/view/document.h"

namespace gapscope {
std::vector<SliceId> slices_of_row(const Trace& trace, const OpEvents& events, const TableQuestion& question,
                                   const OpTableRow& row) {
  const auto& groups = events.groups();
  const auto is_of_row = [&](const OpGroup& g) {
    return g.on_gpu == row.on_gpu && g.annotation == row.annotation && row_name(trace.strings[g.name]) == row.name;
  };
  const auto group = static_cast<std::uint32_t>(std::find_if(groups.begin(), groups.end(), is_of_row) - groups.begin());
  const auto [first, last] = question.range ? events.begin_in(*question.range) : std::pair(std::size_t{0}, events.size());
  std::vector<SliceId> slices;
  for (std::size_t i = first; i < last; ++i) {
    if (events.group(i) != group) continue;
    if (question.by_shape && !row.on_gpu) {
      const OpRow* op = trace.op_row(events.slice(i));
      if ((op ? op->input_dims : StringId{}) != row.input_dims) continue;
    }
    slices.push_back(events.slice(i));
  }
  sort_by_begin(trace, slices);
  return slices;
}

std::shared_ptr<const TableAnswer> answer(const Document& document, const TableQuestion& question,
                                          const std::atomic<bool>* cancel) {
  document.analyze(cancel);  // there already, but for a question that overtook it
  if (!document.analysis() || (cancel && *cancel)) return nullptr;
  const OpTableOptions options{question.range, question.by_shape};
  return std::make_shared<const TableAnswer>(
      TableAnswer{question, make_op_table(document.trace, document.analysis()->op_events(question.mode), options)});
}

OpTableRows rows_of(const Trace& trace, const TableAnswer& answer) {
  return op_table_rows(trace, answer.table, answer.question.by_shape);
}

Ns self_cuda_of(const OpTable& table, const std::vector<std::uint32_t>& rows) {
  Ns sum = 0;
  for (const std::uint32_t row : rows)
    if (table.rows[row].on_gpu && !table.rows[row].annotation) add_saturating(sum, table.rows[row].self_cuda);
  return sum;
}

bool arrange_table(const Trace& trace, const std::shared_ptr<const TableAnswer>& answer, TableState& state) {
  if (state.arranged.of != answer) state.selected = -1;
  if (!state.arranged.is_other(answer, 0, state.look)) return false;
  state.arranged.rows = arrange(rows_of(trace, *answer), state.look);
  return true;
}

std::string replayed_words(const Trace& trace) {
  const CapturedWork* const captured = trace.captured.get();
  if (captured == nullptr || captured->counts().joined == 0) return {};
  return fmt::format(
      "GPU work of replayed graphs ({}) counts for their launch here, as in PyTorch; the tab Roofline has its operators.",
      counted(captured->counts().joined, "piece"));
}

}  // namespace gapscope
