#include <algorithm>

#include <fmt/format.h>

#include "app/cli/said_doubts.h"
#include "app/cli/whatif_report.h"
#include "core/analyze/steps.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/verdict.h"
#include "core/replay/limits.h"
#include "core/replay/plain_program.h"

namespace gapscope {
namespace {

constexpr std::size_t kStepsShown = 20, kSumsShown = 12, kNameChars = 60;

std::string shown(std::string_view name) { return elide_middle(printable(name), kNameChars); }
double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

std::string steps_text(const WhatIfReport& r) {
  std::string out;
  const auto& steps = r.result.steps;
  for (std::size_t i = 0; i < std::min(steps.size(), kStepsShown); ++i)
    out += fmt::format("  {:<24} {}\n", shown(step_name(r.trace, steps[i].slice, i)),
                       before_and_after(steps[i].before.length(), steps[i].after.length()));
  if (steps.size() > kStepsShown) out += fmt::format("  and {}\n", counted(steps.size() - kStepsShown, "more step"));
  return out;
}

std::string change_text(const WhatIfReport& r) {
  const std::string most =
      r.waits_inside ? " at most" + once_waits_are_gone(*r.waits_inside, r.model.step_share().steps) : std::string();
  return fmt::format("the run {}{}\n", before_and_after(r.result.before, r.result.after), most) + steps_text(r) +
         fmt::format("GPU busy for {} before, {} after; then {}\n", format_percent(share(r.busy.before, r.result.before)),
                     format_percent(share(r.busy.after, r.result.after)), bound_name(r.next));
}

std::string full_text(const ReplayModel& model) {
  return fmt::format(
      "{} found the GPU's queue full and took {}, which counts as host time. With --full-queues they return when "
      "the queue has room.\n",
      counted(model.full(), "launch call"), format_duration(model.full_time()));
}

std::string gains_text(const Diagnosis& diagnosis) {
  const auto& planned = diagnosis.plan.items;
  std::vector<const RankedFinding*> known;  // in the order of the plan; part of another one only where the plan speaks of it
  for (const Plan::Item& item : planned) known.push_back(&diagnosis.findings[static_cast<std::size_t>(item.finding)]);
  for (const RankedFinding& f : diagnosis.findings)
    if (f.gain && !f.merged && std::find(known.begin(), known.end(), &f) == known.end()) known.push_back(&f);
  std::stable_sort(known.begin() + static_cast<std::ptrdiff_t>(planned.size()), known.end(),
                   [](const RankedFinding* a, const RankedFinding* b) { return a->gain->time > b->gain->time; });
  std::string out = known.empty() ? kNoRemedyToReplay + std::string("\n") : "what each remedy alone would save\n";
  for (const RankedFinding* f : known)
    out +=
        fmt::format("  {} ({}): {}\n", title_of(diagnosis, *f->finding.rule), f->finding.rule->id, gain_words(diagnosis, *f));
  const std::vector<PlanLine> plan = plan_lines(diagnosis);
  if (plan.empty()) return out;
  out += "\none after the other\n";
  for (const PlanLine& line : plan) out += fmt::format("  {}: {}\n", line.what, line.value);
  return out + fmt::format("\n{}\n", kGainLegend);
}

std::string path_text(const WhatIfReport& r) {
  const auto held = held_times(r.path);
  std::string out = fmt::format("\nbottlenecks, {} in total\n", format_duration(r.result.after));
  for (std::size_t i = 0; i < kHeldBy; ++i)
    if (held[i] > 0)
      out += fmt::format("  {:<22} {:>9} {:>7}\n", held_by_words(static_cast<HeldBy>(i)), format_duration(held[i]),
                         format_percent(share(held[i], r.result.after)));
  out += "by name\n";
  const ProgramKind program = program_kind(r.trace);
  for (std::size_t i = 0; i < std::min(r.sums.size(), kSumsShown); ++i) {
    const PathSum& s = r.sums[i];
    const std::string_view what = s.cause ? idle_cause_title(*s.cause, program) : held_by_words(s.by);
    out += fmt::format("  {:>9} {:>7}  {}{}\n", format_duration(s.time), format_percent(share(s.time, r.result.after)), what,
                       s.name.valid() ? ": " + shown(r.trace.strings[s.name]) : std::string());
  }
  return out;
}

}  // namespace

std::string before_and_after(Ns before, Ns after) {
  const std::string both = fmt::format("{:>9} -> {:>9}", format_duration(before), format_duration(after));
  if (before == after || before <= 0) return both;
  return fmt::format("{}, {} {}", both, format_percent(share(std::max(before, after) - std::min(before, after), before)),
                     after < before ? "less" : "more");
}

std::string whatif_text(const WhatIfReport& r) {
  if (r.model.empty()) return doubts_line(r.doubts) + std::string(kNothingToReplay) + '\n';
  const std::string plain = r.plain ? plain_sentence(*r.plain) + "\n\n" : std::string();
  std::string out = doubts_line(r.doubts) + plain + (r.diagnosis != nullptr ? gains_text(*r.diagnosis) : change_text(r));
  if (r.with_path) out += path_text(r);
  if (r.diagnosis == nullptr && !r.full_queues && r.model.full() > 0) out += full_text(r.model);
  return out + '\n' +
         replay_limits(r.plain ? 0 : r.profiler.share_of(r.result.before), r.model.clocks_at_once(), r.plain != nullptr) + '\n';
}

}  // namespace gapscope
