#include "core/view/whatif/whatif_model.h"

#include <algorithm>
#include <utility>

#include "core/diagnose/plain_verdict.h"
#include "core/diagnose/profiler_cost.h"
#include "core/diagnose/trust.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"
#include "core/replay/limits.h"
#include "core/replay/plain_program.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

bool is_cancelled(const std::atomic<bool>* cancel) { return cancel != nullptr && *cancel; }

std::vector<ReplayedStep> steps_until_done(const ReplayModel& model, const ReplayResult& result) {
  std::vector<ReplayedStep> out = result.steps;
  if (out.empty() || out.size() != model.steps().size()) return out;
  const auto place_of = [&](Ns time) {
    const auto next =
        std::upper_bound(out.begin(), out.end(), time, [](Ns t, const ReplayedStep& s) { return t < s.before.begin; });
    return static_cast<std::size_t>(next - out.begin());
  };
  struct Done {
    Ns before = 0, after = 0;
  };
  std::vector<Done> done;
  for (const ReplayedStep& step : out) done.push_back({step.before.end, step.after.end});
  for (std::size_t o = 0; o < model.ops().size(); ++o) {
    const std::uint32_t call = model.ops()[o].call;
    if (call == ReplayModel::kNone) continue;
    const Ns launched = model.calls()[call].span.begin;
    const std::size_t next = place_of(launched);
    if (next == 0 || launched >= out[next - 1].before.end) continue;
    Done& of = done[next - 1];
    of = {std::max(of.before, model.ops()[o].span.end), std::max(of.after, result.ops[o].end)};
  }
  if (model.has_whole_steps()) done.back() = {model.run().end, result.run.end};
  Done last{out.front().before.begin, out.front().after.begin};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Done now{std::max(done[i].before, last.before), std::max(done[i].after, last.after)};
    out[i].before = {last.before, now.before};
    out[i].after = {last.after, now.after};
    last = now;
  }
  return out;
}

// False when it was cancelled.
bool run_replay(const Trace& trace, const HostTime& host, const ReplayModel& model, const Change& change,
                const std::atomic<bool>* cancel, ReplayedRun& out) {
  out.result = replay(model, change, cancel);
  if (out.result.cancelled || is_cancelled(cancel)) return false;
  out.steps = steps_until_done(model, out.result);
  out.busy = gpu_busy(model, out.result);
  if (is_cancelled(cancel)) return false;
  out.next = bound_of(times_after(trace, host, model, change, out.result, out.busy.device));
  if (is_cancelled(cancel) || model.empty()) return !is_cancelled(cancel);
  out.path = PathRow(critical_path(model, change, out.result));
  if (is_cancelled(cancel)) return false;
  out.held = held_times(out.path.path());
  out.sums = path_sums(trace, host, change, out.path.path());
  out.removed = change.removed;
  out.is_plain = change.pace != nullptr;
  out.waits_inside = waits_between_launches(model, change);
  return !is_cancelled(cancel);
}

// What an item takes off the host, and the calls that then do not wait.
void add_host(const Document& document, const ReplayModel& model, const WhatIfItem& item, std::vector<Span>& removed,
              std::vector<SliceId>& freed) {
  const Trace& trace = document.trace;
  if (item.of == WhatIfItem::Of::gap) return removed.push_back(item.span);
  std::vector<SliceId> slices;
  if (item.of == WhatIfItem::Of::slice) slices.push_back(item.slice);
  if (item.of == WhatIfItem::Of::name)
    for (const SliceId s : document.names.slices_named(trace.name_id(item.slice)))
      if (trace.kind(s) == trace.kind(item.slice)) slices.push_back(s);
  std::sort(slices.begin(), slices.end());
  for (const SliceId s : slices) removed.push_back(trace.span_of(s));
  for (const ReplayModel::HostCall& call : model.calls())
    if (call.waits_for != ReplayModel::kNone && std::binary_search(slices.begin(), slices.end(), call.slice))
      freed.push_back(call.slice);
}

// Operations of the item take their part of the time that they take in `change`.
void scale_work(const Trace& trace, const ReplayModel& model, const WhatIfItem& item, Change& change) {
  if (change.lasts.empty()) scale_gpu(model, 1, change);
  for (std::size_t o = 0; o < model.ops().size(); ++o) {
    const SliceId slice = model.ops()[o].slice;
    const bool meant =
        item.of == WhatIfItem::Of::slice ? slice == item.slice : trace.name_id(slice) == trace.name_id(item.slice);
    if (meant) change.lasts[o] = static_cast<Ns>(static_cast<double>(change.lasts[o]) * item.factor);
  }
}

