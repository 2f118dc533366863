#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastRounds = 8;
// Layers of a model repeat their operators, too. Frames tell layers from rounds; without frames only many rounds do.
constexpr std::size_t kMostLayers = 64;
constexpr std::size_t kLongestRound = 256;       // operators
constexpr std::size_t kManyOperators = 200'000;  // of a step, whose rounds are looked for up to a quarter of that
constexpr std::size_t kLeastLaunching = 3;       // operators of a round; fewer are an update of each parameter
constexpr Ns kMostMedian = 20 * kNsPerUs;        // of a kernel: larger ones fill the GPU by themselves
constexpr double kMostLoopUse = 0.5;             // of the GPU
constexpr double kLeastLoopShare = 0.10;         // of the window

// The outermost operators of one thread in one step, in time order.
using Operators = std::vector<SliceId>;

std::vector<Operators> operators_by_thread_and_step(const Facts& facts) {
  std::vector<SliceId> all = facts.slices_with(kIsOp);
  std::erase_if(all, [&](SliceId s) {
    if ((facts.own(s) & kIsStep) != 0 || (facts.above(s) & (kIsOp & ~kIsStep)) != 0) return true;
    if ((facts.above(s) & (kIsCompileFrame | kIsDataLoader)) != 0) return true;
    const SliceId range = facts.ancestor(s, kIsAnnotation);
    return range && facts.trace.name(range).starts_with("Optimizer.");
  });
  std::sort(all.begin(), all.end(), [&](SliceId a, SliceId b) {
    return std::pair(facts.trace.lane_id(a), facts.trace.begin(a)) < std::pair(facts.trace.lane_id(b), facts.trace.begin(b));
  });
  std::vector<Operators> out;
  LaneId lane;
  std::optional<std::size_t> step;
  for (const SliceId s : all) {
    const auto in = facts.step_at(facts.trace.begin(s));
    if (!facts.steps.empty() && !in) continue;
    if (out.empty() || facts.trace.lane_id(s) != lane || in != step) out.emplace_back();
    lane = facts.trace.lane_id(s), step = in;
    out.back().push_back(s);
  }
  return out;
}

// A stretch of operators that is the same ones over and over.
struct Loop {
  std::size_t first = 0, length = 0, period = 0;  // operators
  std::size_t rounds() const { return length / period; }
};

// All loops of the period that explains most of the operators; of nearly equal ones the shortest.
std::vector<Loop> loops_of(const Facts& facts, const Operators& ops) {
  const std::size_t longest =
      std::min(ops.size() > kManyOperators ? kLongestRound / 4 : kLongestRound, ops.size() / kLeastRounds);
  std::vector<StringId> names;
  for (const SliceId s : ops) names.push_back(facts.trace.name_id(s));
  std::vector<Loop> best;
  std::size_t most = 0;
  for (std::size_t period = 1; period <= longest; ++period) {
    std::vector<Loop> loops;
    std::size_t covered = 0, run = 0;
    for (std::size_t i = 0; i + period <= names.size(); ++i) {
      if (i + period < names.size() && names[i] == names[i + period]) {
        ++run;
        continue;
      }
      if (run + period >= kLeastRounds * period) {
        loops.push_back({i - run, run + period, period});
        covered += run + period;
      }
      run = 0;
    }
    if (covered > most + most / 20) most = covered, best = std::move(loops);
  }
  return best;
}

std::size_t launching_of_round(const Facts& facts, const Operators& ops, const Loop& loop) {
  std::size_t out = 0;
  for (std::size_t i = loop.first; i < loop.first + loop.period; ++i) out += (facts.below(ops[i]) & kIsLaunch) != 0 ? 1 : 0;
  return out;
}

std::string_view module_around(const Facts& facts, SliceId s) {
  for (SliceId at = facts.ancestor(s, kIsPython); at; at = facts.ancestor(at, kIsPython))
    if (facts.trace.name(at).starts_with("nn.Module: ")) return facts.trace.name(at);
  return {};
}

// Rounds through other modules are layers of a model. Rounds of inference through the same ones, and those that wait for a
// value, usually need the round before them: tokens, denoising steps.
bool are_rounds_by_frames(const Facts& facts, const Operators& ops, const Loop& loop) {
  bool has_module = false, waits = false;
  for (std::size_t i = loop.first; i < loop.first + loop.period; ++i) {
    const std::string_view module = module_around(facts, ops[i]);
    if (module != module_around(facts, ops[i + loop.period])) return false;
    has_module |= !module.empty();
    const std::string_view name = facts.trace.name(ops[i]);
    waits |= (facts.below(ops[i]) & kIsSync) != 0 && name != "aten::to" && name != "aten::copy_";
  }
  return !has_module || (facts.practices().trains && !waits);
}

