#include "core/diagnose/gains.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/analyze/account/time_account.h"
#include "core/analyze/practices/practices.h"
#include "core/analyze/work/floors.h"
#include "core/analyze/work/kernel_floors.h"
#include "core/base/parallel.h"
#include "core/base/saturating.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/device_time.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"
#include "core/replay/limits.h"
#include "core/replay/path.h"
#include "core/replay/plain_program.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostPlanned = 6;  // further ones are guesses upon guesses
// Launched, not begun, and what the file does not tell: no host time.
constexpr CauseSet kNoHostTime = cause_set({IdleCause::starting, IdleCause::unlinked, IdleCause::unrecorded});

bool is_of_gpu_work(const Remedy& gives) {
  if (gives.fuses) return false;
  return gives.cure == Cure::work || gives.cure == Cure::at_stake || gives.cure == Cure::half || gives.cure == Cure::roofline;
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
  const SpanSet inside = span_set(std::move(places));
  std::vector<bool> lies_inside(model.calls().size());
  auto at = inside.begin();  // calls come in the order they begin
  for (std::size_t c = 0; c < lies_inside.size(); ++c) {
    const Ns begin = model.calls()[c].span.begin;
    while (at != inside.end() && at->end <= begin) ++at;
    lies_inside[c] = at != inside.end() && at->begin <= begin;
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t o = 0; o < model.ops().size(); ++o) {
    const ReplayModel::Operation& op = model.ops()[o];
    if (marked[op.slice.index()] || (op.call != ReplayModel::kNone && lies_inside[op.call])) out.push_back(o);
  }
  return out;
}

// For how long other queues stood still until collectives among `work` ended. The replay takes such a gap for one of theirs and
// keeps it (GAIN.md has no waits between queues), so what the run would be without them it does not tell.
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

// A call that copies pageable memory goes on for as long as the copy does, for most of which it moves data by itself: that
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
  const WorkTable& table = facts.analysis.work();
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

// Of the time of the operations that a change makes shorter.
double left_of_work(const ReplayModel& model, const Change& change) {
  Ns before = 0, after = 0;
  for (std::size_t o = 0; o < change.lasts.size(); ++o) {
    const Ns length = model.ops()[o].span.length();
    if (change.lasts[o] >= length) continue;
    add_saturating(before, length);
    add_saturating(after, change.lasts[o]);
  }
  return before > 0 ? static_cast<double>(after) / static_cast<double>(before) : 1;
}

// kOneGraph of programs that are not Python's.
constexpr std::string_view kOneGraphElsewhere =
    "Then {the launches of a step replayed at once, as a CUDA graph}, {put more of the work into each CUDA graph}.";

// What is left to do against a finding once what remedies before it name is done; empty: nothing.
std::string remedy_left(const Practices& now, const Practices& then, const Finding& finding, bool is_first) {
  if (is_first) return finding.remedy;
  // What is replayed is the graph, not what else the finding says against its parts.
  const std::string_view graph = now.program == ProgramKind::python ? kOneGraph : kOneGraphElsewhere;
  if (finding.rule->gives.cure == Cure::graph && !fitted(now, graph).empty())
    return with_whole_step_caveat(now, fitted(then, graph));
  return fitted(now, finding.advice).empty() ? finding.remedy : fitted(then, finding.advice);
}

// How sure a gain is; of two remedies the surer goes first where the other gives no more after it.
enum class Sureness : std::uint8_t { roofline, graph, bound, exact };
Sureness sureness_of(const Remedy& gives) {
  if (gives.cure == Cure::roofline) return Sureness::roofline;
  if (gives.cure == Cure::graph) return Sureness::graph;
  return gives.exact ? Sureness::exact : Sureness::bound;
}

// A finding whose gain is looked for.
struct Candidate {
  std::int32_t finding = 0;
  std::optional<Change> change;
  Ns gain = 0;
  double left = 1;
  bool is_named = false;  // by what is planned already
};

