#include "core/view/view_state.h"

namespace gapscope {

// A member that is not named here begins anew: what it holds may be ids of the last document.
TraceView view_of_next(const TraceView& last) {
  TraceView next;
  next.selections = last.selections;
  next.folds.python_folded = last.folds.python_folded;
  next.folds.compact = last.folds.compact;
  next.folds.revision = last.folds.revision + 1;  // none that a layout was made of
  next.flows.show = last.flows.show;
  next.table.question.mode = last.table.question.mode;
  next.table.look = columns_of(last.table.look);
  next.kernels.look = columns_of(last.kernels.look);
  next.modules.list = last.modules.list;
  next.modules.look = columns_of(last.modules.look);
  next.compile.list = last.compile.list;
  next.area.table = last.area.table;
  next.area.look = columns_of(last.area.look);
  next.flame.time = last.flame.time;
  next.flame.order = last.flame.order;
  next.memory.shape = last.memory.shape;
  next.memory.with_before = last.memory.with_before;
  next.memory.look = columns_of(last.memory.look);
  next.counters = columns_of(last.counters);
  next.roofline.look = columns_of(last.roofline.look);
  next.what_if.path = last.what_if.path;
  next.what_if.ghost = last.what_if.ghost;
  return next;
}

}  // namespace gapscope
