// What a replayed run spends its time on, on its busiest device.
#include <algorithm>

#include "core/base/saturating.h"
#include "core/replay/host_clock.h"
#include "core/replay/host_walk.h"
#include "core/replay/path.h"

namespace gapscope {
namespace {

// Work of one device by what it is, on the replayed axis.
struct Work {
  SpanSet compute, communication, copies;
  std::vector<std::uint32_t> by_begin;
};

SpanSet of_class(const ReplayModel& model, const ReplayResult& result, std::int32_t device, auto take) {
  std::vector<Span> spans;
  for (const std::uint32_t o : model.order())
    if (model.ops()[o].device == device && take(model.ops()[o].gpu_class)) spans.push_back(result.ops[o]);
  return clip(span_set(std::move(spans)), result.run);
}

Work work_of(const ReplayModel& model, const ReplayResult& result, std::int32_t device) {
  Work out;
  out.compute = of_class(model, result, device, [](GpuClass c) { return c == GpuClass::compute; });
  out.communication = of_class(model, result, device, [](GpuClass c) { return c == GpuClass::communication; });
  out.copies = of_class(model, result, device, [](GpuClass c) { return c == GpuClass::copy || c == GpuClass::memset; });
  for (std::uint32_t o = 0; o < model.ops().size(); ++o)
    if (model.ops()[o].device == device) out.by_begin.push_back(o);
  std::stable_sort(out.by_begin.begin(), out.by_begin.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return result.ops[a].begin < result.ops[b].begin; });
  return out;
}

class GapTimes {
 public:
  GapTimes(const Trace& trace, const HostTime& host, const ReplayModel& model, const Change& change, const ReplayResult& result)
      : trace_(trace), model_(model), result_(result), change_(change), walk_(model, result), reader_(host) {}

  // A gap that this operation ended; none: nothing follows.
  void add(Span gap, std::uint32_t o, CauseTimes& times) {
    if (o == ReplayModel::kNone) return add_end(gap, times);
    const std::uint32_t call = model_.ops()[o].call;
    if (call == ReplayModel::kNone) return add_to(times, IdleCause::unlinked, gap);
    const Span launch = result_.calls[call];
    add_to(times, IdleCause::starting, {std::max(gap.begin, launch.end), gap.end});
    add_to(times, IdleCause::launching, intersect(gap, launch));
    const LaneId lane = trace_.lane_id(model_.calls()[call].slice);
    add_host(call, {gap.begin, std::min(gap.end, launch.begin)}, lane, times);
  }

 private:
  void add_own(LaneId lane, Span old, Ns length, CauseTimes& times) {
    for (const HostShare& share : host_shares(reader_, lane, old, change_.removed, length, change_.pace != nullptr)) {
      add_saturating(times[index_of(share.piece.cause)], share.time);
      length -= share.time;
    }
    add_saturating(times[index_of(IdleCause::unrecorded)], length);
  }

  static void add_to(CauseTimes& times, IdleCause cause, Span span) { add_saturating(times[index_of(cause)], span.length()); }

  void add_host(std::uint32_t call, Span span, LaneId lane, CauseTimes& times) {
    if (span.empty()) return;
    const auto own = [&](Span now, Span old) { add_own(lane, old, now.length(), times); };
    const auto called = [&](std::uint32_t c, Span now) {
      const ReplayModel::HostCall& by = model_.calls()[c];
      add_to(times,
             by.target(change_) != ReplayModel::kNone ? IdleCause::synchronizing
             : by.launches                            ? IdleCause::launching
                                                      : IdleCause::cuda_call,
             now);
    };
    walk_.back(call, span.begin, span.end, own, called);
  }

  void add_end(Span gap, CauseTimes& times) {
    const Span old{model_.run().end - gap.length(), model_.run().end};
    add_own({}, old, gap.length(), times);
  }

  const Trace& trace_;
  const ReplayModel& model_;
  const ReplayResult& result_;
  const Change& change_;
  const HostWalk walk_;
  HostReader reader_;
};

}  // namespace

std::vector<HostShare> host_shares(HostReader& reader, LaneId lane, Span old, const SpanSet& removed, Ns length,
                                   bool is_plain) {
  std::vector<HostPiece> pieces;
  if (old.empty()) old.end = old.begin + 1;
  for (const Span& span : subtract({old}, clip(removed, old))) reader.read(lane, span, pieces);
  if (is_plain) std::erase_if(pieces, [](const HostPiece& piece) { return piece.cause == IdleCause::profiler; });
  Ns all = 0, left = length;
  for (const HostPiece& piece : pieces) add_saturating(all, piece.span.length());
  std::vector<HostShare> out;
  for (const HostPiece& piece : pieces) {
    const double share = static_cast<double>(piece.span.length()) / static_cast<double>(all);
    const Ns part = &piece == &pieces.back() ? left : std::min(left, scaled(length, share));
    out.push_back({piece, part});
    left -= part;
  }
  return out;
}

AccountTimes times_after(const Trace& trace, const HostTime& host, const ReplayModel& model, const Change& change,
                         const ReplayResult& result, std::int32_t device) {
  AccountTimes out;
  out.window = result.after;
  if (model.empty() || result.run.empty()) return out;
  const Work work = work_of(model, result, device);
  const SpanSet communication = subtract(work.communication, work.compute);
  const SpanSet kernels = unite(work.compute, communication), busy = unite(kernels, work.copies);
  out.compute = length(work.compute);
  out.exposed_communication = length(communication);
  out.exposed_copies = length(subtract(work.copies, kernels));
  GapTimes gaps(trace, host, model, change, result);
  auto next = work.by_begin.begin();
  for (const Span& gap : subtract({result.run}, busy)) {
    while (next != work.by_begin.end() && result.ops[*next].begin < gap.end) ++next;
    gaps.add(gap, next == work.by_begin.end() || gap.end == result.run.end ? ReplayModel::kNone : *next, out.idle);
  }
  return out;
}

}  // namespace gapscope