class GainFinder {
 public:
  GainFinder(const Facts& facts, const DeviceTime* time, const ReplayModel& model, Diagnosis& diagnosis,
             const std::atomic<bool>* cancel)
      : facts_(facts), model_(model), out_(diagnosis), cancel_(cancel) {
    for (std::size_t i = 0; i < out_.findings.size(); ++i) {
      const Finding& finding = out_.findings[i].finding;
      // Waits that are no problem by themselves yet forbid a graph.
      const Cure cure = finding.rule->gives.cure;
      if (cure == Cure::none || (finding.severity == Severity::informational && cure != Cure::waits)) continue;
      candidates_.push_back({static_cast<std::int32_t>(i), {}});
    }
    parallel_for(hardware_threads(), candidates_.size(), [&](std::size_t i) {
      if (!cancelled()) candidates_[i].change = change_of(facts, time, model, finding(candidates_[i]).finding);
    });
    std::erase_if(candidates_, [](const Candidate& c) { return !c.change; });
  }

  void find() {
    for (Candidate& c : candidates_) c.left = left_of_work(model_, *c.change);
    Plan& plan = out_.plan;
    const Change as_it_is = recorded();
    plan.run = out_.plain ? replay(model_, as_it_is, cancel_).after : model_.run().length();
    plan.step = out_.plain ? out_.plain->share(plan.run) : model_.step_share();
    plan.waits_inside = waits_between_launches(model_, as_it_is);
    set_gains(as_it_is, plan.run);
    if (cancelled()) return;
    for (const Candidate& c : candidates_) {
      const Remedy& gives = finding(c).finding.rule->gives;
      finding(c).gain = Gain{std::max(Ns{0}, c.gain), 0, c.left, gives.exact, is_of_gpu_work(gives), nullptr};
    }
    const Change all = make_plan();
    std::erase_if(candidates_, [this](const Candidate& c) {
      if (!is_note(c) || is_planned(c)) return false;
      finding(c).gain.reset();
      return true;
    });
    const ReplayResult then = replay(model_, all, cancel_);
    if (then.cancelled) return;
    for (Candidate& c : candidates_) {  // what each gives after the plan, make_plan() has asked last
      Gain& gain = *finding(c).gain;
      gain.later = std::max(Ns{0}, c.gain);
      if (gain.time > 0 || gain.later > 0 || is_planned(c)) gain.change = std::make_shared<const Change>(std::move(*c.change));
    }
    const GpuBusy busy = gpu_busy(model_, then);
    plan.busy_before = out_.plain ? out_.plain->gpu_share : plan.step.part(busy.before, plan.run);
    plan.busy_after = plan.step.part(busy.after, then.after);
    plan.next = bound_of(times_after(facts_.trace, facts_.analysis.account().host(), model_, all, then, busy.device));
    if (plan.next == Bound::start_up && out_.bound == Bound::allocating) plan.next = out_.bound;
  }

 private:
  // A full queue is no cost of the host's: a faster GPU empties it.
  Change recorded() const { return plain_change(out_.plain.get()); }
  RankedFinding& finding(const Candidate& c) { return out_.findings[static_cast<std::size_t>(c.finding)]; }
  bool is_note(const Candidate& c) { return finding(c).finding.severity == Severity::informational; }
  bool is_planned(const Candidate& c) const {
    return std::any_of(out_.plan.items.begin(), out_.plan.items.end(),
                       [&](const Plan::Item& item) { return item.finding == c.finding; });
  }
  Sureness sureness(const Candidate& c) { return sureness_of(finding(c).finding.rule->gives); }
  bool is_worth(const Candidate& c) { return !c.is_named && out_.plan.share(c.gain) >= kLeastOfPlan; }
  bool cancelled() const { return cancel_ != nullptr && *cancel_; }

  // What each gives after `so_far`, by which the run is `length` long.
  void set_gains(const Change& so_far, Ns length) {
    parallel_for(hardware_threads(), candidates_.size(), [&](std::size_t i) {
      if (cancelled()) return;
      Candidate& c = candidates_[i];
      c.gain = 0;
      if (c.change->empty() || is_planned(c)) return;  // which `so_far` holds
      const ReplayResult result = replay(model_, both(so_far, *c.change), cancel_);
      if (!result.cancelled) c.gain = length - result.after;
    });
  }

