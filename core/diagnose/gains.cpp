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
#include "core/base/parallel.h"
#include "core/base/saturating.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/growing_cache.h"
#include "core/diagnose/device_time.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/changes.h"
#include "core/replay/host_clock.h"
#include "core/replay/limits.h"
#include "core/replay/path.h"
#include "core/replay/plain_program.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostPlanned = 6;  // further ones are guesses upon guesses

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
    "Then {cuda_graph|replay the launches of a step as a CUDA graph}, {larger_graphs|put more of the work into each CUDA "
    "graph}.";

// What is left to do against a finding once what remedies before it name is done; empty: nothing.
Said remedy_left(const Facts& facts, const Practices& then, const Finding& finding, bool is_first) {
  const Practices& now = facts.practices();
  const Said whole{finding.remedy, finding.remedies};
  if (is_first) return whole;
  // What is replayed is the graph, not what else the finding says against its parts.
  const std::string_view graph = now.program == ProgramKind::python ? kOneGraph : kOneGraphElsewhere;
  if (gives_of(finding).cure == Cure::graph && !gives_of(finding).fuses && !fitted(now, graph).empty())
    return with_cache_first(facts, with_whole_step_caveat(now, said(then, advice_of(graph))));
  return said(now, finding.advice).text.empty() ? whole : said(then, finding.advice);
}

// A graph is all that the host does: a problem that gives a third of it comes first, what explains it or is its condition
// already with a twelfth.
constexpr Ns kPartOfGraph = 3, kMuchOfGraph = 12;

// How sure a gain is; of two remedies the surer goes first where the other gives no more after it.
enum class Sureness : std::uint8_t { roofline, graph, bound, exact };
Sureness sureness_of(const Gives& gives) {
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
  bool is_named = false;   // by what is planned already
  bool is_spared = false;  // its work, by that
};

