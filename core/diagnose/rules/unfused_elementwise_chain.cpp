#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/diagnose/conditions/autocast.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/fused_optimizer.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time.
constexpr double kLeastChainShare = 0.20;
// Of the chains' time.
constexpr double kMuchOfOptimizer = 0.25, kMostlyOfOptimizer = 0.5;
// From this many times their time on, what is fused with them is named.
constexpr double kMuchMore = 1.05;

// Back-to-back elementwise kernels of several operators on one stream. Anything else on the stream ends a chain.
struct Chains {
  std::int64_t count = 0;
  Ns time = 0, of_optimizer = 0;
  Ns fused = 0;  // what is left of `time` when each chain is one kernel
  std::vector<SliceId> slices;
  std::vector<std::uint32_t> longest;  // positions in facts.ops
  Ns longest_time = 0;
  std::size_t joined = 0;
};

struct OpenChain {
  std::vector<std::uint32_t> ops;
  std::size_t joined = 0;
  WorkOrigin first_owner;
  bool several_owners = false, casts = false;
  Ns time = 0, of_optimizer = 0;
  std::int32_t step = -1;
  Ns longest_of_step = 0;  // its longest kernel
  Ns fused = 0;            // those of the steps before, added up
};

bool is_of_optimizer(const Facts& facts, const GpuOp& op) {
  const SliceId at = facts.ancestor(op.launch, kIsAnnotation);
  return at && facts.trace.name(at).starts_with(kOptimizerStep);
}

// One kernel reads what a chain begins with and writes what it ends with, in each step: two thirds of what its longest does,
// which may read two tensors. At least half is
// left where no step is marked, since a chain may then go through several, and of an optimizer, whose states are read and
// written, too: Adam's moves 7 tensors for the 17 of separate kernels.
// With a cast among them the longest reads or writes 32 bits where the ends of the chain have 16.
Ns left_of(const OpenChain& chain) {
  const Ns unsure = chain.step < 0 ? chain.time : chain.of_optimizer;
  Ns left = chain.fused;
  add_saturating(left, chain.longest_of_step);
  left -= left / 3;
  if (chain.casts) left /= 2;
  return std::max(left, unsure - unsure / 2);
}

void close(const Facts& facts, OpenChain& open, Chains& chains) {
  if (open.several_owners) {
    ++chains.count;
    chains.joined += open.joined;
    add_saturating(chains.time, open.time);
    add_saturating(chains.of_optimizer, open.of_optimizer);
    add_saturating(chains.fused, left_of(open));
    for (const std::uint32_t i : open.ops) chains.slices.push_back(facts.ops[i].slice);
    if (open.time > chains.longest_time) chains.longest_time = open.time, chains.longest = open.ops;
  }
  open = {};
}

void add(OpenChain& open, const Facts& facts, std::uint32_t i, const WorkOrigin& owner) {
  if (open.step != facts.gpu[i].step) {
    add_saturating(open.fused, std::exchange(open.longest_of_step, 0));
    open.step = facts.gpu[i].step;
  }
  if (open.ops.empty()) open.first_owner = owner;
  open.several_owners |= !(owner == open.first_owner);
  open.joined += owner.by.joined;
  open.ops.push_back(i);
  const Ns length = facts.ops[i].span.length();
  add_saturating(open.time, length);
  if (is_of_optimizer(facts, facts.ops[i])) add_saturating(open.of_optimizer, length);
  open.longest_of_step = std::max(open.longest_of_step, length);
}

// What a compiler fuses with elementwise kernels.
bool joins_chains(const Facts& facts, const GpuOp& op) {
  const KernelKind kind = facts.decoded(op).kind;
  return kind == KernelKind::reduction || kind == KernelKind::normalization || kind == KernelKind::softmax;
}

// `wide`: of all that a compiler fuses, autocast's casts, too.
Chains chains_of(const Facts& facts, bool wide) {
  Chains chains;
  CompiledOrigins compiled(facts);
  for (const StreamOps& stream : streams_of(facts.ops)) {
    OpenChain open;
    for (const std::uint32_t i : stream.ops) {
      const GpuOp& op = facts.ops[i];
      const bool fits = op.linked() && (facts.gpu[i].family == RuleFamily::elementwise || (wide && joins_chains(facts, op)));
      const WorkOrigin owner = fits ? origin_of(facts, op) : WorkOrigin{};
      // Autocast's casts of a product's arguments read nothing of each other.
      if (fits && !compiled.hold(owner) && (wide || !product_cast_for(facts, op.launch)))
        add(open, facts, i, owner), open.casts |= wide && may_be_cast(facts, op, owner);
      else
        close(facts, open, chains);
    }
    close(facts, open, chains);
  }
  return chains;
}

