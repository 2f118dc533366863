#pragma once
// Answers the requests of panels at once, as app/session does on other threads. What only a window can do is dropped.
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope::test {

struct StandIn {
  const Document& document;
  ViewState& view;

  void operator()(const Ask& r) const { answer_now(*r.document, r.question); }
  template <class Other>
  void operator()(const Other&) const {}
};

inline void answer(Requests& requests, const Document& document, ViewState& view) {
  for (const Request& request : requests.list) std::visit(StandIn{document, view}, request);
  requests.list.clear();
}

}  // namespace gapscope::test