  Change make_plan() {
    Plan& plan = out_.plan;
    Change all = recorded();
    Ns length = plan.run;
    Practices done = facts_.practices();
    while (plan.items.size() < kMostPlanned && !cancelled()) {
      const Candidate* best = next_of(all, length);
      if (best == nullptr) break;
      std::string remedy = remedy_left(facts_.practices(), done, finding(*best).finding, plan.items.empty());
      if (remedy.empty()) {
        candidates_[static_cast<std::size_t>(best - candidates_.data())].is_named = true;
        continue;
      }
      done = done.after(remedy);
      plan.items.push_back({best->finding, length - best->gain, best->gain, finding(*best).gain->exact,
                            waits_between_launches(model_, all), std::move(remedy)});
      all = both(all, *best->change);
      length -= best->gain;
      set_gains(all, length);
    }
    return all;
  }

  // After `so_far`, by which the run is `length` long; null: nothing is worth it.
  const Candidate* next_of(const Change& so_far, Ns length) {
    const Candidate* best = nullptr;
    const bool waits = most_of([this](const Candidate& c) { return !is_note(c) && !c.change->freed.empty(); }) != nullptr;
    for (const Sureness s : {Sureness::exact, Sureness::bound, Sureness::graph, Sureness::roofline}) {
      const bool graph_is_early = waits || (best != nullptr && sureness(*best) == Sureness::exact);
      if (best != nullptr && (s == Sureness::roofline || (s == Sureness::graph && graph_is_early))) break;
      const Candidate* other = most_of([&](const Candidate& c) { return !is_note(c) && sureness(c) == s; });
      if (other == nullptr || (best != nullptr && gain_after(*best, *other, so_far, length) <= best->gain)) continue;
      best = other;
    }
    if (best == nullptr || sureness(*best) != Sureness::graph) return best;
    const Candidate* note = most_of([this](const Candidate& c) { return is_note(c); });
    return note != nullptr ? note : best;
  }

  // Of those the one that gives most; null: none is worth it.
  const Candidate* most_of(const std::function<bool(const Candidate&)>& are) {
    const Candidate* most = nullptr;
    for (const Candidate& c : candidates_)
      if (are(c) && is_worth(c) && (most == nullptr || c.gain > most->gain)) most = &c;
    return most;
  }

  // What `other` gives once `first` is done, too.
  Ns gain_after(const Candidate& first, const Candidate& other, const Change& so_far, Ns length) {
    const ReplayResult result = replay(model_, both(both(so_far, *first.change), *other.change), cancel_);
    return result.cancelled ? 0 : length - first.gain - result.after;
  }

  const Facts& facts_;
  const ReplayModel& model_;
  Diagnosis& out_;
  const std::atomic<bool>* cancel_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::optional<Change> change_of(const Facts& facts, const DeviceTime* time, const ReplayModel& model, const Finding& finding) {
  const auto work = [&] { return work_at(model, facts.trace, finding); };
  const auto launched = [&](Change change, const std::vector<std::uint32_t>& ops) {
    return finding.rule->gives.fuses ? both(std::move(change), in_one_launch(model, ops)) : change;
  };
  if (is_of_gpu_work(finding.rule->gives) && is_much(model, other_queues_waited(model, work()))) return std::nullopt;
  switch (finding.rule->gives.cure) {
    case Cure::none: return Change();
    case Cure::waits: return without_waits(waits_in(model, covered_by(finding)));
    case Cure::host: return without_slices(facts.trace, finding.slices);
    case Cure::calls:
      return both(without_slices(facts.trace, finding.slices), without_waits(waits_in(model, covered_by(finding))));
    case Cure::idle: return without_idle(time, finding);
    case Cure::graph: return as_graph(model);
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

void find_gains(const Facts& facts, const DeviceTime* time, const ReplayModel* model, Diagnosis& diagnosis,
                const std::atomic<bool>* cancel) {
  if (model == nullptr || model->empty()) return;
  GainFinder(facts, time, *model, diagnosis, cancel).find();
}

}  // namespace gapscope
