#pragma once
// The views of two traces side by side, on one axis.
#include "core/view/view_state.h"

namespace gapscope {

// The axis of one of two traces, as the other one's: moved so that their zeros meet.
TimeView moved_by(const TimeView& time, Ns way);
ViewMove moved_by(const ViewMove& move, Ns way);

// Where two traces meet: what begins at `zero_a` in the one and at `zero_b` in the other is at the same x.
struct Alignment {
  Ns zero_a = 0, zero_b = 0;
  // From A's time to B's.
  Ns way() const { return zero_b - zero_a; }
  // Both traces, in A's time.
  Span reach(Span a, Span b) const { return hull(a, {b.begin - way(), b.end - way()}); }
  friend bool operator==(const Alignment&, const Alignment&) = default;
};

}  // namespace gapscope