bool is_of_gpu_work(const Trace& trace, const WhatIfItem& item) {
  return item.slice.valid() && is_gpu_work(trace.kind(item.slice));
}

// None when cancelled.
std::optional<Change> change_for(const Document& document, const ReplayBase& base, const WhatIfChanges& changes,
                                 const std::atomic<bool>* cancel) {
  const Trace& trace = document.trace;
  const ReplayModel& model = *base.model;
  std::vector<Span> removed;
  std::vector<SliceId> freed;
  Change out = plain_change(base.plain.get());
  for (const WhatIfItem& item : changes.items) {
    if (item.of != WhatIfItem::Of::finding) {
      if (!is_of_gpu_work(trace, item)) add_host(document, model, item, removed, freed);
      continue;
    }
    const Diagnosis* diagnosis = document.diagnosis();
    const auto at = static_cast<std::size_t>(item.finding);
    if (!diagnosis || at >= diagnosis->findings.size() || !diagnosis->findings[at].gain) continue;
    if (const auto& change = diagnosis->findings[at].gain->change) out = both(std::move(out), *change);
  }
  Change of_host = without_waits(std::move(freed));
  of_host.removed = span_set(std::move(removed));
  out = both(std::move(out), of_host);
  if (changes.graph) out = both(std::move(out), as_graph(model));
  if (changes.roofline) {
    const std::optional<Change> roofline = base.roofline(document, cancel);
    if (!roofline) return std::nullopt;
    out = both(std::move(out), *roofline);
  }
  out.host *= changes.host;
  out.no_wait |= changes.no_wait;
  out.overlap_copies |= changes.overlap_copies;
  // Last: what takes longer than it did would not be the shorter of two times.
  if (changes.gpu != 1) scale_gpu(model, changes.gpu, out);
  for (const WhatIfItem& item : changes.items)
    if (item.of != WhatIfItem::Of::finding && is_of_gpu_work(trace, item)) scale_work(trace, model, item, out);
  return is_cancelled(cancel) ? std::nullopt : std::optional(std::move(out));
}

}  // namespace

std::optional<Change> ReplayBase::roofline(const Document& document, const std::atomic<bool>* cancel) const {
  const std::lock_guard lock(mutex_);
  if (roofline_) return roofline_;
  const WorkTable& work = document.session.work();
  if (is_cancelled(cancel)) return std::nullopt;
  roofline_ = at_roofline(*model, document.trace, work, 1);
  return roofline_;
}

std::shared_ptr<const ReplayBase> answer(const Document& document, const ReplayBaseQuestion&, const std::atomic<bool>* cancel) {
  auto out = std::make_shared<ReplayBase>(document.session.account().host());
  out->model = document.session.model(cancel);
  out->plain = headline_of(document.session).plain;
  const Change none = plain_change(out->plain.get());
  if (!out->model || !run_replay(document.trace, out->host, *out->model, none, cancel, out->now)) return nullptr;
  ReplayedRun& now = out->now;
  if (out->plain) {
    now.result.before = now.result.after;
    now.busy.before = now.busy.after;
    out->step = out->plain->share(now.result.after);
  } else {
    out->step = out->model->step_share();
    out->profiler = profiler_cost(document.trace, out->model->run()).share_of(now.result.before);
  }
  return out;
}

std::shared_ptr<const WhatIfAnswer> answer(const Document& document, const WhatIfQuestion& question,
                                           const std::atomic<bool>* cancel) {
  auto out = std::make_shared<WhatIfAnswer>();
  out->changes = question.changes;
  out->base = question.base;
  const ReplayModel& model = *question.base->model;
  const std::optional<Change> change = change_for(document, *question.base, question.changes, cancel);
  if (!change || !run_replay(document.trace, question.base->host, model, *change, cancel, out->after)) return nullptr;
  if (question.base->plain) {
    const ReplayedRun& now = question.base->now;
    compare_with(now.result, now.busy, out->after.result, out->after.busy);
  }
  if (!question.changes.empty()) out->rows = replayed_rows(model, out->after.result.ops);
  return is_cancelled(cancel) ? nullptr : out;
}

std::vector<HostShare> host_of_stretch(const Trace& trace, const HostTime& host, const ReplayedRun& run,
                                       const PathStretch& stretch) {
  if (stretch.by != HeldBy::host) return {};
  HostReader reader(host);
  const LaneId lane = stretch.slice ? trace.lane_id(stretch.slice) : LaneId{};
  std::vector<HostShare> out = host_shares(reader, lane, stretch.old, run.removed, stretch.span.length(), run.is_plain);
  std::stable_sort(out.begin(), out.end(), [](const HostShare& a, const HostShare& b) { return a.time > b.time; });
  return out;
}

}  // namespace gapscope
