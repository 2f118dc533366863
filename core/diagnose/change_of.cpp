// The change to the recording that the remedy of a finding would make.
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "core/analyze/practices/practices.h"
#include "core/analyze/work/floors.h"
#include "core/analyze/work/kernel_floors.h"
#include "core/base/saturating.h"
#include "core/diagnose/device_time.h"
#include "core/diagnose/gains.h"
#include "core/diagnose/rule.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"

namespace gapscope {
namespace {

// Launched, not begun, and what the file does not show: no host time.
constexpr CauseSet kNoHostTime = cause_set({IdleCause::starting, IdleCause::unlinked, IdleCause::unrecorded});

// By call, whether it begins inside.
std::vector<bool> calls_inside(const ReplayModel& model, const SpanSet& places) {
  std::vector<bool> out(model.calls().size());
  auto at = places.begin();  // calls come in the order they begin
  for (std::size_t c = 0; c < out.size(); ++c) {
    const Ns begin = model.calls()[c].span.begin;
    while (at != places.end() && at->end <= begin) ++at;
    out[c] = at != places.end() && at->begin <= begin;
  }
  return out;
}

// The operations that a finding marks, and those that a call inside its places launched; positions in ops().
std::vector<std::uint32_t> work_at(const ReplayModel& model, const Trace& trace, const Finding& finding) {
  std::vector<bool> marked(trace.slice_count());
  std::vector<Span> places;
  for (const SliceId s : finding.slices)
    if (is_gpu_work(trace.kind(s)))
      marked[s.index()] = true;
    else
      places.push_back(trace.span_of(s));
  const std::vector<bool> lies_inside = calls_inside(model, span_set(std::move(places)));
  std::vector<std::uint32_t> out;
  for (std::uint32_t o = 0; o < model.ops().size(); ++o) {
    const ReplayModel::Operation& op = model.ops()[o];
    if (marked[op.slice.index()] || (op.call != ReplayModel::kNone && lies_inside[op.call])) out.push_back(o);
  }
  return out;
}

// For how long other queues were idle until collectives among `work` ended. The replay takes such a gap for one of theirs and
// keeps it (GAIN.md has no waits between queues), so what the run would be without them it does not show.
Ns other_queues_waited(const ReplayModel& model, const std::vector<std::uint32_t>& work) {
  constexpr Ns kResumes = 10 * kNsPerUs;  // after what it waited for, at most
  std::vector<std::pair<Ns, std::uint32_t>> ends;
  for (const std::uint32_t o : work)
    if (model.ops()[o].gpu_class == GpuClass::communication) ends.emplace_back(model.ops()[o].span.end, model.ops()[o].queue);
  std::sort(ends.begin(), ends.end());
  Ns out = 0;
  for (const ReplayModel::Operation& op : model.ops()) {
    if (op.gap < kResumes) continue;
    auto at = std::upper_bound(ends.begin(), ends.end(), std::pair(op.span.begin, std::numeric_limits<std::uint32_t>::max()));
    while (at != ends.begin() && std::prev(at)->first > op.span.begin - kResumes)
      if ((--at)->second != op.queue) {
        add_saturating(out, op.gap);
        break;
      }
  }
  return out;
}

bool is_much(const ReplayModel& model, Ns time) {
  return static_cast<double>(time) >= kLeastGain * static_cast<double>(model.run().length());
}

// By how much of its time the work is shorter when what the rule says is at stake is gone.
double factor_at_stake(const ReplayModel& model, const std::vector<std::uint32_t>& work, Ns stake) {
  Ns time = 0;
  for (const std::uint32_t o : work) add_saturating(time, model.ops()[o].span.length());
  return time > 0 ? std::max(0.0, 1 - static_cast<double>(stake) / static_cast<double>(time)) : 1;
}

// Calls that wait and lie in these places.
std::vector<SliceId> waits_in(const ReplayModel& model, const SpanSet& places) {
  std::vector<SliceId> out;
  for (const ReplayModel::HostCall& call : model.calls())
    if (call.waits_for != ReplayModel::kNone && length_within(places, call.span) == call.span.length())
      out.push_back(call.slice);
  return out;
}

Change without_idle(const DeviceTime* time, const Finding& finding) {
  Change out;
  Claim claim = claim_of(*finding.rule);
  claim.causes &= ~kNoHostTime;
  if (time != nullptr) out.removed = time->of(claim, covered_by(finding));
  return out;
}

Change without_doing(const ReplayModel& model, const SpanSet& spared) {
  const std::vector<bool> inside = calls_inside(model, spared);
  std::vector<std::uint32_t> work;
  for (std::uint32_t o = 0; o < model.ops().size(); ++o)
    if (const std::uint32_t call = model.ops()[o].call; call != ReplayModel::kNone && inside[call]) work.push_back(o);
  Change out = both(scaled_ops(model, work, 0), without_waits(waits_in(model, spared)));
  out.removed = spared;
  return out;
}

// A call that copies pageable memory continues for as long as the copy does, and mostly moves data by itself: that
// time goes, too.
Change beside_copies(const ReplayModel& model, const std::vector<std::uint32_t>& copies) {
  std::vector<SliceId> calls;
  std::vector<Span> held;
  for (const std::uint32_t o : copies) {
    const ReplayModel::Operation& op = model.ops()[o];
    if (op.call == ReplayModel::kNone) continue;
    const ReplayModel::HostCall& call = model.calls()[op.call];
    calls.push_back(call.slice);
    if (2 * intersect(call.span, op.span).length() > op.span.length()) held.push_back(call.span);
  }
  std::vector<bool> copied(model.ops().size());
  for (const std::uint32_t o : copies) copied[o] = true;
  for (const ReplayModel::HostCall& call : model.calls())  // as PyTorch waits after a copy that it may not leave to itself
    if (call.waits_for != ReplayModel::kNone && copied[call.waits_for]) calls.push_back(call.slice);
  Change out = without_waits(std::move(calls));
  out.removed = span_set(std::move(held));
  out.overlap_copies = true;
  return out;
}

// Calls of a row save together what the row is above its floor, as the finding says it: one that is faster than its part of
// that makes up for another. So of each operation this part of what it would save alone, by its position in `work`.
std::vector<double> parts_saved_by_rows(const Trace& trace, const ReplayModel& model, const WorkTable& table,
                                        const std::vector<std::uint32_t>& work, const std::vector<Ns>& near) {
  std::vector<Ns> alone(table.rows.size());
  const auto row_of = [&](std::uint32_t o) {
    const CallWork* call = table.call_of_kernel(model.ops()[o].slice);
    return call ? call->row : ReplayModel::kNone;
  };
  for (const std::uint32_t o : work)
    if (const std::uint32_t row = row_of(o); row != ReplayModel::kNone)
      add_saturating(alone[row], model.ops()[o].span.length() - near[o]);
  std::vector<double> of_row(table.rows.size(), 1);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (alone[r] <= 0) continue;
    const double floor = floor_of(trace, table.rows[r]).floor_ns.value_or(0);
    const double together = static_cast<double>(table.rows[r].kernel_ns) - floor / kNearRoofline;
    of_row[r] = std::clamp(together / static_cast<double>(alone[r]), 0.0, 1.0);
  }
  std::vector<double> out;
  for (const std::uint32_t o : work) out.push_back(row_of(o) == ReplayModel::kNone ? 1 : of_row[row_of(o)]);
  return out;
}

// Only these operations are nearer to it. None where the floor of most of their time is not known.
std::optional<Change> near_roofline(const Facts& facts, const ReplayModel& model, const std::vector<std::uint32_t>& work) {
  const WorkTable& table = facts.session.work();
  const KernelFloors floors(facts.trace, table);
  Ns time = 0, known = 0;
  for (const std::uint32_t o : work) {
    add_saturating(time, model.ops()[o].span.length());
    if (floors.of(model.ops()[o].slice)) add_saturating(known, model.ops()[o].span.length());
  }
  if (known <= 0 || known < time / 2) return std::nullopt;
  Change out = at_roofline(model, facts.trace, table, kNearRoofline);
  std::vector<Ns> near = out.lasts;
  for (std::uint32_t o = 0; o < model.ops().size(); ++o) out.lasts[o] = model.ops()[o].span.length();
  const std::vector<double> parts = parts_saved_by_rows(facts.trace, model, table, work, near);
  for (std::size_t i = 0; i < work.size(); ++i) {
    Ns& lasts = out.lasts[work[i]];
    lasts -= static_cast<Ns>(parts[i] * static_cast<double>(lasts - near[work[i]]));
  }
  return out;
}

}  // namespace