// More rounds than a model has layers, of operators that no layer has.
bool are_rounds_by_names(const Facts& facts, const Operators& ops, const Loop& loop) {
  constexpr std::array<std::string_view, 6> kOfLayers = {"linear", "conv", "embedding", "norm", "attention", "addmm"};
  if (loop.rounds() < kMostLayers) return false;
  return std::none_of(ops.begin() + static_cast<std::ptrdiff_t>(loop.first),
                      ops.begin() + static_cast<std::ptrdiff_t>(loop.first + loop.period), [&](SliceId s) {
                        const std::string_view name = facts.trace.name(s);
                        return std::any_of(kOfLayers.begin(), kOfLayers.end(),
                                           [&](std::string_view part) { return name.find(part) != name.npos; });
                      });
}

std::vector<Finding> check_same_work_in_a_loop(const Facts& facts) {
  if (facts.compiling() || !facts.gpu_util || *facts.gpu_util >= kMostLoopUse) return {};
  const bool has_frames = facts.practices().follows(Practice::python_frames);
  std::vector<FindingSpan> places;
  std::vector<Span> spans;
  std::set<std::size_t> counts;  // of the loops that are taken
  Ns time = 0;
  std::size_t rounds = 0, launching = 0, loops = 0;
  const auto take = [&](const Operators& ops, const Loop& loop) {
    const Span rest{facts.trace.begin(ops[loop.first + loop.period]), facts.trace.end(ops[loop.first + loop.length - 1])};
    places.push_back({facts.trace.lane_id(ops[loop.first]), rest, SliceId{}});
    spans.push_back(rest);
    add_saturating(time, rest.length());
  };
  std::vector<std::pair<const Operators*, Loop>> backward;
  const std::vector<Operators> all = operators_by_thread_and_step(facts);
  for (const Operators& ops : all)
    for (const Loop& loop : loops_of(facts, ops)) {
      if (launching_of_round(facts, ops, loop) < kLeastLaunching) continue;
      if (facts.trace.name(ops[loop.first]).starts_with("autograd::")) {
        backward.emplace_back(&ops, loop);
        continue;
      }
      if (!(has_frames ? are_rounds_by_frames(facts, ops, loop) : are_rounds_by_names(facts, ops, loop))) continue;
      take(ops, loop);
      rounds = std::max(rounds, loop.rounds());
      launching = std::max(launching, launching_of_round(facts, ops, loop));
      counts.insert(loop.rounds());
      ++loops;
    }
  // Autograd's thread runs them in the other direction, without frames.
  for (const auto& [ops, loop] : backward)
    if (const std::size_t found = loop.rounds();
        std::any_of(counts.begin(), counts.end(), [&](std::size_t n) { return n <= found + 1 && found <= n + 1; }))
      take(*ops, loop);
  const double share = share_of(time, facts.window.length());
  if (places.empty() || share < kLeastLoopShare) return {};
  const SpanSet inside = span_set(std::move(spans));
  std::vector<Ns> kernels;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.is_kernel() && contains(inside, op.launch_span.begin)) kernels.push_back(op.span.length());
  if (kernels.empty() || median_of(kernels) > kMostMedian) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "The same {} follow each other up to {} times in a row, in {}. All rounds but the first take {} of the host, {} of the "
      "window, for kernels of {} (median).",
      counted(launching, "launching operator"), shown_count(rounds), counted(loops, "loop"), format_duration(time),
      format_share(share), format_duration(median_of(kernels)));
  finding.evidence = Evidence({{"n", loops},
                               {"rounds", rounds},
                               {"operators", launching},
                               {"total_us", as_us(time)},
                               {"share", share},
                               {"median_us", as_us(median_of(kernels))}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule same_work_in_a_loop = {
    .id = "same_work_in_a_loop",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "A loop does the same small work again and again",
    .meaning =
        "A loop in Python over rows, samples, members or time launches the same small kernels in each round. The host's time "
        "for each of them counts, the GPU's hardly.",
    .remedy =
        "Do all rounds in one call: stack their tensors and use the batched operator (torch.bmm, torch.linalg.solve, "
        "torch.vmap), or join small graphs into one with offsets. Where a round needs the one before it, use a recurrent layer "
        "(torch.nn.LSTM, GRU) or a scan, or loop on the CPU over copies of small tensors.",
    .check = check_same_work_in_a_loop,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 69, .explains = {"many_small_kernels", "unfused_elementwise_chain"}},
    .evidence_names = {{{"rounds", "rounds of the longest loop"}, {"operators", "launching operators of a round"}}},
    .code = "out = torch.vmap(function)(torch.stack(inputs))",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
