#include "core/diagnose/profiler_cost.h"

#include <algorithm>

namespace gapscope {
namespace {

constexpr Ns kRecord = 4'900, kFrame = 2'200;
constexpr double kMostShare = 0.65;  // of a window: the steps that got longest were 2.9 times as long

}  // namespace

ProfilerCost profiler_cost(const Trace& trace, Span window) {
  ProfilerCost out;
  bool any_op = false;
  for (std::uint32_t i = 0; i < trace.slice_count(); ++i) {
    const SliceId slice{i};
    const Kind kind = trace.kind(slice);
    any_op |= kind == Kind::op;
    const bool frame = kind == Kind::python;
    if (!frame && kind != Kind::op && kind != Kind::annotation && !is_call(kind)) continue;
    if (!window.contains(trace.begin(slice))) continue;
    ++out.records;
    out.frames += frame ? 1 : 0;
  }
  if (!any_op) return {};
  const auto others = static_cast<Ns>(out.records - out.frames), frames = static_cast<Ns>(out.frames);
  const auto bound = static_cast<Ns>(kMostShare * static_cast<double>(window.length()));
  out.most = std::min(bound, others * kRecord + frames * kFrame);
  return out;
}

}  // namespace gapscope