class GainFinder {
 public:
  GainFinder(const Facts& facts, const DeviceTime* time, const ReplayModel& model, Diagnosis& diagnosis,
             const std::atomic<bool>* cancel)
      : facts_(facts), model_(model), out_(diagnosis), cancel_(cancel) {
    for (std::size_t i = 0; i < out_.findings.size(); ++i) {
      const Finding& finding = out_.findings[i].finding;
      // Waits that are no problem by themselves yet forbid a graph.
      const Cure cure = gives_of(finding).cure;
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
      const Gives& gives = gives_of(finding(c).finding);
      const Ns time = std::max(Ns{0}, c.gain);
      finding(c).gain = Gain{time, time, 0, c.left, gives.exact, is_of_gpu_work(gives), nullptr};
    }
    const Change all = make_plan();
    std::erase_if(candidates_, [this](const Candidate& c) {
      if (!is_note(c) || is_planned(c)) return false;
      finding(c).gain.reset();
      return true;
    });
    const ReplayResult then = replay(model_, all, cancel_);
    if (then.cancelled) return;
    if (out_.plain)
      for (const auto& pace : out_.plain->at_ends) widen_bounds(pace);
    state_lengths();
    for (Candidate& c : candidates_) {  // what each gives after the plan, make_plan() has asked last
      Gain& gain = *finding(c).gain;
      gain.later = c.is_spared ? 0 : std::max(Ns{0}, c.gain);
      if (gain.time > 0 || gain.later > 0 || is_planned(c)) gain.change = std::make_shared<const Change>(std::move(*c.change));
    }
    const GpuBusy busy = gpu_busy(model_, then);
    plan.busy_before = out_.plain ? out_.plain->gpu_share : plan.step.part(busy.before, plan.run);
    plan.busy_after = plan.step.part(busy.after, then.after);
    plan.next = bound_of(times_after(facts_.trace, facts_.session.account().host(), model_, all, then, busy.device));
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
  Sureness sureness(const Candidate& c) { return sureness_of(gives_of(finding(c).finding)); }
  bool is_worth(const Candidate& c) { return !c.is_named && !c.is_spared && out_.plan.share(c.gain) >= kLeastOfPlan; }
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
      Said remedy = remedy_left(facts_, done, finding(*best).finding, plan.items.empty());
      if (remedy.text.empty()) {
        candidates_[static_cast<std::size_t>(best - candidates_.data())].is_named = true;
        continue;
      }
      done = done.after(remedy.remedies);
      const Ns after = length - best->gain;
      plan.items.push_back({best->finding, after, best->gain, best->gain, after, finding(*best).gain->exact,
                            waits_between_launches(model_, all), std::move(remedy.text), remedy.remedies});
      mark_spared_with(*best);
      all = both(all, *best->change);
      length -= best->gain;
      set_gains(all, length);
    }
    return all;
  }

  // A bound holds wherever in its range the plain step is: where it takes `pace`, a remedy may save another share of it.
  void widen_bounds(const std::shared_ptr<const PlainPace>& pace) {
    Change so_far;
    so_far.full_queues = true, so_far.pace = pace;
    const auto length_with = [&](const Change& change) { return replay(model_, both(so_far, change), cancel_).after; };
    const Ns run = length_with({});
    const auto of_run = [&](Ns time) {
      return run > 0 ? scaled(std::max(Ns{0}, time), static_cast<double>(out_.plan.run) / static_cast<double>(run)) : 0;
    };
    parallel_for(hardware_threads(), candidates_.size(), [&](std::size_t i) {
      Gain& gain = *finding(candidates_[i]).gain;
      if (gain.exact || cancelled()) return;
      gain.most = std::max(gain.most, of_run(run - length_with(*candidates_[i].change)));
    });
    Ns length = run;
    for (Plan::Item& item : out_.plan.items) {
      if (cancelled()) return;
      const auto planned =
          std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return c.finding == item.finding; });
      so_far = both(std::move(so_far), *planned->change);
      const Ns after = length_with({});
      if (!item.exact) item.most = std::max(item.most, of_run(length - after));
      item.least = std::min(item.least, of_run(after));
      length = after;
    }
  }

  // Each length is said after the one before it: what is exact leaves the same part of that as of the estimate.
  void state_lengths() {
    Ns said = out_.plan.run;
    for (Plan::Item& item : out_.plan.items) {
      const Ns before = item.after + item.saved;
      if (!item.exact)
        said = std::min(said, item.least);
      else if (before > 0 && said != before)
        said = scaled(said, static_cast<double>(item.after) / static_cast<double>(before));
      else
        said = item.after;
      item.least = said;
    }
  }

  // What takes away or fuses GPU work leaves nothing to fuse or to take away of what is mostly the same work; neither does a
  // cause to what it explains.
  void mark_spared_with(const Candidate& planned) {
    const Rule& rule = *finding(planned).finding.rule;
    const auto takes = [](const Gives& gives) { return gives.cure == Cure::work || gives.fuses; };
    const auto explains = [](const Rule& cause, const Rule& symptom) {
      const auto all = claim_of(cause).explains;
      return std::find(all.begin(), all.end(), symptom.id) != all.end();
    };
    for (Candidate& c : candidates_) {
      const Rule& other = *finding(c).finding.rule;
      if (&c == &planned || explains(other, rule)) continue;
      if (!explains(rule, other) && !(takes(gives_of(finding(planned).finding)) && takes(gives_of(finding(c).finding))))
        continue;
      c.is_spared |= shortens_most_of(*planned.change, *c.change);
    }
  }

  // Of the GPU work that `other` makes shorter, by time.
  bool shortens_most_of(const Change& change, const Change& other) const {
    const auto is_shorter = [&](const Change& of, std::size_t o) {
      return o < of.lasts.size() && of.lasts[o] < model_.ops()[o].span.length();
    };
    Ns all = 0, shared = 0;
    for (std::size_t o = 0; o < model_.ops().size(); ++o) {
      if (!is_shorter(other, o)) continue;
      add_saturating(all, model_.ops()[o].span.length());
      if (is_shorter(change, o)) add_saturating(shared, model_.ops()[o].span.length());
    }
    return shared > all / 2;
  }

  // After `so_far`, by which the run is `length` long; null: nothing is worth it.
  const Candidate* next_of(const Change& so_far, Ns length) {
    const Candidate* best = nullptr;
    const bool waits = most_of([this](const Candidate& c) { return !is_note(c) && !c.change->freed.empty(); }) != nullptr;
    for (const Sureness s : {Sureness::exact, Sureness::bound, Sureness::graph, Sureness::roofline}) {
      const bool graph_is_early = waits || (best != nullptr && sureness(*best) == Sureness::exact);
      if (best != nullptr && s == Sureness::roofline) break;
      const Candidate* other = most_of([&](const Candidate& c) { return !is_note(c) && sureness(c) == s; });
      // Where the one before gives next to nothing besides the graph, the graph's own words name the waits.
      const auto is_cause = [](const Finding& f) { return f.rule->rule_class == RuleClass::problem && !gives_of(f).fuses; };
      if (best != nullptr && s == Sureness::graph && (graph_is_early || is_cause(finding(*best).finding)) &&
          (other == nullptr || (graph_is_early ? kMuchOfGraph : kPartOfGraph) * best->gain >= other->gain))
        break;
      if (other == nullptr) continue;
      if (best != nullptr && (other->gain <= best->gain || gain_after(*best, *other, so_far, length) <= best->gain)) continue;
      // What is launched at once holds no branch on what the GPU computed.
      if (best != nullptr && sureness(*best) == Sureness::exact && !best->change->freed.empty() &&
          gives_of(finding(*other).finding).fuses && kMuchOfGraph * best->gain >= other->gain)
        continue;
      best = other;
    }
    best = cause_of(particular_before(best));
    if (best == nullptr || sureness(*best) != Sureness::graph) return best;
    const Candidate* note = most_of([this](const Candidate& c) { return is_note(c); });
    return note != nullptr && kMuchOfGraph * note->gain >= best->gain ? note : best;
  }

  // What a compiler fuses is a bound that seldom comes whole, and says nothing of the program. What is particular to it and
  // gives half as much or more goes before: compiling a diffusion model gave 4 % where the bound was 40 %, its weights' average
  // on the GPU 31 % (H100).
  // So is what computes a loop's rounds in one call, where no record says whether a round needs the one before it; and 16 bits
  // where TF32 is in use: autocast made two programs slower whose bounds were 30 and 46 % (H200).
  const Candidate* particular_before(const Candidate* fusing) {
    if (fusing == nullptr) return fusing;
    const Gives& theirs = gives_of(finding(*fusing).finding);
    const std::string_view id = finding(*fusing).finding.rule->id;
    const bool is_general = id == "tf32_gemm" || (id == "same_work_in_a_loop" && !theirs.exact);
    if (!is_general && (theirs.cure != Cure::at_stake || !theirs.fuses)) return fusing;
    const Candidate* particular = most_of([&](const Candidate& c) {
      const Gives& gives = gives_of(finding(c).finding);
      return !is_note(c) && finding(c).finding.rule->rule_class == RuleClass::problem && !gives.fuses && &c != fusing &&
             (sureness(c) == Sureness::exact || sureness(c) == Sureness::bound) && 2 * c.gain >= fusing->gain;
    });
    return particular != nullptr ? particular : fusing;
  }

  // What explains it and gives half as much or more, of a graph a twelfth, and a quarter where it is mostly the same work,
  // whose rest the symptom's bound counts, too: a cause goes before its symptom.
  const Candidate* cause_of(const Candidate* symptom) {
    if (symptom == nullptr) return symptom;
    const std::string_view id = finding(*symptom).finding.rule->id;
    const Ns factor = sureness(*symptom) == Sureness::graph ? kMuchOfGraph : 2;
    const Candidate* cause = most_of([&](const Candidate& c) {
      const auto explains = claim_of(*finding(c).finding.rule).explains;
      if (is_note(c) || std::find(explains.begin(), explains.end(), id) == explains.end()) return false;
      return factor * c.gain >= symptom->gain || (4 * c.gain >= symptom->gain && shortens_most_of(*c.change, *symptom->change));
    });
    return cause != nullptr ? cause : symptom;
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

void find_gains(const Facts& facts, const DeviceTime* time, const ReplayModel* model, Diagnosis& diagnosis,
                const std::atomic<bool>* cancel) {
  if (model == nullptr || model->empty()) return;
  if (!facts.trace.recordings.empty()) return;  // a replay would take what is between them for the host's time
  GainFinder(facts, time, *model, diagnosis, cancel).find();
}

}  // namespace gapscope
