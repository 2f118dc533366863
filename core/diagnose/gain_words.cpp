#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/verdict.h"
#include "core/replay/limits.h"

namespace gapscope {
namespace {

// What holds a run back that work of the GPU does not; empty where none is known.
std::string_view bottleneck(Bound bound) {
  switch (bound) {
    case Bound::host: return "the host is the bottleneck";
    case Bound::input: return "data loading is the bottleneck";
    case Bound::transfer: return "copies are the bottleneck";
    case Bound::synchronization: return "synchronization is the bottleneck";
    case Bound::compiling: return "compiling is the bottleneck";
    case Bound::start_up: return "start-up is the bottleneck";
    case Bound::allocating: return "memory allocation is the bottleneck";
    default: return {};
  }
}

// What the replay does for the remedy of a finding, whose gain is known.
std::string change_words(const Plan& plan, std::size_t waits_inside, const RankedFinding& finding) {
  const Gives& gives = gives_of(finding.finding);
  const std::string then = gives.fuses ? ", fused into one launch" : "";
  switch (gives.cure) {
    case Cure::none: return "";
    case Cure::waits: return "without these waits";
    case Cure::host: return "without this host time";
    case Cure::calls: return "without these calls on the host";
    case Cure::gone: return "without this host work and what it launches";
    case Cure::idle: return "without this idle time";
    case Cure::graph:
      return (gives.fuses ? "all launches of a step as one" : "the launches of a step as one graph") +
             once_waits_are_gone(waits_inside, plan.step.steps);
    case Cure::work: return "without this GPU work";
    case Cure::at_stake:
      if (finding.gain->left <= 0) return "without this GPU work" + then;
      return fmt::format("this GPU work in {} of its time", format_percent(finding.gain->left)) + then;
    case Cure::half: return "this GPU work in half of its time" + then;
    case Cure::roofline: return "these kernels at 80 % of their roofline";
    case Cure::overlap: return "these copies concurrent with other work";
  }
  return "";
}

std::string_view of_what(const Plan& plan) { return plan.step.steps > 0 ? " a step" : ""; }
std::string each(const Plan& plan, Ns time) { return format_duration(plan.each(time)); }
std::string length(const Plan& plan, Ns of_run) { return format_duration(plan.length(of_run)); }
std::string percent(const Plan& plan, Ns time) { return fmt::format("{:.0f} %", 100 * plan.share(time)); }
std::string_view how(bool exact) { return exact ? "about" : "up to"; }

// "saves up to 3.20 ms of 14.0 ms a step (23 %): without these waits"
std::string saves_words(const Plan& plan, Ns time, bool exact, std::size_t waits_inside, const RankedFinding& finding) {
  return fmt::format("saves {} {} of {}{} ({}): {}", how(exact), each(plan, time), length(plan, plan.run), of_what(plan),
                     percent(plan, time), change_words(plan, waits_inside, finding));
}

// "down to 8.10 ms a step, 42 % less than now: without these waits". The lengths follow each other. What one saves after
// another does not: each saves most at another end of the range of the plain step.
std::string left_words(const Plan& plan, const Plan::Item& item, const RankedFinding& finding) {
  return fmt::format("{} {}{}, {} less than now: {}", item.exact ? "about" : "down to", length(plan, item.least), of_what(plan),
                     percent(plan, plan.run - item.least), change_words(plan, item.waits_inside, finding));
}

}  // namespace

bool is_recommended(const Plan& plan, const RankedFinding& finding) {
  return finding.gain && plan.share(finding.gain->most) >= kLeastGain;
}

std::string gain_words(const Diagnosis& diagnosis, const RankedFinding& finding) {
  const Plan& plan = diagnosis.plan;
  if (!finding.gain || plan.run <= 0) return {};
  const Gain& gain = *finding.gain;
  if (is_recommended(plan, finding)) return saves_words(plan, gain.most, gain.exact, plan.waits_inside, finding);
  const std::string_view holds = bottleneck(diagnosis.bound);
  std::string out = gain.of_gpu_work && !holds.empty() ? fmt::format("no gain while {}", holds)
                                                       : std::string("saves less than 1 % of the run");
  if (plan.share(gain.later) >= kLeastGain && !plan.items.empty())
    out += fmt::format(", after the plan {} {}{}", how(gain.exact), each(plan, gain.later), of_what(plan));
  return out;
}

std::string planned_words(const Diagnosis& diagnosis, const Plan::Item& item) {
  const Plan& plan = diagnosis.plan;
  const RankedFinding& finding = diagnosis.findings[static_cast<std::size_t>(item.finding)];
  if (&item == plan.items.data()) return saves_words(plan, item.most, item.exact, item.waits_inside, finding);
  return "then " + left_words(plan, item, finding);
}

std::vector<PlanLine> plan_lines(const Diagnosis& diagnosis) {
  const Plan& plan = diagnosis.plan;
  if (plan.run <= 0) return {};
  const auto busy = [](double share) { return fmt::format(", GPU busy {}", format_percent(share)); };
  // Steps are stated by the mean, what lies between them shared out: longer than the mean of the steps themselves.
  const Ns stepped = plan.step.stepped + plan.step.outside;
  const std::string whole = format_duration(stepped);
  const bool has_gaps = format_duration(stepped - plan.step.between) != whole;
  const std::string steps = plan.step.steps > 1 ? fmt::format(" a step ({} in {} steps{})", whole,
                                                              format_count(static_cast<std::int64_t>(plan.step.steps)),
                                                              has_gaps ? " and the time between them" : "")
                                                : std::string(" a step");
  std::vector<PlanLine> out = {
      {"now", fmt::format("{}{}{}", length(plan, plan.run),
                          plan.step.steps > 0 ? steps : " from the first call to the last work", busy(plan.busy_before))}};
  if (plan.items.empty()) {
    const auto other = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(), [](const RankedFinding& finding) {
      return !finding.gain && finding.finding.severity == Severity::costly;
    });
    out.push_back({"then", std::string("no remedy that can be replayed saves 2 % or more")});
    if (other != diagnosis.findings.end())
      out.back().value += fmt::format(", and \"{}\" has no such remedy", title_of(diagnosis, *other->finding.rule));
    return out;
  }
  for (const Plan::Item& item : plan.items) {
    const RankedFinding& finding = diagnosis.findings[static_cast<std::size_t>(item.finding)];
    out.push_back({title_of(diagnosis, *finding.finding.rule), left_words(plan, item, finding)});
  }
  std::string next(bound_name(plan.next));
  next[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(next[0])));
  out.push_back({"then", next + busy(plan.busy_after)});
  return out;
}

}  // namespace gapscope
