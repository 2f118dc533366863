#include "core/diagnose/gains.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/saturating.h"
#include "core/diagnose/device_time.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/changes.h"
#include "core/replay/path.h"

namespace gapscope {
namespace {

constexpr double kLeastOfPlan = 0.02;    // of the run
constexpr std::size_t kMostPlanned = 6;  // further ones are guesses upon guesses
// Launched, not begun, and what the file does not tell: no host time.
constexpr CauseSet kNoHostTime = cause_set({IdleCause::starting, IdleCause::unlinked, IdleCause::unrecorded});

bool is_of_gpu_work(Cure cure) { return cure == Cure::work || cure == Cure::at_stake || cure == Cure::half; }

// The operations that a finding marks, and those that a call inside its places launched; positions in ops().
std::vector<std::uint32_t> work_at(const ReplayModel& model, const Trace& trace, const Finding& finding) {
  std::vector<SliceId> work;
  std::vector<Span> places;
  for (const SliceId s : finding.slices)
    if (is_gpu_work(trace.kind(s)))
      work.push_back(s);
    else
      places.push_back(trace.span_of(s));
  std::sort(work.begin(), work.end());
  const SpanSet inside = span_set(std::move(places));
  std::vector<std::uint32_t> out;
  for (std::uint32_t o = 0; o < model.ops().size(); ++o) {
    const ReplayModel::Operation& op = model.ops()[o];
    const bool launched = op.call != ReplayModel::kNone &&
                          length_within(inside, {model.calls()[op.call].span.begin, model.calls()[op.call].span.begin + 1}) > 0;
    if (launched || std::binary_search(work.begin(), work.end(), op.slice)) out.push_back(o);
  }
  return out;
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

Change beside_copies(const ReplayModel& model, const std::vector<std::uint32_t>& copies) {
  std::vector<SliceId> calls;
  for (const std::uint32_t o : copies)
    if (model.ops()[o].call != ReplayModel::kNone) calls.push_back(model.calls()[model.ops()[o].call].slice);
  Change out = without_waits(std::move(calls));
  out.overlap_copies = true;
  return out;
}

// A finding whose gain is looked for.
struct Candidate {
  std::int32_t finding = 0;
  Change change;
  Ns gain = 0;
};

class GainFinder {
 public:
  GainFinder(const Facts& facts, const DeviceTime* time, const ReplayModel& model, Diagnosis& diagnosis,
             const std::atomic<bool>* cancel)
      : facts_(facts), model_(model), out_(diagnosis), cancel_(cancel) {
    for (std::size_t i = 0; i < out_.findings.size(); ++i) {
      const Finding& finding = out_.findings[i].finding;
      if (finding.severity == Severity::informational || finding.rule->gives.cure == Cure::none) continue;
      candidates_.push_back({static_cast<std::int32_t>(i), change_of(facts, time, model, finding)});
    }
  }

  void find() {
    Plan& plan = out_.plan;
    const ReplayResult now = replay(model_, {}, cancel_);
    plan.run = now.before;
    plan.steps = model_.steps().size();
    set_gains({}, plan.run);
    for (const Candidate& c : candidates_) {
      const Remedy& gives = finding(c).finding.rule->gives;
      finding(c).gain = Gain{std::max(Ns{0}, c.gain), 0, gives.exact, is_of_gpu_work(gives.cure)};
    }
    const Change all = make_plan();
    const ReplayResult then = replay(model_, all, cancel_);
    set_gains(all, then.after);
    for (const Candidate& c : candidates_) finding(c).gain->later = std::max(Ns{0}, c.gain);
    const GpuBusy busy = gpu_busy(model_, then);
    plan.busy_before = plan.share(busy.before);
    plan.busy_after = then.after > 0 ? static_cast<double>(busy.after) / static_cast<double>(then.after) : 0;
    plan.next = bound_of(times_after(facts_.trace, HostTime(facts_.trace), model_, all, then));
  }

 private:
  RankedFinding& finding(const Candidate& c) { return out_.findings[static_cast<std::size_t>(c.finding)]; }
  bool cancelled() const { return cancel_ != nullptr && *cancel_; }

  // What each gives after `so_far`, by which the run is `length` long.
  void set_gains(const Change& so_far, Ns length) {
    parallel_for(hardware_threads(), candidates_.size(), [&](std::size_t i) {
      if (cancelled()) return;
      Candidate& c = candidates_[i];
      const ReplayResult result = replay(model_, both(so_far, c.change), cancel_);
      c.gain = result.cancelled || c.change.empty() ? 0 : length - result.after;
    });
  }

  Change make_plan() {
    Plan& plan = out_.plan;
    Change all;
    Ns length = plan.run;
    while (plan.items.size() < kMostPlanned && !candidates_.empty() && !cancelled()) {
      const auto best = std::max_element(candidates_.begin(), candidates_.end(),
                                         [](const Candidate& a, const Candidate& b) { return a.gain < b.gain; });
      if (plan.share(best->gain) < kLeastOfPlan) break;
      all = both(all, best->change);
      length -= best->gain;
      plan.items.push_back({best->finding, length, best->gain, finding(*best).gain->exact});
      set_gains(all, length);
    }
    return all;
  }

  const Facts& facts_;
  const ReplayModel& model_;
  Diagnosis& out_;
  const std::atomic<bool>* cancel_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Change change_of(const Facts& facts, const DeviceTime* time, const ReplayModel& model, const Finding& finding) {
  const auto work = [&] { return work_at(model, facts.trace, finding); };
  switch (finding.rule->gives.cure) {
    case Cure::none: return {};
    case Cure::waits: return without_waits(waits_in(model, covered_by(finding)));
    case Cure::host: return without_slices(facts.trace, finding.slices);
    case Cure::idle: return without_idle(time, finding);
    case Cure::graph: return as_graph(model);
    case Cure::work: return scaled_ops(model, work(), 0);
    case Cure::half: return scaled_ops(model, work(), 0.5);
    case Cure::at_stake: {
      const std::vector<std::uint32_t> ops = work();
      return scaled_ops(model, ops, factor_at_stake(model, ops, finding.stake));
    }
    case Cure::overlap: return beside_copies(model, work());
  }
  return {};
}

void find_gains(const Facts& facts, const DeviceTime* time, Diagnosis& diagnosis, const std::atomic<bool>* cancel) {
  const auto model = ReplayModel::make(facts.trace, facts.names, facts.ops, cancel);
  if (model == nullptr || model->empty()) return;
  GainFinder(facts, time, *model, diagnosis, cancel).find();
}

}  // namespace gapscope
