#include "core/view/overview/answer_card.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/diagnose.h"
#include "core/replay/plain_program.h"
#include "core/session/overview.h"
#include "core/session/trace_session.h"
#include "core/trace/crop_mark.h"
#include "core/trace/producer.h"
#include "core/trace/program_kind.h"
#include "core/view/overview/overview_page.h"

namespace gapscope {
namespace {

std::optional<double> busy_share(const DeviceAccount* device) {
  if (device == nullptr || device->times.window <= 0) return std::nullopt;
  const auto window = static_cast<double>(device->times.window);
  return std::clamp(1 - static_cast<double>(device->times.idle_total()) / window, 0.0, 1.0);
}

// Up to the first full stop that a capital letter or the end follows: "num_workers=4. Then ..." ends there, "train.py" does
// not.
std::string first_sentence(std::string_view text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '.' && text[i + 1] == ' ' && text[i + 2] >= 'A' && text[i + 2] <= 'Z')
      return std::string(text.substr(0, i + 1));
  return std::string(text);
}

// The program may be limited by either of two: the plain range's ends differ.
bool is_either(const Headline& headline) {
  const std::string_view name = headline.bound == Bound::compute ? "GPU-bound" : bound_name(headline.bound);
  return headline.plain && headline.plain_verdict != name;
}

// `step`: as recorded, in the plan's words where there is a plan.
void say_step(const Headline& headline, const RecordedRun& recorded, Ns step, AnswerCard& card) {
  card.recorded = recorded.step;
  if (headline.plain) {
    const PlainProgram& plain = *headline.plain;
    card.is_plain = true;
    if (plain.steps > 0) card.step = plain.step, card.low = plain.low, card.high = plain.high;
    card.gpu_share = plain.gpu_share;
    card.what = headline.plain_sentence;
    if (card.step > 0 && recorded.step > 0 && format_duration(recorded.step) != format_duration(card.step))
      card.what += fmt::format(" Recorded: {} a step.", format_duration(recorded.step));
    return;
  }
  card.step = card.low = card.high = step;
  card.gpu_share = recorded.busy;
  // A GPU that is busy with copies does not compute.
  const std::string_view with = headline.bound == Bound::transfer        ? ", mostly with copies"
                                : headline.bound == Bound::communication ? ", mostly with communication"
                                                                         : "";
  const std::string busy = recorded.busy ? fmt::format("the GPU is busy {}{}", format_percent(*recorded.busy), with) : "";
  if (step > 0)
    card.what = fmt::format("A step takes {} as recorded{}.", format_duration(step), busy.empty() ? "" : "; " + busy);
  else if (!busy.empty())
    card.what = fmt::format("As recorded {}.", busy);
}

// `is_one`: of one recording, so that the plan's times are those of steps.
void say_gain(const Diagnosis& diagnosis, const FirstFinding& first, bool is_one, AnswerCard& card) {
  const Plan& plan = diagnosis.plan;
  card.of_step = plan.step.steps > 0;
  if (first.planned == nullptr || !is_one) {
    card.of_step = false;
    card.time = first.ranked->finding.cost;
    card.figure = fmt::format("Costs {} in the recording", format_duration(card.time));
    card.then = is_one ? "What the remedy saves is not known: it cannot be replayed."
                       : "What the remedy saves is not known: the file holds several recordings.";
    return;
  }
  // Without steps the plan is of the run, also where the step above is known from iterations.
  const std::string_view of = card.of_step ? " a step" : "", then = card.of_step ? "Then" : "Then the run takes";
  const std::string_view how = first.planned->exact ? "about" : "at most";
  card.time = plan.each(first.planned->most);
  card.after = plan.length(first.planned->least);
  card.figure = fmt::format("The remedy saves {} {}{} ({:.0f} %)", how, format_duration(card.time),
                            card.of_step ? of : " of the run", 100 * plan.share(first.planned->most));
  card.then = first.planned->exact ? fmt::format("{} about {}{}.", then, format_duration(card.after), of)
                                   : fmt::format("{} {}{} at best.", then, format_duration(card.after), of);
}

// Whether the next recording of this program can have Python's frames where this one has none.
bool can_have_frames(const Trace& trace) {
  return by_torch_profiler(trace) && !crop_mark(trace) && !trace.header.flag("with_stack");
}

}  // namespace

