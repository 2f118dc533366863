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
#include "core/diagnose/rule.h"

namespace gapscope {

extern const Rule averages_in_a_loop;  // whose words are those of all updates

namespace {

// Layers of a model repeat their operators, too. Frames distinguish layers from rounds; without frames only many rounds do.
constexpr std::size_t kMostLayers = 64;
constexpr std::size_t kLeastCells = 16;    // of a sequence: layers that have gates are fewer
constexpr Ns kMostMedian = 20 * kNsPerUs;  // of a kernel: larger ones fill the GPU by themselves
constexpr double kMostLoopUse = 0.5;       // of the GPU, meanwhile
constexpr double kLeastLoopShare = 0.10;   // of the window

std::size_t launching_of_round(const Facts& facts, const Operators& ops, const Loop& loop) {
  std::size_t out = 0;
  for (std::size_t i = loop.begins[0]; i < loop.begins[1]; ++i) out += (facts.below(ops[i]) & kIsLaunch) != 0 ? 1 : 0;
  return out;
}

// GPU work by when it was launched; sorted by the first who asks.
class Launched {
 public:
  explicit Launched(const Facts& facts) : facts_(facts) {}
  // What a loop launched, in that order.
  std::vector<const GpuOp*> by(const Operators& ops, const Loop& loop) {
    const auto sooner = [](const GpuOp* a, const GpuOp* b) { return a->launch_span.begin < b->launch_span.begin; };
    if (ordered_.empty()) {
      for (const GpuOp& op : facts_.ops)
        if (op.linked()) ordered_.push_back(&op);
      std::sort(ordered_.begin(), ordered_.end(), sooner);
    }
    const auto first_after = [&](Ns time) {
      return std::partition_point(ordered_.begin(), ordered_.end(),
                                  [&](const GpuOp* op) { return op->launch_span.begin < time; });
    };
    return {first_after(facts_.trace.begin(ops[loop.begins.front()])), first_after(facts_.trace.end(ops[loop.end - 1]))};
  }

