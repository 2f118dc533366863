#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Well-warmed recordings show up to twice the time at this scale: recording itself is being switched on.
constexpr double kLeastFirstStepRatio = 2;
constexpr Ns kLeastExtra = 100 * kNsPerUs;
// From here on an average over all steps is spoiled visibly.
constexpr Ns kCostlyExtra = kNsPerMs;

// Of the extra time: what an operator or a call that is named took more than usual.
constexpr double kLeastOfExtra = 0.2;
// Of the most that one took more: what is inside it and took nearly all of that is named instead.
constexpr double kNearlyThat = 0.8;

struct FirstCall {
  SliceId slice;
  Ns more = 0, usual = 0;  // than calls of its name in later steps at the median; 0: there is none
};

// The operator or call of the first step that took more by most, the innermost of those that are nearly the same.
FirstCall longest_first_call(const Facts& facts, Span step, Ns extra) {
  std::vector<FirstCall> found;
  for (const SliceId s : facts.slices_with(kIsOp | kIsCall)) {
    const bool is_long = static_cast<double>(facts.trace.duration(s)) >= kLeastOfExtra * static_cast<double>(extra);
    if (!is_long || !step.contains(facts.trace.begin(s)) || (facts.own(s) & (kIsStep | kIsSync)) != 0) continue;
    std::vector<Ns> later;
    for (const SliceId other : facts.names.slices_named(facts.trace.name_id(s)))
      if (facts.trace.begin(other) >= step.end) later.push_back(facts.trace.duration(other));
    const Ns usual = later.empty() ? 0 : median_of(std::move(later)), more = facts.trace.duration(s) - usual;
    if (static_cast<double>(more) >= kLeastOfExtra * static_cast<double>(extra)) found.push_back({s, more, usual});
  }
  FirstCall most;
  for (const FirstCall& call : found)
    if (call.more > most.more) most = call;
  FirstCall out = most;
  for (const FirstCall& call : found)
    if (static_cast<double>(call.more) >= kNearlyThat * static_cast<double>(most.more) && call.more < out.more) out = call;
  return out;
}

// " The longest first call in it is cudaMalloc with 1.20 ms, 4.00 us later on.".
std::string first_call_words(const Facts& facts, const FirstCall& call) {
  if (!call.slice) return {};
  return fmt::format(
      " Its longest first call is {} with {}{}.", shown_name(facts.trace.name(call.slice)),
      format_duration(facts.trace.duration(call.slice)),
      call.usual > 0 ? fmt::format(", and {} (median) in later steps", format_duration(call.usual)) : ". No later step has it");
}

// What the extra time went into, as far as the trace shows.
std::string causes(const Facts& facts, Span step) {
  std::string text;
  const auto add = [&](Ns time, std::string_view what) {
    if (time > 0) text += fmt::format("{}{} {}", text.empty() ? " In it: " : ", ", format_duration(time), what);
  };
  add(length_within(facts.compile_time, step), "of compilation");
  std::vector<Span> profiler;
  for (const SliceId s : facts.overheads) profiler.push_back(intersect(facts.trace.span_of(s), step));
  add(length(span_set(std::move(profiler))), "of the profiler's and driver's own work");
  Ns allocation = 0;
  for (const StringId name : facts.names_matching([](std::string_view n) { return n == "cudaMalloc" || n == "hipMalloc"; }))
    for (const SliceId s : facts.names.slices_named(name))
      add_saturating(allocation, intersect(facts.trace.span_of(s), step).length());
  add(allocation, "of cudaMalloc");
  return text.empty() ? text : text + ".";
}

std::vector<Finding> check_first_step_slow(const Facts& facts) {
  if (facts.steps.size() < 2) return {};
  const SliceId first = facts.steps.front();
  std::vector<Ns> rest;
  for (std::size_t i = 1; i < facts.steps.size(); ++i) rest.push_back(facts.trace.duration(facts.steps[i]));
  const Ns median = median_of(std::move(rest)), took = facts.trace.duration(first), extra = took - median;
  const double ratio = static_cast<double>(took) / static_cast<double>(std::max<Ns>(1, median));
  if (ratio < kLeastFirstStepRatio || extra < kLeastExtra) return {};
  const std::string_view name = facts.trace.name(first);
  Finding finding;
  finding.severity = extra >= kCostlyExtra ? Severity::costly : Severity::informational;
  finding.cost = extra;
  finding.summary = fmt::format("{} took {}, the others {} (median): {} more, {}x as long.", shown_name(name),
                                format_duration(took), format_duration(median), format_duration(extra), format_times(ratio)) +
                    causes(facts, facts.trace.span_of(first)) +
                    first_call_words(facts, longest_first_call(facts, facts.trace.span_of(first), extra));
  finding.evidence = Evidence({{"first", name},
                               {"first_us", as_us(took)},
                               {"median_rest_us", as_us(median)},
                               {"ratio", ratio},
                               {"extra_us", as_us(extra)},
                               {"steps", facts.steps.size()}});
  finding.spans.push_back(span_of_slice(facts.trace, first));
  return {std::move(finding)};
}

}  // namespace

extern const Rule first_step_slow = {
    .id = "first_step_slow",
    .rule_class = RuleClass::start_up,
    .severity = Severity::informational,
    .needs = kNeedsSteps,
    .title = "The first recorded step is much longer",
    .meaning =
        "The first recorded step usually has work that is done once: library handles, choice of algorithms, loading of "
        "kernels, growth of memory pools, the profiler's buffers. The summary names the parts that were recorded.",
    .remedy = "Warm up before recording (schedule(wait=1, warmup=1)){warm_up!}. Leave this step out of averages.",
    .check = check_first_step_slow,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 50},
    .other_remedy = "Warm up before recording (--range or --delay of gapscope record), and leave this step out of averages.",
};

}  // namespace gapscope
