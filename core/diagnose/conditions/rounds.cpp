#include "core/diagnose/conditions/rounds.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {

extern const Rule averages_in_a_loop;  // whose words are those of all updates

namespace {

// Layers of a model repeat their operators, too. Frames distinguish layers from rounds; without frames only many rounds do.
constexpr std::size_t kMostLayers = 64;
constexpr std::size_t kLeastCells = 16;  // of a sequence: layers that have gates are fewer

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

}  // namespace

std::size_t launching_of_round(const Facts& facts, const Operators& ops, const Loop& loop) {
  std::size_t out = 0;
  for (std::size_t i = loop.begins[0]; i < loop.begins[1]; ++i) out += (facts.below(ops[i]) & kIsLaunch) != 0 ? 1 : 0;
  return out;
}

std::vector<const GpuOp*> Launched::by(const Operators& ops, const Loop& loop) {
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

const RoundKind& kind_of(Round round) {
  static const auto kinds = [] {
    std::array<RoundKind, static_cast<std::size_t>(Round::count)> out;
    const auto add = [&](Round of, RoundKind kind) { out[static_cast<std::size_t>(of)] = kind; };
    add(Round::any, {.least_without_frames = kMostLayers, .may_need_previous = true});
    add(Round::expert,
        {.remedy =
             "Compute all experts in one call. Sort the tokens by expert once, pad each expert's tokens to the same count, and "
             "multiply with stacked weights (torch.bmm, or a grouped product). No expert then waits for its token count.",
         .code = "out = torch.bmm(tokens_by_expert, torch.stack([e.weight for e in experts]))",
         .is_independent = true,
         .is_no_layer = true});
    add(Round::mask,
        {.remedy = "Use fixed sizes and compute all iterations at once. Look up their differences by an index (table[kind]). "
                   "Choose with torch.where() instead of x[mask], which waits for the GPU in each iteration.",
         .code = "out = torch.where(mask, value, 0.0).sum()"});
    add(Round::cell, {.remedy = "Use torch.nn.LSTM or torch.nn.GRU instead of a loop over cells: cuDNN computes the whole "
                                "sequence in one call, forward and backward.",
                      .code = "out, state = torch.nn.LSTM(inputs, hidden, batch_first=True)(x)",
                      .is_no_layer = true,
                      .least_without_frames = kLeastCells});
    add(Round::update,
        {.remedy = averages_in_a_loop.remedy, .code = averages_in_a_loop.code, .least_without_frames = kMostLayers});
    add(Round::read, {.remedy = "Compute all norms in one call, and read their total once: torch.nn.utils.clip_grad_norm_ or "
                                "torch.nn.utils.get_total_norm returns it as a tensor.",
                      .code = "norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])",
                      .is_no_layer = true});
    add(Round::model,
        {.remedy = "Stack the weights of the models and run all of them in one call: torch.func.stack_module_state and "
                   "torch.vmap, or torch.bmm, with one copy to the GPU and one back.",
         .code = "out = torch.vmap(call)(parameters, buffers, inputs)",
         .least_without_frames = kMostLayers});
    add(Round::step, {.remedy = "Use larger batches, with a learning rate to match: each round is a whole training step on few "
                                "samples. If the batch size must stay, "
                                "torch.compile(mode=\"reduce-overhead\") launches each round at once.",
                      .is_independent = true,
                      .is_no_layer = true});
    add(Round::sample, {.remedy = "Sample all rows in one call: softmax, sort, cumsum and torch.multinomial take a batch, with "
                                  "temperatures and limits as tensors. Read the tokens together: one .tolist().",
                        .code = "tokens = torch.multinomial(probabilities, 1)  # of all rows",
                        .is_no_layer = true,
                        .may_need_previous = true});
    add(Round::greedy,
        {.remedy = "Compute what the iterations compare in one call before the loop (for boxes, the overlaps of all pairs). "
                   "Copy it to the CPU once, and loop there. For boxes, torchvision.ops.nms is one call.",
         .code = "values = values.cpu()  # once, before the loop",
         .is_independent = true,
         .is_no_layer = true,
         .may_need_previous = true});
    add(Round::value, {.remedy = "Compute the values of all iterations in one call, choose with torch.where() instead of an "
                                 "index, and read them together after the loop: one .tolist(). If an iteration needs the one "
                                 "before it, as in a solver, read the value in every tenth only.",
                       .code = "values = function(x).tolist()  # of all rows, read once",
                       .may_need_previous = true});
    return out;
  }();
  return kinds[static_cast<std::size_t>(round)];
}

bool are_rounds(const Facts& facts, const Operators& ops, const Loop& loop, Round round) {
  constexpr std::array<std::string_view, 6> kOfLayers = {"linear", "conv", "embedding", "norm", "attention", "addmm"};
  const RoundKind& kind = kind_of(round);
  const auto first = ops.begin() + static_cast<std::ptrdiff_t>(loop.begins[0]),
             second = ops.begin() + static_cast<std::ptrdiff_t>(loop.begins[1]);
  if (!facts.practices().follows(Practice::python_frames)) {  // by names: operators that no layer has
    if (loop.rounds() < kind.least_without_frames) return false;
    return kind.is_no_layer || std::none_of(first, second, [&](SliceId s) {
             const std::string_view name = facts.trace.name(s);
             return std::any_of(kOfLayers.begin(), kOfLayers.end(),
                                [&](std::string_view part) { return name.find(part) != name.npos; });
           });
  }
  // Rounds through other modules are layers of a model. Rounds of inference through the same ones, and those that wait for a
  // value, usually need the round before them: tokens, denoising steps.
  if (kind.is_independent) return true;
  if (goes_through_other_modules(facts, ops, loop)) return round == Round::model;
  const bool has_module = std::any_of(first, second, [&](SliceId s) { return !module_around(facts, s).empty(); });
  const bool waits = std::any_of(first, second, [&](SliceId s) {
    const std::string_view name = facts.trace.name(s);
    return (facts.below(s) & kIsSync) != 0 && name != "aten::to" && name != "aten::copy_";
  });
  return !has_module || (facts.practices().trains && !waits);
}

}  // namespace gapscope
