#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/rounds.h"
#include "core/diagnose/rule.h"

namespace gapscope {

namespace {

constexpr Ns kMostMedian = 20 * kNsPerUs;  // of a kernel: larger ones fill the GPU by themselves
constexpr double kMostLoopUse = 0.5;       // of the GPU, meanwhile
constexpr double kLeastLoopShare = 0.10;   // of the window

Ns mean_of(const std::vector<Ns>& lengths) {
  Ns all = 0;
  for (const Ns length : lengths) add_saturating(all, length);
  return all / static_cast<Ns>(std::max<std::size_t>(1, lengths.size()));
}

// How many of these are the inner loop of another one: equally long, and equally far from each other with little between.
std::size_t inner_loops(const std::vector<Loop>& loops) {
  std::size_t most = 0, in_a_row = 1, apart = 0;
  for (std::size_t i = 1; i < loops.size(); ++i) {
    const std::size_t distance = loops[i].begins.front() - loops[i - 1].begins.front(), length = loops[i - 1].length();
    const bool goes_on = loops[i].rounds() == loops[i - 1].rounds() && loops[i].length() == length &&
                         distance - length <= length && (in_a_row == 1 || distance == apart);
    in_a_row = goes_on ? in_a_row + 1 : 1;
    apart = distance;
    most = std::max(most, in_a_row);
  }
  return most >= kLeastRounds ? most : 0;
}

std::vector<Finding> check_same_work_in_a_loop(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<FindingSpan> places;
  std::vector<Span> spans, on_cpu;  // what computes there is no launching
  std::set<std::size_t> counts;     // of the loops that are taken
  Ns time = 0;
  std::size_t rounds = 0, launching = 0, loops = 0, inner = 0;       // inner: of the loops, in a row
  std::array<Ns, static_cast<std::size_t>(Round::count)> time_of{};  // of the host, by Round
  const auto take = [&](const Operators& ops, const Loop& loop) {
    const Span rest{facts.trace.begin(ops[loop.begins[1]]), facts.trace.end(ops[loop.end - 1])};
    places.push_back({facts.trace.lane_id(ops[loop.begins[0]]), rest, SliceId{}});
    spans.push_back(rest);
    add_saturating(time, rest.length());
    for (std::size_t i = loop.begins[1]; i < loop.end; ++i)
      if ((facts.below(ops[i]) & kIsCall) == 0 && facts.trace.duration(ops[i]) >= kLeastComputing)
        on_cpu.push_back(facts.trace.span_of(ops[i]));
  };
  Launched launched(facts);
  bool is_uneven = false;  // some of the loops that are taken
  std::vector<std::pair<const Operators*, Loop>> backward;
  const auto take_those_of = [&](const Operators& ops, const std::vector<Loop>& found) {
    bool any = false;
    for (const Loop& loop : found) {
      if (launching_of_round(facts, ops, loop) < kLeastLaunching) continue;
      if (facts.trace.name(ops[loop.begins[0]]).starts_with("autograd::")) {
        backward.emplace_back(&ops, loop);
        any = true;
        continue;
      }
      const Round round = round_of(facts, ops, loop, launched);
      if (!are_rounds(facts, ops, loop, round)) continue;
      const Ns before = time;
      take(ops, loop);
      add_saturating(time_of[static_cast<std::size_t>(round)], time - before);
      rounds = std::max(rounds, loop.rounds());
      launching = std::max(launching, launching_of_round(facts, ops, loop));
      counts.insert(loop.rounds());
      ++loops, any = true;
    }
    return any;
  };
  const std::vector<Operators> all = operators_by_thread_and_step(facts);
  for (const Operators& ops : all) {
    const Loops found = loops_of(facts, ops);
    const bool takes_uneven = take_those_of(ops, found.uneven);
    if (!takes_uneven && take_those_of(ops, found.even)) inner = std::max(inner, inner_loops(found.even));
    is_uneven |= takes_uneven;
  }
  // Autograd's thread runs them in the other direction, without frames.
  for (const auto& [ops, loop] : backward)
    if (const std::size_t found = loop.rounds();
        std::any_of(counts.begin(), counts.end(), [&](std::size_t n) {  // or two rounds there are one here
          return (n <= found + 1 && found <= n + 1) || (2 * n <= found + 2 && found <= 2 * n + 2);
        }))
      take(*ops, loop);
  const SpanSet computing = span_set(std::move(on_cpu));
  time -= std::min(time, length(computing));
  const double share = share_of(time, facts.window_length);
  if (places.empty() || share < kLeastLoopShare) return {};
  const SpanSet inside = span_set(std::move(spans));
  if (share_of(length(intersect(inside, facts.busy)), length(inside)) >= kMostLoopUse) return {};
  std::vector<Ns> kernels;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.is_kernel() && contains(inside, op.launch_span.begin)) kernels.push_back(op.span.length());
  if (kernels.empty() || median_of(kernels) > kMostMedian) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "{} {} repeat up to {} times in a row, in {}. All iterations but the first take {} on the host, {} of the window, for "
      "kernels of {} (median).",
      is_uneven ? "Nearly the same" : "The same", counted(launching, "launching operator"), shown_count(rounds),
      counted(loops, "loop"), format_duration(time), format_share(share), format_duration(median_of(kernels)));
  finding.evidence = Evidence({{"n", loops},
                               {"rounds", rounds},
                               {"operators", launching},
                               {"total_us", as_us(time)},
                               {"share", share},
                               {"median_us", as_us(median_of(kernels))}});
  const auto most = static_cast<Round>(std::max_element(time_of.begin(), time_of.end()) - time_of.begin());
  const RoundKind& kind = kind_of(most);
  if (!kind.remedy.empty()) {
    finding.advice = advice_of(kind.remedy);
    finding.code = most == Round::step ? fmt::format("batch_size = {} * batch_size", rounds) : kind.code;
  }
  if (most == Round::any && inner > 0) {
    finding.summary += fmt::format(" {} of these loops in a row are the inner loop of another one.", shown_count(inner));
    finding.advice = advice_of(
        "Replace the inner loop by a new dimension if its iterations are independent: one operator on x.unsqueeze(1) and "
        "stacked tensors does all of them (broadcasting). Do the same with the outer loop if its iterations are independent. "
        "Otherwise compile its body with torch.compile.");
    finding.code = "out = function(x.unsqueeze(1), torch.stack(inputs))  # the inner loop as a dimension";
  }
  if (kind.may_need_previous) finding.gives = Gives{Cure::gone, false};
  if (most == Round::step)  // large batches leave the work of the samples to be done
    finding.gives = Gives{mean_of(kernels) > kMostMedian ? Cure::host : Cure::gone, false};
  if (!computing.empty()) finding.spared = subtract(inside, computing);
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule same_work_in_a_loop = {
    .id = "same_work_in_a_loop",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "A loop repeats the same small work",
    .meaning =
        "A Python loop over rows, samples, members or time steps launches the same small kernels in each iteration. Almost all "
        "of its time is host time.",
    .remedy =
        "If the iterations are independent, compute all of them in one call. Stack their tensors and use the batched "
        "operator (torch.bmm, torch.linalg.solve, torch.vmap), or join small graphs into one with offsets. If an iteration "
        "needs the one before it, compile the loop's body with torch.compile, or use a recurrent layer (torch.nn.LSTM, GRU).",
    .check = check_same_work_in_a_loop,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 69, .explains = {"many_small_kernels", "unfused_elementwise_chain"}},
    .evidence_names = {{{"rounds", "iterations of the longest loop"}, {"operators", "launching operators per iteration"}}},
    .code = "out = torch.vmap(function)(torch.stack(inputs))",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
