#include "core/view/compare/two_views.h"

namespace gapscope {
namespace {

Span moved_by(Span span, Ns way) { return {span.begin + way, span.end + way}; }

}  // namespace

TimeView moved_by(const TimeView& time, Ns way) { return {moved_by(time.span, way), time.begin_rest_ns, time.end_rest_ns}; }

ViewMove moved_by(const ViewMove& move, Ns way) {
  return {moved_by(move.from, way), moved_by(move.to, way), move.elapsed_s, move.active};
}

}  // namespace gapscope
