#pragma once
// The axis of a timeline that is next to another: both show the same time since their zero, so that what began together
// is at the same x. Set by ui/compare_view for the time that two traces are open.
#include <memory>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace gapscope {

class KernelMarks;  // core/view/kernel_marks.h

struct LinkedAxis {
  Span reach;     // how far the axis goes: both traces, in this one's time
  Ns zero = 0;    // where the ruler counts from: the begin of the aligned step
  SliceId match;  // what was selected in the other trace is this slice here; none where that is not known
  std::shared_ptr<const KernelMarks> marks;  // the kernels that changed; null: not known, or not to be shown
  bool is_a = true;                          // of the two
  friend bool operator==(const LinkedAxis&, const LinkedAxis&) = default;
};

}  // namespace gapscope