 private:
  const Facts& facts_;
  std::vector<const GpuOp*> ordered_;
};

// Whether the kernels of a round have other grids than those of the round before: its tensors are others.
bool changes_tensors(const Facts& facts, const Operators& ops, const Loop& loop, Launched& launched) {
  std::vector<std::vector<std::uint64_t>> grids(loop.rounds());
  std::size_t round = 0;
  for (const GpuOp* op : launched.by(ops, loop)) {
    while (round + 1 < loop.rounds() && facts.trace.begin(ops[loop.begins[round + 1]]) <= op->launch_span.begin) ++round;
    if (op->is_kernel()) grids[round].push_back(grid_blocks(facts.row(*op)));
  }
  std::size_t changes = 0;
  for (std::size_t r = 1; r < grids.size(); ++r) changes += grids[r] != grids[r - 1] ? 1 : 0;
  return changes >= grids.size() / 4;
}

std::string_view module_around(const Facts& facts, SliceId s) {
  for (SliceId at = facts.ancestor(s, kIsPython); at; at = facts.ancestor(at, kIsPython))
    if (facts.trace.name(at).starts_with("nn.Module: ")) return facts.trace.name(at);
  return {};
}

// Whether the second round of a loop goes through other modules than the first.
bool goes_through_other_modules(const Facts& facts, const Operators& ops, const Loop& loop) {
  const std::size_t end = loop.rounds() > 2 ? loop.begins[2] : loop.end;
  for (std::size_t a = loop.begins[0], b = loop.begins[1]; a < loop.begins[1] && b < end; ++a, ++b)
    if (module_around(facts, ops[a]) != module_around(facts, ops[b])) return true;
  return false;
}

// Whether copies are little of the GPU's work in a loop: weights that are moved to the GPU and back are no input and no answer.
bool mostly_computes(const Operators& ops, const Loop& loop, Launched& launched) {
  Ns copies = 0, kernels = 0;
  for (const GpuOp* op : launched.by(ops, loop)) add_saturating(op->is_kernel() ? kernels : copies, op->span.length());
  return copies < kernels;
}

// What a round is, where its operators show it: something better is to be done about it than about any loop.
enum class Round : std::uint8_t { any, expert, mask, cell, update, read, model, step, sample, greedy, value };
constexpr std::size_t kRounds = 11;

Ns mean_of(const std::vector<Ns>& lengths) {
  Ns all = 0;
  for (const Ns length : lengths) add_saturating(all, length);
  return all / static_cast<Ns>(std::max<std::size_t>(1, lengths.size()));
}

// Whether most rounds hold a step of an optimizer: they are steps of training, each on what the one before has learned. Models
// that are trained in turn are so, too: only frames separate them.
bool rounds_train(const Facts& facts, const Operators& ops, const Loop& loop) {
  const Span whole{facts.trace.begin(ops[loop.begins.front()]), facts.trace.end(ops[loop.end - 1])};
  std::size_t steps = 0;
  for (const StringId name : facts.names_matching([](std::string_view n) { return n.starts_with("Optimizer.step#"); }))
    for (const SliceId s : facts.names.slices_named(name))
      steps += facts.trace.kind(s) == Kind::annotation && whole.contains(facts.trace.begin(s)) ? 1 : 0;
  return 2 * steps >= loop.rounds();
}

Round round_of(const Facts& facts, const Operators& ops, const Loop& loop, Launched& launched) {
  if (facts.practices().follows(Practice::python_frames) && rounds_train(facts, ops, loop) &&
      !goes_through_other_modules(facts, ops, loop))
    return Round::step;
  constexpr std::array<std::string_view, 9> kOfUpdates = {"aten::mul", "aten::add",  "aten::sub", "aten::div", "aten::lerp",
                                                          "aten::pow", "aten::sqrt", "aten::neg", "aten::rsub"};
  bool product = false, places = false, puts_back = false, sigmoid = false, tanh = false, norm = false, read = false,
       in_place = false, updates = true, copies_in = false, copies_out = false, samples = false, cell = false;
  for (std::size_t i = loop.begins[0]; i < loop.begins[1]; ++i) {
    const std::string_view name = facts.trace.name(ops[i]);
    const bool waits = (facts.below(ops[i]) & kIsSync) != 0;
    product |= name == "aten::linear" || name == "aten::addmm" || name == "aten::mm" || name == "aten::matmul";
    places |= waits && (name.starts_with("aten::nonzero") || name.starts_with("aten::index") || name == "aten::where" ||
                        name == "aten::masked_select");
    puts_back |= name.starts_with("aten::index_add") || name.starts_with("aten::index_put") ||
                 name.starts_with("aten::index_copy") || name.starts_with("aten::scatter");
    sigmoid |= name == "aten::sigmoid" || name == "aten::sigmoid_";
    tanh |= name == "aten::tanh" || name == "aten::tanh_";
    norm |= name == "aten::norm" || name == "aten::linalg_vector_norm";
    read |= name == "aten::item" || name == "aten::_local_scalar_dense";
    samples |= name == "aten::multinomial";
    cell |= name == "aten::lstm_cell" || name == "aten::gru_cell" || name.starts_with("aten::rnn_");
    if (name == "aten::to" || name == "aten::copy_") (product ? copies_out : copies_in) |= waits;
    if ((facts.below(ops[i]) & kIsLaunch) == 0) continue;
    in_place |= name.ends_with("_");
    updates &= name.ends_with("_") || std::find(kOfUpdates.begin(), kOfUpdates.end(), name) != kOfUpdates.end();
  }
  if (product && places && puts_back) return Round::expert;
  if (samples && !product) return Round::sample;
  if (places && read && !product) return Round::greedy;
  if (places && !product) return Round::mask;
  if (cell || (product && sigmoid && tanh)) return Round::cell;
  if (product && copies_in && copies_out && mostly_computes(ops, loop, launched) &&
      goes_through_other_modules(facts, ops, loop))
    return Round::model;
  if (norm && read) return Round::read;
  if (read && !product) return Round::value;
  return updates && in_place && changes_tensors(facts, ops, loop, launched) ? Round::update : Round::any;
}

// What to do instead, and the line that it makes of the loop.
struct BetterWay {
  std::string_view remedy, code;
};
BetterWay better_way(Round round) {
  switch (round) {
    case Round::any: break;
    case Round::expert:
      return {
          "Compute all experts in one call. Sort the tokens by expert once, pad each expert's tokens to the same count, and "
          "multiply with stacked weights (torch.bmm, or a grouped product). No expert then waits for its token count.",
          "out = torch.bmm(tokens_by_expert, torch.stack([e.weight for e in experts]))"};
    case Round::mask:
      return {
          "Use fixed sizes and compute all iterations at once. Look up their differences by an index (table[kind]). Choose "
          "with torch.where() instead of x[mask], which waits for the GPU in each iteration.",
          "out = torch.where(mask, value, 0.0).sum()"};
    case Round::cell:
      return {
          "Use torch.nn.LSTM or torch.nn.GRU instead of a loop over cells: cuDNN computes the whole sequence in one call, "
          "forward "
          "and backward.",
          "out, state = torch.nn.LSTM(inputs, hidden, batch_first=True)(x)"};
    case Round::model:
      return {
          "Stack the weights of the models and run all of them in one call: torch.func.stack_module_state and torch.vmap, or "
          "torch.bmm, with one copy to the GPU and one back.",
          "out = torch.vmap(call)(parameters, buffers, inputs)"};
    case Round::update: return {averages_in_a_loop.remedy, averages_in_a_loop.code};
    case Round::step:
      return {
          "Each round is a whole step of training on few samples: take more samples at once, so that there are fewer rounds, "
          "with a learning rate to match. If the batch must stay, torch.compile(mode=\"reduce-overhead\") launches each round "
          "at once.",
          {}};
    case Round::sample:
      return {
          "Sample all rows in one call: softmax, sort, cumsum and torch.multinomial take a batch, with temperatures and limits "
          "as tensors. Read the tokens together: one .tolist().",
          "tokens = torch.multinomial(probabilities, 1)  # of all rows"};
    case Round::greedy:
      return {
          "Compute what the iterations compare in one call before the loop (for boxes, the overlaps of all pairs). Copy it to "
          "the CPU once, and loop there. For boxes, torchvision.ops.nms is one call.",
          "values = values.cpu()  # once, before the loop"};
    case Round::read:
      return {
          "Compute all norms in one call, and read their total once: torch.nn.utils.clip_grad_norm_ or "
          "torch.nn.utils.get_total_norm returns it as a tensor.",
          "norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])"};
    case Round::value:
      return {
          "Compute the values of all iterations in one call, choose with torch.where() instead of an index, and read them "
          "together after the loop: one .tolist(). If an iteration needs the one before it, as in a solver, read the value in "
          "every tenth only.",
          "values = function(x).tolist()  # of all rows, read once"};
  }
  return {};
}

// Rounds through other modules are layers of a model. Rounds of inference through the same ones, and those that wait for a
// value, usually need the round before them: tokens, denoising steps.
bool are_rounds_by_frames(const Facts& facts, const Operators& ops, const Loop& loop, Round round) {
  if (round == Round::expert || round == Round::step || round == Round::greedy) return true;
  if (goes_through_other_modules(facts, ops, loop)) return round == Round::model;
  bool has_module = false, waits = false;
  for (std::size_t i = loop.begins[0]; i < loop.begins[1]; ++i) {
    has_module |= !module_around(facts, ops[i]).empty();
    const std::string_view name = facts.trace.name(ops[i]);
    waits |= (facts.below(ops[i]) & kIsSync) != 0 && name != "aten::to" && name != "aten::copy_";
  }
  return !has_module || (facts.practices().trains && !waits);
}

// More rounds than a model has layers, of operators that no layer has; or what no layer is.
bool are_rounds_by_names(const Facts& facts, const Operators& ops, const Loop& loop, Round round) {
  constexpr std::array<std::string_view, 6> kOfLayers = {"linear", "conv", "embedding", "norm", "attention", "addmm"};
  if (round == Round::expert || round == Round::read || round == Round::step || round == Round::sample ||
      round == Round::greedy)
    return true;
  if (round == Round::cell) return loop.rounds() >= kLeastCells;
  if (round != Round::mask && round != Round::value && loop.rounds() < kMostLayers) return false;
  return std::none_of(ops.begin() + static_cast<std::ptrdiff_t>(loop.begins[0]),
                      ops.begin() + static_cast<std::ptrdiff_t>(loop.begins[1]), [&](SliceId s) {
                        const std::string_view name = facts.trace.name(s);
                        return std::any_of(kOfLayers.begin(), kOfLayers.end(),
                                           [&](std::string_view part) { return name.find(part) != name.npos; });
                      });
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
  const bool has_frames = facts.practices().follows(Practice::python_frames);
  std::vector<FindingSpan> places;
  std::vector<Span> spans, on_cpu;  // what computes there is no launching
  std::set<std::size_t> counts;     // of the loops that are taken
  Ns time = 0;
  std::size_t rounds = 0, launching = 0, loops = 0, inner = 0;  // inner: of the loops, in a row
  std::array<Ns, kRounds> time_of{};                            // of the host, by Round
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
      if (!(has_frames ? are_rounds_by_frames : are_rounds_by_names)(facts, ops, loop, round)) continue;
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
  if (const BetterWay way = better_way(most); !way.remedy.empty()) {
    finding.advice = advice_of(way.remedy);
    finding.code = most == Round::step ? fmt::format("batch_size = {} * batch_size", rounds) : way.code;
  }
  if (most == Round::any && inner > 0) {
    finding.summary += fmt::format(" {} of these loops in a row are the inner loop of another one.", shown_count(inner));
    finding.advice = advice_of(
        "If no iteration of the inner loop needs the one before it, make that loop a new dimension: one operator on "
        "x.unsqueeze(1) and stacked tensors does all of its iterations (broadcasting). If the outer loop's iterations do not "
        "need each other either, do the same for it, else compile its body with torch.compile.");
    finding.code = "out = function(x.unsqueeze(1), torch.stack(inputs))  # the inner loop as a dimension";
  }
  // No record says whether a round needs the one before it. Large batches leave the work of the samples to be done.
  if (most == Round::any || most == Round::greedy || most == Round::sample || most == Round::value)
    finding.gives = Gives{Cure::gone, false};
  if (most == Round::step) finding.gives = Gives{mean_of(kernels) > kMostMedian ? Cure::host : Cure::gone, false};
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
        "If no iteration needs the one before it, compute all of them in one call. Stack their tensors and use the batched "
        "operator (torch.bmm, torch.linalg.solve, torch.vmap), or join small graphs into one with offsets. If an iteration "
        "needs the one before it, compile the loop's body with torch.compile, or use a recurrent layer (torch.nn.LSTM, GRU).",
    .check = check_same_work_in_a_loop,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 69, .explains = {"many_small_kernels", "unfused_elementwise_chain"}},
    .evidence_names = {{{"rounds", "iterations of the longest loop"}, {"operators", "launching operators per iteration"}}},
    .code = "out = torch.vmap(function)(torch.stack(inputs))",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