EvidenceList owners_of(const Facts& facts, const std::vector<std::uint32_t>& kernels) {
  constexpr std::size_t kMostNamed = 8;
  EvidenceList out;
  for (std::size_t i = 0; i < std::min(kernels.size(), kMostNamed); ++i)
    if (const WorkOrigin owner = origin_of(facts, facts.ops[kernels[i]])) out.emplace_back(owner.name());
  return out;
}

std::vector<Finding> check_unfused_elementwise_chain(const Facts& facts) {
  Chains chains = chains_of(facts, false);
  const double share = share_of(chains.time, facts.gpu_sum);
  if (chains.count == 0 || share < kLeastChainShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = chains.time - chains.fused;
  const auto chain_count = static_cast<std::size_t>(chains.count);
  const std::string kernels = shown_count(chains.longest.size());
  finding.summary = fmt::format(
      "{} of the GPU time ({}) is in {} elementwise kernels{}.", format_share(share), format_duration(chains.time),
      chain_count == 1 ? fmt::format("1 chain of {} back-to-back", kernels)
                       : counted(chain_count, "chain") + " of back-to-back",
      chain_count == 1 ? ""
                       : fmt::format(". The longest takes {} in {} kernels", format_duration(chains.longest_time), kernels));
  if (const double part = share_of(chains.of_optimizer, chains.time);
      part >= kMuchOfOptimizer && program_kind(facts.trace) == ProgramKind::python) {
    finding.summary += fmt::format(" {} of that is the optimizer's.", format_share(part));
    finding.advice = advice_of(
        "Fuse them: {fused_optimizer|fused=True in the optimizer, which updates all parameters in one pass}, {compile}, "
        "{compile_rest}, {|a fused operator}. They run back to back but may be independent: check the operators before "
        "fusing.");
    if (part >= kMostlyOfOptimizer) finding.code = fitted(facts.practices(), fused_optimizer_line(facts));
  }
  if (facts.practices().differentiates_twice) {
    finding.gives = Gives{};
    finding.advice = advice_of(
        "torch.compile cannot fuse these: compiled code has no gradients of gradients. Take the gradients for all inputs in "
        "one "
        "call of torch.autograd.grad, so that fewer of them run.");
  }
  finding.evidence = Evidence({{"chains", chains.count},
                               {"time_us", as_us(chains.time)},
                               {"share", share},
                               {"kernels", chains.slices.size()},
                               {"longest_chain", owners_of(facts, chains.longest)}});
  mark_joined(finding, chains.joined, chains.slices.size());
  mark_slices(finding, facts.trace, chains.slices);
  // What fusing gives is of more than its places.
  const Chains wide = chains_of(facts, true);
  finding.stake = wide.time - wide.fused;
  if (static_cast<double>(wide.time) >= kMuchMore * static_cast<double>(chains.time))
    finding.summary += fmt::format(" With the norms, sums and casts around them, which a compiler fuses, too, {}.",
                                   format_duration(wide.time));
  finding.slices = wide.slices;
  return {std::move(finding)};
}

}  // namespace

extern const Rule unfused_elementwise_chain = {
    .id = "unfused_elementwise_chain",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "Elementwise kernels back to back",
    .meaning =
        "Each of these kernels reads and writes whole tensors and computes little. Most of their time is memory traffic and "
        "launch overhead, which one fused kernel saves.",
    .remedy =
        "Fuse them: {compile}, {compile_rest}, {|a fused operator}. They run back to back but may be independent: check the "
        "operators before fusing.",
    .check = check_unfused_elementwise_chain,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 340},
    .other_remedy = "Fuse them into one kernel. They run back to back but may be independent: check before fusing.",
    .code = kCompileModel,
    .gives = {Cure::at_stake, false, true},
};

}  // namespace gapscope