RecordedRun recorded_run(const TraceSession& session) {
  RecordedRun out;
  if (session.steps().annotated && !session.steps().steps.empty()) out.step = step_figures(session.steps()).mean;
  out.busy = busy_share(session.account().busiest());
  return out;
}

RecordedRun recorded_run(const RunOverview& overview) {
  RecordedRun out;
  if (overview.steps) out.step = overview.steps->mean;
  const DeviceAccount* busiest = nullptr;
  for (const OverviewDevice& d : overview.devices)
    if (d.account && (!busiest || d.account->times.idle_total() < busiest->times.idle_total())) busiest = d.account;
  out.busy = busy_share(busiest);
  return out;
}

AnswerCard answer_card(const Trace& trace, const Headline& headline, const Diagnosis* diagnosis, const RecordedRun& recorded) {
  AnswerCard card;
  // Figures of a recording that cannot be judged, or of a start, are no answer.
  const bool is_judged = headline.bound != Bound::not_judged && headline.bound != Bound::start_up;
  if (!is_judged || is_either(headline)) card.doubt = headline.verdict;
  // The plan's words, which count what is between steps; of several recordings that is what was not recorded.
  const bool is_one = find_doubt(headline.doubts, DoubtKind::several_recordings) == nullptr;
  const bool is_planned = diagnosis != nullptr && is_one && !diagnosis->plan.items.empty() && diagnosis->plan.step.steps > 0;
  if (is_judged && headline.bound != Bound::no_gpu_work)
    say_step(headline, recorded, is_planned ? diagnosis->plan.length(diagnosis->plan.run) : recorded.step, card);
  if (const std::string& stated = trace.stated.steps; !stated.empty() && !card.what.empty() && recorded.step > 0)
    card.what += fmt::format(" Steps are \"{}\", as chosen.", stated);
  if (diagnosis == nullptr) return card;
  const std::vector<FirstFinding> first = first_findings(*diagnosis);
  if (first.empty()) {
    card.remedy = instead_of_findings(trace, *diagnosis);
    return card;
  }
  const RankedFinding& ranked = *first.front().ranked;
  const Finding& finding = ranked.finding;
  card.finding = static_cast<std::int32_t>(&ranked - diagnosis->findings.data());
  card.where = finding.where;
  const std::string where = finding.where ? place_words(*finding.where) : std::string();
  card.cause = title_of(*diagnosis, *finding.rule) + (where.empty() ? "" : ": " + where);
  const bool lacks_frames = finding.where && finding.where->source.file.empty();
  if (lacks_frames && can_have_frames(trace)) card.line_hint = "To see the line, record with with_stack=True.";
  card.remedy =
      first_sentence(first.front().planned != nullptr ? std::string_view(first.front().planned->remedy) : remedy_of(finding));
  card.code = finding.code;
  say_gain(*diagnosis, first.front(), is_one, card);
  return card;
}

std::vector<std::string> answer_lines(const AnswerCard& card, bool with_doubt) {
  std::vector<std::string> out;
  const auto add = [&](std::string line) {
    if (!line.empty()) out.push_back(std::move(line));
  };
  add(card.what);
  if (with_doubt) add(card.doubt);
  if (!card.cause.empty()) add(fmt::format("{}. {}.", card.cause, card.figure));
  add(card.code.empty() ? card.remedy : "In code: " + card.code);
  add(card.then);
  add(card.line_hint);
  return out;
}

}  // namespace gapscope
