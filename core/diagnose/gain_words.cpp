#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"

namespace gapscope {
namespace {

// What holds a run back that work of the GPU does not; empty where none is known.
std::string_view bottleneck(Bound bound) {
  switch (bound) {
    case Bound::host: return "the host is the bottleneck";
    case Bound::input: return "loading data is the bottleneck";
    case Bound::transfer: return "copying is the bottleneck";
    case Bound::synchronization: return "waiting for the GPU is the bottleneck";
    case Bound::compiling: return "compiling is the bottleneck";
    case Bound::start_up: return "start-up is the bottleneck";
    default: return {};
  }
}

// What the replay does for a remedy.
std::string change_words(std::size_t waits_inside, const Remedy& gives) {
  const std::string then = gives.fuses ? ", launched at once" : "";
  switch (gives.cure) {
    case Cure::none: return "";
    case Cure::waits: return "without these waits";
    case Cure::host: return "without this host time";
    case Cure::idle: return "without this idle time";
    case Cure::graph:
      if (waits_inside == 0) return "the launches of a step as one graph";
      return fmt::format("the launches of a step as one graph, once {} inside {} gone", counted(waits_inside, "wait"),
                         waits_inside == 1 ? "is" : "are");
    case Cure::work: return "without this GPU work";
    case Cure::at_stake: return "this GPU work without what is at stake" + then;
    case Cure::half: return "this GPU work in half of its time" + then;
    case Cure::roofline: return "these kernels at 80 % of their roofline";
    case Cure::overlap: return "these copies with other work at the same time";
  }
  return "";
}

std::string_view of_what(const Plan& plan) { return plan.step.steps > 0 ? " a step" : ""; }
std::string each(const Plan& plan, Ns time) { return format_duration(plan.each(time)); }
std::string percent(const Plan& plan, Ns time) { return fmt::format("{:.0f} %", 100 * plan.share(time)); }
std::string_view how(bool exact) { return exact ? "about" : "up to"; }

// "saves up to 3.20 ms of 14.0 ms a step (23 %): without these waits"
std::string saves_words(const Plan& plan, Ns time, bool exact, std::size_t waits_inside, const Remedy& gives) {
  return fmt::format("saves {} {} of {}{} ({}): {}", how(exact), each(plan, time), each(plan, plan.run), of_what(plan),
                     percent(plan, time), change_words(waits_inside, gives));
}

}  // namespace

bool is_recommended(const Plan& plan, const RankedFinding& finding) {
  return finding.gain && plan.share(finding.gain->time) >= kLeastGain;
}

std::string gain_words(const Diagnosis& diagnosis, const RankedFinding& finding) {
  const Plan& plan = diagnosis.plan;
  if (!finding.gain || plan.run <= 0) return {};
  const Gain& gain = *finding.gain;
  if (is_recommended(plan, finding))
    return saves_words(plan, gain.time, gain.exact, plan.waits_inside, finding.finding.rule->gives);
  const std::string_view holds = bottleneck(diagnosis.bound);
  std::string out = gain.of_gpu_work && !holds.empty() ? fmt::format("gives nothing while {}", holds)
                                                       : std::string("gives less than 1 % of the run");
  if (plan.share(gain.later) >= kLeastGain && !plan.items.empty())
    out += fmt::format("; after the plan, {} {}{}", how(gain.exact), each(plan, gain.later), of_what(plan));
  return out;
}

std::string planned_words(const Diagnosis& diagnosis, const Plan::Item& item) {
  const Plan& plan = diagnosis.plan;
  const Rule& rule = *diagnosis.findings[static_cast<std::size_t>(item.finding)].finding.rule;
  const bool is_first = &item == plan.items.data();
  return (is_first ? "" : "then ") + saves_words(plan, item.saved, item.exact, item.waits_inside, rule.gives);
}

std::vector<PlanLine> plan_lines(const Diagnosis& diagnosis) {
  const Plan& plan = diagnosis.plan;
  if (plan.run <= 0) return {};
  const auto busy = [](double share) { return fmt::format(", the GPU busy for {}", format_percent(share)); };
  std::vector<PlanLine> out = {
      {"now", fmt::format("{}{}{}", each(plan, plan.run),
                          plan.step.steps > 0 ? " a step" : " from the first call to the last work", busy(plan.busy_before))}};
  if (plan.items.empty()) {
    const auto other = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(), [](const RankedFinding& finding) {
      return !finding.gain && finding.finding.severity == Severity::costly;
    });
    out.push_back({"then", std::string("no remedy that can be replayed gives 2 % or more")});
    if (other != diagnosis.findings.end())
      out.back().value += fmt::format(", and \"{}\" has none that can", other->finding.rule->title);
    return out;
  }
  for (const Plan::Item& item : plan.items) {
    const Rule& rule = *diagnosis.findings[static_cast<std::size_t>(item.finding)].finding.rule;
    out.push_back(
        {std::string(rule.title),
         fmt::format("{} {}{}, {} less than now: {}", item.exact ? "about" : "down to", each(plan, item.after), of_what(plan),
                     percent(plan, plan.run - item.after), change_words(item.waits_inside, rule.gives))});
  }
  std::string next(bound_name(plan.next));
  next[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(next[0])));
  out.push_back({"then", next + busy(plan.busy_after)});
  return out;
}

}  // namespace gapscope
