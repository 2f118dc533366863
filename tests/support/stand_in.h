#pragma once
// Answers the requests of panels at once, as app/session does on other threads. What only a window can do is dropped.
#include "core/view/document.h"
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope::test {

struct StandIn {
  const Document& document;
  ViewState& view;

  void operator()(const ReadArgs& r) const {
    view.details.args = read_args_of(document.trace, r.slice);
    view.details.model = {};
  }
  void operator()(const MakeTable& r) const {
    if (!document.analysis()) return;
    const OpTableOptions options{r.question.range, r.question.by_shape};
    const OpEvents& events = document.analysis()->op_events(r.question.mode);
    view.table.answer =
        std::make_shared<const TableAnswer>(TableAnswer{r.question, make_op_table(document.trace, events, options)});
    view.table.selected = -1;
  }
  void operator()(const MakeKernels& r) const {
    view.kernels.answer =
        std::make_shared<const KernelsAnswer>(KernelsAnswer{r.range, kernel_table(document.trace, document.links, r.range)});
  }
  void operator()(const MakeSteps& r) const {
    view.steps.answer = std::make_shared<const StepsAnswer>(answer_steps(document.trace, document.links, r.annotation));
  }
  template <class Other>
  void operator()(const Other&) const {}
};

inline void answer(Requests& requests, const Document& document, ViewState& view) {
  for (const Request& request : requests.list) std::visit(StandIn{document, view}, request);
  requests.list.clear();
}

}  // namespace gapscope::test