bool is_of_gpu_work(const Gives& gives) {
  if (gives.fuses) return false;
  return gives.cure == Cure::work || gives.cure == Cure::at_stake || gives.cure == Cure::half || gives.cure == Cure::roofline;
}

std::optional<Change> change_of(const Facts& facts, const DeviceTime* time, const ReplayModel& model, const Finding& finding) {
  const auto work = [&] { return work_at(model, facts.trace, finding); };
  const auto launched = [&](Change change, const std::vector<std::uint32_t>& ops) {
    return gives_of(finding).fuses ? both(std::move(change), in_one_launch(model, ops)) : change;
  };
  if (is_of_gpu_work(gives_of(finding)) && is_much(model, other_queues_waited(model, work()))) return std::nullopt;
  switch (gives_of(finding).cure) {
    case Cure::none: return Change();
    case Cure::waits: return both(without_waits(waits_in(model, covered_by(finding))), without_doing(model, finding.spared));
    case Cure::host: {
      Change change = without_slices(facts.trace, finding.slices);
      change.removed = unite(change.removed, finding.spared);
      return change;
    }
    case Cure::calls:
      return both(without_slices(facts.trace, finding.slices), without_waits(waits_in(model, covered_by(finding))));
    case Cure::gone: return without_doing(model, finding.spared.empty() ? covered_by(finding) : finding.spared);
    case Cure::idle: return without_idle(time, finding);
    case Cure::graph: return facts.practices().work_differs_by_step() ? Change() : as_graph(model);
    case Cure::work: return scaled_ops(model, work(), 0);
    case Cure::half: {
      const std::vector<std::uint32_t> ops = work();
      return launched(scaled_ops(model, ops, 0.5), ops);
    }
    case Cure::at_stake: {
      const std::vector<std::uint32_t> ops = work();
      return launched(scaled_ops(model, ops, factor_at_stake(model, ops, finding.stake)), ops);
    }
    case Cure::overlap: return beside_copies(model, work());
    case Cure::roofline: return near_roofline(facts, model, work());
  }
  return std::nullopt;
}

}  // namespace gapscope
